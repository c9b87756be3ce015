package ledger

import (
	"slices"

	"botd/exchange"
)

// Transfer is money that moved into a wallet from outside or, if negative, out of it. A person
// declares it, because the ledger cannot identify it by itself.
type Transfer struct {
	Market exchange.Market `json:"market"`
	Asset  string          `json:"asset"`
	Amount exchange.Amount `json:"amount"`
	Note   string          `json:"note,omitempty"`
}

// Lines returns the bookings of a transfer, which explain unexplained changes.
func (t *Transfer) Lines() []Line {
	key := exchange.SymbolKey{Market: t.Market}
	return []Line{
		{Account: Transferred, Symbol: key, Asset: t.Asset, Amount: t.Amount.Neg()},
		{Account: Unexplained, Symbol: key, Asset: t.Asset, Amount: t.Amount},
	}
}

// maxOpenItems bounds the remembered unexplained changes and declarations, each.
const maxOpenItems = 256

// openItem is an unexplained wallet change, or a declared transfer that no wallet has shown yet.
type openItem struct {
	market exchange.Market
	asset  string
	amount exchange.Amount // positive into the wallet, negative out of it
	atMS   int64           // time of the reading with the change, or of the declaration
}

// Matched is a part of a transfer with a matching wallet change.
type Matched struct {
	Amount exchange.Amount
	AtMS   int64 // time at which the wallet showed it
}

// Match returns the unexplained changes that declaring a transfer would explain, newest first. It changes
// nothing.
func (l *Ledger) Match(t *Transfer) (matched []Matched) {
	_, rest := consume(slices.Clone(l.declared), t.Market, t.Asset, t.Amount, nil)
	consume(slices.Clone(l.unexplained), t.Market, t.Asset, rest.Neg(), func(m Matched) { matched = append(matched, m) })
	return matched
}

// consume offsets an amount against a wallet's items of the other sign, newest first. It returns the
// remaining items and the rest of the amount. The items' array is reused.
func consume(items []openItem, market exchange.Market, asset string, amount exchange.Amount, each func(Matched)) ([]openItem, exchange.Amount) {
	for i := len(items) - 1; i >= 0 && !amount.IsZero(); i-- {
		item := &items[i]
		if item.market != market || item.asset != asset || item.amount.Sign() != -amount.Sign() {
			continue
		}
		part := item.amount
		if amount.Abs().Less(part.Abs()) {
			part = amount.Neg()
		}
		item.amount, amount = item.amount.Sub(part), amount.Add(part)
		if each != nil {
			each(Matched{part, item.atMS})
		}
	}
	return slices.DeleteFunc(items, func(o openItem) bool { return o.amount.IsZero() }), amount
}

func remember(items []openItem, item openItem) []openItem {
	if items = append(items, item); len(items) > maxOpenItems {
		items = slices.Delete(items, 0, 1)
	}
	return items
}

// declare books a transfer: it cancels earlier declarations of the other sign, then explains unexplained
// changes, and stores the rest until the wallet shows it.
func (l *Ledger) declare(t *Transfer, atMS int64) {
	for _, line := range t.Lines() {
		l.add(&line)
	}
	rest := t.Amount
	l.declared, rest = consume(l.declared, t.Market, t.Asset, rest, nil)
	l.unexplained, rest = consume(l.unexplained, t.Market, t.Asset, rest.Neg(), nil)
	if rest = rest.Neg(); !rest.IsZero() {
		l.declared = remember(l.declared, openItem{t.Market, t.Asset, rest, atMS})
	}
}

// Declared returns the sum of an asset's declarations that no wallet has shown yet.
func (l *Ledger) Declared(market exchange.Market, asset string) (sum exchange.Amount) {
	for i := range l.declared {
		if o := &l.declared[i]; o.market == market && o.asset == asset {
			sum = sum.Add(o.amount)
		}
	}
	return sum
}

// expected returns the part of a wallet change that was declared in advance.
func (l *Ledger) expected(market exchange.Market, asset string, change exchange.Amount) exchange.Amount {
	declared := l.Declared(market, asset)
	if declared.Sign() != change.Sign() {
		return exchange.Amount{}
	}
	if declared.Abs().Less(change.Abs()) {
		return declared
	}
	return change
}

// outside books a wallet change without a trade: the part declared in advance is explained by its
// declaration, and the rest is an external transfer.
func (l *Ledger) outside(lines []Line, market exchange.Market, asset string, rest exchange.Amount) []Line {
	key := exchange.SymbolKey{Market: market}
	declared := l.expected(market, asset, rest.Neg()).Neg()
	if !declared.IsZero() {
		lines = append(lines, Line{Account: Unexplained, Symbol: key, Asset: asset, Amount: declared})
	}
	if rest = rest.Sub(declared); !rest.IsZero() {
		lines = append(lines, Line{Account: Transferred, Symbol: key, Asset: asset, Amount: rest})
	}
	return lines
}

// Flow returns the external transfers of an asset in the lines of a reading, positive into a market's
// wallet: those that the ledger recognized, and those declared in advance.
func (l *Ledger) Flow(lines []Line, market exchange.Market, asset string) exchange.Amount {
	return External(lines, asset).Add(l.expected(market, asset, unexplained(lines, asset)))
}

// Left returns the changes that the lines of a reading leave unexplained, except those declared in
// advance.
func (l *Ledger) Left(lines []Line, market exchange.Market) (left []Asset) {
	for i := range lines {
		if line := &lines[i]; line.Account == Unexplained {
			change := line.Amount.Neg()
			if change = change.Sub(l.expected(market, line.Asset, change)); !change.IsZero() {
				left = append(left, Asset{line.Asset, change})
			}
		}
	}
	return left
}

// Holds reports whether the ledger tracks an asset of a market's wallet.
func (l *Ledger) Holds(market exchange.Market, asset string) bool {
	return market == exchange.Futures && asset == FuturesAsset || market == exchange.Spot && l.tracksAsset(asset)
}

// unexplained returns the wallet change that the lines leave unexplained.
func unexplained(lines []Line, asset string) (sum exchange.Amount) {
	for i := range lines {
		if line := &lines[i]; line.Account == Unexplained && line.Asset == asset {
			sum = sum.Sub(line.Amount)
		}
	}
	return sum
}

// await records the changes that a posting leaves unexplained, except those declared in advance.
func (l *Ledger) await(posting *Posting) {
	for i := range posting.Lines {
		line := &posting.Lines[i]
		if line.Account != Unexplained {
			continue
		}
		change := line.Amount.Neg()
		if part := l.expected(posting.Reading.Market, line.Asset, change); !part.IsZero() {
			l.declared, _ = consume(l.declared, posting.Reading.Market, line.Asset, part.Neg(), nil)
			change = change.Sub(part)
		}
		l.unexplained, change = consume(l.unexplained, posting.Reading.Market, line.Asset, change, nil)
		if !change.IsZero() {
			l.unexplained = remember(l.unexplained, openItem{posting.Reading.Market, line.Asset, change, posting.Reading.AtMS})
		}
	}
}
