// Package ledger books money: double entry from the wallets, round trips from the fills.
//
// Every posting sums to zero in each asset. The package neither reads the time nor does I/O;
// postings change the ledger, and each belongs to a journal record.
package ledger

import (
	"cmp"
	"fmt"
	"iter"
	"slices"

	"botd/exchange"
	"botd/reconcile/placement"
)

// Account names an account of the ledger. Assets and costs are positive (wallet, position, paid fees and
// funding), their sources are negative (transfers, realized profit), so every posting sums to zero in
// each asset.
type Account uint8

// The accounts.
const (
	Wallet      Account = iota + 1 // as the exchange reports it; of the whole account
	Holding                        // spot: the position, at its cost
	Exchanged                      // spot: counterpart of base quantities bought and sold
	Realized                       // profit from the price difference only
	Fees                           // paid
	Funding                        // net paid
	Transferred                    // the initial balance, and transfers in and out
	Unexplained                    // wallet changes without an explanation: reported, never absorbed
	accountEnd
)

var accountNames = [accountEnd]string{"", "wallet", "holding", "exchanged", "realised", "fees", "funding", "transferred", "unexplained"}

// String returns the account's name.
func (a Account) String() string {
	if a < accountEnd {
		return accountNames[a]
	}
	return fmt.Sprintf("account(%d)", a)
}

// MarshalText writes the name.
func (a Account) MarshalText() ([]byte, error) { return []byte(a.String()), nil }

// UnmarshalText reads the name.
func (a *Account) UnmarshalText(text []byte) error {
	for i, name := range accountNames {
		if i > 0 && name == string(text) {
			*a = Account(i)
			return nil
		}
	}
	return fmt.Errorf("unknown account %q", text)
}

// Line is one amount of a posting.
type Line struct {
	Account  Account            `json:"account"`
	Strategy string             `json:"strategy,omitempty"` // owner; empty for the account as a whole
	Symbol   exchange.SymbolKey `json:"symbol"`             // its name is empty for the wallet
	Asset    string             `json:"asset"`
	Amount   exchange.Amount    `json:"amount"`
	Derived  bool               `json:"derived,omitempty"` // derived from realizedPNL, entryPrice and the wallet; otherwise as reported by the exchange
}

// Posting is one posting of the ledger: a reading, and the lines that follow from it and from the
// earlier records. Its lines sum to zero in each asset.
type Posting struct {
	Reading Reading `json:"reading"`
	Lines   []Line  `json:"lines"`
}

// Balanced returns the first asset whose lines do not sum to zero, and the sum; nothing and zero if all do.
func (e *Posting) Balanced() (asset string, sum exchange.Amount) {
	for _, line := range e.Lines {
		sum = exchange.Amount{}
		for _, other := range e.Lines {
			if other.Asset == line.Asset {
				sum = sum.Add(other.Amount)
			}
		}
		if !sum.IsZero() {
			return line.Asset, sum
		}
	}
	return "", exchange.Amount{}
}

// Reading is the exchange's report about one market's money. Quantities are amounts, so that a
// reading can be understood without the symbols' scales.
type Reading struct {
	AtMS        int64           `json:"at_ms"`
	Market      exchange.Market `json:"market"`
	Wallet      []Asset         `json:"wallet"`
	Open        []Position      `json:"open,omitempty"`        // futures positions
	Closed      []Position      `json:"closed,omitempty"`      // ended since the last reading
	Trades      []Trade         `json:"trades,omitempty"`      // spot: the account's own
	Instruments []Instrument    `json:"instruments,omitempty"` // new or changed since the last reading

	Unstable bool `json:"unstable,omitempty"` // the reading was not confirmed as consistent
	Partial  bool `json:"partial,omitempty"`  // the exchange did not report everything that filled or ended meanwhile
}

// Same reports whether two readings have the same wallet and the same open positions.
func (r *Reading) Same(other *Reading) bool {
	return slices.Equal(r.Wallet, other.Wallet) && slices.Equal(r.Open, other.Open)
}

// Asset is a wallet's balance of an asset.
type Asset struct {
	Name   string          `json:"name"`
	Amount exchange.Amount `json:"amount"`
}

// Position is a futures position as read.
type Position struct {
	ID         int64           `json:"id"`
	Symbol     string          `json:"symbol"`
	Short      bool            `json:"short,omitempty"`
	Opened     exchange.Amount `json:"opened"`
	Remaining  exchange.Amount `json:"remaining,omitzero"`
	EntryPrice exchange.Amount `json:"entry"`
	Close      exchange.Amount `json:"close,omitzero"`
	Realized   exchange.Amount `json:"realised,omitzero"`
	Liquidated bool            `json:"liquidated,omitempty"`
	FromMS     int64           `json:"from_ms,omitempty"`  // time of opening, in seconds precision
	UntilMS    int64           `json:"until_ms,omitempty"` // of an ended position: time of the last change
}

// Trade is one execution of a spot order as reported by the exchange.
type Trade struct {
	ID       int64           `json:"id"`
	OrderID  int64           `json:"order_id"`
	Price    exchange.Amount `json:"price"`
	Quantity exchange.Amount `json:"quantity"`
	Fee      exchange.Amount `json:"fee,omitzero"`
	FeeAsset string          `json:"fee_asset,omitempty"`
}

// Instrument holds the parts of a symbol's rules that the ledger needs.
type Instrument struct {
	Symbol       exchange.SymbolKey `json:"symbol"`
	Base         string             `json:"base"`
	Quote        string             `json:"quote"`
	Unit         exchange.Amount    `json:"unit"`          // of an exchange.Quantity
	Grid         exchange.Amount    `json:"grid"`          // every execution's value is a multiple of it
	Step         exchange.Amount    `json:"step,omitzero"` // minimum tradable quantity; zero in older journals
	FundingCap   exchange.Rate      `json:"funding_cap,omitempty"`
	FundingHours int                `json:"funding_hours,omitempty"`
}

// InstrumentOf returns the instrument of a symbol.
func InstrumentOf(s *exchange.Symbol) Instrument {
	return Instrument{
		Symbol:       s.Key(),
		Base:         s.Base,
		Quote:        s.Quote,
		Unit:         s.QuantityAmount(1),
		Grid:         s.Notional(1, s.QuantityTick),
		Step:         s.QuantityAmount(s.QuantityTick),
		FundingCap:   max(s.FundingCap, -s.FundingFloor),
		FundingHours: s.FundingIntervalHours,
	}
}

// smallestAmount returns the minimum tradable quantity.
func (t *Instrument) smallestAmount() exchange.Amount { return t.Step.Max(t.Unit) }

// Balance is the balance of one account of the ledger.
type Balance struct {
	Account  Account            `json:"account"`
	Strategy string             `json:"strategy,omitempty"`
	Symbol   exchange.SymbolKey `json:"symbol"`
	Asset    string             `json:"asset"`
	Amount   exchange.Amount    `json:"amount"`
	Derived  bool               `json:"derived,omitempty"` // some of it is derived
}

func (b *Balance) compare(l *Line) int {
	return cmp.Or(cmp.Compare(b.Strategy, l.Strategy), b.Symbol.Compare(l.Symbol), cmp.Compare(b.Account, l.Account), cmp.Compare(b.Asset, l.Asset))
}

// Moved is the quantity that a strategy bought and sold of a symbol, exact from the fills.
type Moved struct {
	Strategy string
	Symbol   exchange.SymbolKey
	Bought   exchange.Quantity
	Sold     exchange.Quantity
}

// maxClosed bounds the remembered ended positions, so that each is booked once, however often the
// exchange reports it.
const maxClosed = 1_000

// Ledger is one account's money and quantities, in double entry. Like the account's state that contains
// it, it changes only by records.
type Ledger struct {
	balances    []Balance    // sorted by strategy, symbol, account, asset
	moved       []Moved      // sorted by strategy, symbol
	instruments []Instrument // sorted by symbol
	owners      []owner      // sorted by symbol
	pending     []pending    // spot orders whose executions are not all booked, oldest first
	futures     progress
	spot        progress
	positions   []Position // open at the last reading, sorted by id
	closed      []int64    // ids of the booked ended positions, oldest first, at most maxClosed
	costs       []cost     // spot: current positions, sorted by symbol
	unexplained []openItem // changes that no transfer explains yet, oldest first
	declared    []openItem // transfers that no wallet has shown yet, oldest first
	taker       exchange.Rate
	maker       exchange.Rate
}

// progress is the state of one market's booking.
type progress struct {
	opened   bool  // the wallet was taken over
	traded   bool  // something filled since the last reading
	unstable bool  // the last reading was not confirmed as consistent
	openedMS int64 // time at which the wallet was taken over
	atMS     int64 // of the last reading
}

// owner is the strategy that last traded a symbol.
type owner struct {
	symbol   exchange.SymbolKey
	strategy string
	fundedMS int64 // time of the last booked funding
	takes    bool  // futures: taker orders have filled since the last reading
	rests    bool  // futures: orders that may rest have filled
}

// pending is the unbooked fill of one spot placement.
type pending struct {
	clientOrderID string
	orderID       int64
	strategy      string
	symbol        exchange.SymbolKey
	buy           bool
	before        exchange.Quantity // filled before the wallet was taken over, and included in it
	quantity      exchange.Quantity // filled, not booked
	trades        []int64           // already booked
	final         bool              // no more can fill
}

// New returns an empty ledger and its writer.
func New() (*Ledger, Writer) {
	l := &Ledger{taker: usualTaker, maker: usualMaker}
	return l, Writer{l}
}

// Writer changes a ledger. Only the state that applies the journal's records has it.
type Writer struct{ l *Ledger }

// Fill books an order's new fill. Each fill must be passed once.
func (w Writer) Fill(o *Order, grown exchange.Quantity) { w.l.fill(o, grown) }

// End records that an order can no longer fill.
func (w Writer) End(clientOrderID string, orderID int64) { w.l.end(clientOrderID, orderID) }

// Post books a posting: its lines, and the market's progress.
func (w Writer) Post(p *Posting) { w.l.post(p) }

// Declare books a transfer that a person declares.
func (w Writer) Declare(t *Transfer, atMS int64) { w.l.declare(t, atMS) }

// Balances yields every account, sorted by strategy, symbol, account and asset.
func (l *Ledger) Balances() iter.Seq[Balance] { return slices.Values(l.balances) }

// Quantities yields the quantities bought and sold by every strategy, sorted by strategy and
// symbol.
func (l *Ledger) Quantities() iter.Seq[Moved] { return slices.Values(l.moved) }

// Sum returns the sum of one account of a strategy in an asset, over all symbols.
func (l *Ledger) Sum(account Account, strategy, asset string) (sum exchange.Amount) {
	for i := range l.balances {
		if b := &l.balances[i]; b.Account == account && b.Strategy == strategy && b.Asset == asset {
			sum = sum.Add(b.Amount)
		}
	}
	return sum
}

// Unexplained returns the wallet changes without an explanation, by market and asset. Declared transfers
// that no wallet has shown yet do not count.
func (l *Ledger) Unexplained() (all []Balance) {
	for i := range l.balances {
		b := l.balances[i]
		if b.Account != Unexplained {
			continue
		}
		if b.Amount = b.Amount.Sub(l.Declared(b.Symbol.Market, b.Asset)); !b.Amount.IsZero() {
			all = append(all, b)
		}
	}
	return all
}

func (l *Ledger) progress(market exchange.Market) *progress {
	if market == exchange.Spot {
		return &l.spot
	}
	return &l.futures
}

// wallet returns the ledger's balance of a wallet.
func (l *Ledger) wallet(market exchange.Market, asset string) exchange.Amount {
	line := Line{Account: Wallet, Symbol: exchange.SymbolKey{Market: market}, Asset: asset}
	i, found := slices.BinarySearchFunc(l.balances, &line, func(b Balance, l *Line) int { return b.compare(l) })
	if !found {
		return exchange.Amount{}
	}
	return l.balances[i].Amount
}

// Instrument returns a symbol's instrument, or false if no booked reading contained it.
func (l *Ledger) Instrument(key exchange.SymbolKey) (Instrument, bool) {
	i, found := slices.BinarySearchFunc(l.instruments, key, func(t Instrument, k exchange.SymbolKey) int { return t.Symbol.Compare(k) })
	if !found {
		return Instrument{}, false
	}
	return l.instruments[i], true
}

func (l *Ledger) learn(instrument Instrument) {
	i, found := slices.BinarySearchFunc(l.instruments, instrument.Symbol, func(t Instrument, k exchange.SymbolKey) int { return t.Symbol.Compare(k) })
	if !found {
		l.instruments = slices.Insert(l.instruments, i, instrument)
	}
	l.instruments[i] = instrument
}

// owner returns a symbol's owner, which is added if it is new. The pointer is valid until the next addition.
func (l *Ledger) owner(key exchange.SymbolKey) *owner {
	i, found := slices.BinarySearchFunc(l.owners, key, func(o owner, k exchange.SymbolKey) int { return o.symbol.Compare(k) })
	if !found {
		l.owners = slices.Insert(l.owners, i, owner{symbol: key})
	}
	return &l.owners[i]
}

// Awaits reports whether part of botd's trading on a symbol is not booked yet: on spot, an order has
// unbooked executions; on futures, an order has filled since the last reading, or that reading showed a
// position.
func (l *Ledger) Awaits(key exchange.SymbolKey) bool {
	if key.Market == exchange.Spot {
		return slices.ContainsFunc(l.pending, func(p pending) bool { return p.symbol == key && !p.settled() })
	}
	return slices.ContainsFunc(l.owners, func(o owner) bool {
		return o.symbol == key &&
			(o.takes || o.rests || o.strategy != "" && slices.ContainsFunc(l.positions, func(g Position) bool { return g.Symbol == key.Name }))
	})
}

// Order is the part of one of botd's orders that concerns money.
type Order struct {
	ClientOrderID string
	OrderID       int64 // the exchange's id; 0 while unknown
	Strategy      string
	Purpose       placement.Purpose
	Symbol        exchange.SymbolKey
	Side          exchange.Side
	Rests         bool              // it may rest in the order book and pay the maker fee
	Filled        exchange.Quantity // cumulative
}

func (l *Ledger) fill(o *Order, grown exchange.Quantity) {
	owner := l.owner(o.Symbol)
	owner.strategy = o.Strategy
	l.move(o.Strategy, o.Symbol, o.Side, grown)
	progress := l.progress(o.Symbol.Market)
	progress.traded = true
	switch {
	case o.Symbol.Market == exchange.Futures && o.Rests:
		owner.rests = true
	case o.Symbol.Market == exchange.Futures:
		owner.takes = true
	case progress.opened:
		l.storePending(o, grown)
	}
}

// move adds a quantity bought or sold by a strategy.
func (l *Ledger) move(strategy string, key exchange.SymbolKey, side exchange.Side, grown exchange.Quantity) {
	i, found := slices.BinarySearchFunc(l.moved, &Moved{Strategy: strategy, Symbol: key}, func(a Moved, b *Moved) int {
		return cmp.Or(cmp.Compare(a.Strategy, b.Strategy), a.Symbol.Compare(b.Symbol))
	})
	if !found {
		l.moved = slices.Insert(l.moved, i, Moved{Strategy: strategy, Symbol: key})
	}
	if side == exchange.Buy {
		l.moved[i].Bought += grown
	} else {
		l.moved[i].Sold += grown
	}
}

// Opened reports whether a market's wallet has been taken over.
func (l *Ledger) Opened(market exchange.Market) bool { return l.progress(market).opened }

// Untouched reports whether a market's wallet has not been taken over and nothing has been traded
// there.
func (l *Ledger) Untouched(market exchange.Market) bool {
	return !l.Opened(market) && !l.progress(market).traded
}

// Booked reports whether an ended position has been booked.
func (l *Ledger) Booked(id int64) bool { return slices.Contains(l.closed, id) }

// Due reports whether a reading must be booked: it shows something new, or executions are not booked yet.
func (l *Ledger) Due(r *Reading) bool {
	progress := l.progress(r.Market)
	if !progress.opened || progress.traded && r.Market == exchange.Futures ||
		r.Market == exchange.Spot && slices.ContainsFunc(l.pending, func(p pending) bool { return !p.settled() }) {
		return true
	}
	for _, a := range r.Wallet {
		if a.Amount != l.wallet(r.Market, a.Name) || r.Market == exchange.Spot && !l.tracksAsset(a.Name) {
			return true
		}
	}
	return r.Market == exchange.Futures && !slices.Equal(l.positions, r.Open)
}

// Lines returns the bookings of a reading, given all earlier records. It changes nothing.
func (l *Ledger) Lines(r *Reading) []Line {
	if !l.progress(r.Market).opened {
		return opening(r)
	}
	if r.Market == exchange.Spot {
		return l.spotLines(r)
	}
	return l.futuresLines(r)
}

// Plausible reports whether an unstable reading can be consistent: all of it is explained, and on
// futures by fees close to the usual ones, with no funding due.
func (l *Ledger) Plausible(r *Reading, lines []Line) bool {
	if slices.ContainsFunc(lines, func(l Line) bool { return l.Account == Unexplained }) {
		return false
	}
	return r.Market == exchange.Spot || !l.futures.opened || l.nearExpectedFees(r)
}

// opening returns the lines that take over the existing balances.
func opening(r *Reading) (lines []Line) {
	for _, a := range r.Wallet {
		lines = transfer(lines, r.Market, a, Transferred)
	}
	return lines
}

// transfer adds a wallet change and its counterpart.
func transfer(lines []Line, market exchange.Market, a Asset, from Account) []Line {
	if a.Amount.IsZero() {
		return lines
	}
	key := exchange.SymbolKey{Market: market}
	return append(
		lines,
		Line{Account: Wallet, Symbol: key, Asset: a.Name, Amount: a.Amount},
		Line{Account: from, Symbol: key, Asset: a.Name, Amount: a.Amount.Neg()},
	)
}

func (l *Ledger) post(posting *Posting) {
	r := &posting.Reading
	for _, instrument := range r.Instruments {
		l.learn(instrument)
	}
	follows := l.fundingMayFollow(r)
	if r.Market == exchange.Spot {
		l.bookSpot(r)
	} else {
		l.bookFutures(r)
	}
	l.await(posting)
	for i := range posting.Lines {
		l.add(&posting.Lines[i])
		if posting.Lines[i].Account == Funding && !follows {
			l.owner(posting.Lines[i].Symbol).fundedMS = r.AtMS
		}
	}
	before := l.progress(r.Market)
	*before = progress{opened: true, unstable: r.Unstable, openedMS: cmp.Or(before.openedMS, r.AtMS), atMS: r.AtMS}
}

func (l *Ledger) add(line *Line) {
	i, found := slices.BinarySearchFunc(l.balances, line, func(b Balance, l *Line) int { return b.compare(l) })
	if !found {
		l.balances = slices.Insert(l.balances, i, Balance{Account: line.Account, Strategy: line.Strategy, Symbol: line.Symbol, Asset: line.Asset})
	}
	l.balances[i].Amount = l.balances[i].Amount.Add(line.Amount)
	l.balances[i].Derived = l.balances[i].Derived || line.Derived
}
