package reconcile

import (
	"slices"

	"botd/exchange"
	"botd/reconcile/record"
)

// On spot the wallet is the list that may be wrong. That it holds less of an asset than
// botd's own fills explain is witnessed by sales in the order history that no placement
// claims. That it holds more may be an order which the exchange refused, or was sent once,
// and executed all the same: the order history is asked for that too.

const spotContradiction = "the wallet holds less than botd's own fills explain, and the order history shows no sale that botd did not make"

// spotTestimony is what was observed of a spot symbol's asset besides the wallet's newest
// answer.
type spotTestimony struct {
	squaredMS int64             // when wallet and fills last agreed
	sales     []sale            // by others, that were taken as the reason of an earlier difference
	extra     persistence       // the wallet holds more, worth an order
	extraOf   exchange.Quantity // how much more
	freed     []release         // what own orders held until they were canceled, oldest first
	differs   exchange.Quantity // by how much the newest wallet differs from what fills explain, where that is worth an order
	asked     int               // how many rounds have asked the order history about it
	presumed  exchange.Quantity // what a purchase that no list shows has bought, as far as the wallet shows it, without what is booked
	undecided exchange.Quantity // the same as far as a wallet has shown it since: one that shows less is no witness that it has gone
	others    []exchange.Order  // purchases that no placement claims, as histories showed
	early     bool              // the newest wallet proves nothing: it may be older than the last fill, or an order is unknown
	takenMS   int64             // when the exchange last refused to cancel a stop
	overdrawn bool              // the exchange refused a stop of more than the wallet shows

	soldUnknown exchange.Quantity // what orders under this instance's prefix that no placement claims have sold, as the order history shows

	twinOrders []twinOrder       // orders of another botd under this prefix that filled, oldest first
	twinSold   exchange.Quantity // what own sales have sold of that
	resolvedID int64             // up to this order a person has decided about them
	excess     exchange.Quantity // how much more own stops and those of another botd sell than is held
	excessMS   int64             // since when; 0 while they do not
	inWallet   exchange.Quantity // as it was last read
}

// sale is how much an order that no placement claims has sold.
type sale struct {
	orderID int64
	filled  exchange.Quantity
}

// mostSales bounds how many of them are remembered.
const mostSales = 64

// AwaitsFreshWallet reports whether the wallet of a spot symbol proves nothing yet, since it may be older
// than the last fill. Of the time between two snapshots little counts, so the next one must be
// soon: else a wallet that lies is not contradicted for minutes.
func (b *Book) AwaitsFreshWallet(symbol *SymbolState) bool {
	return b.Settle().StalenessMS > 0 && symbol.Key().Market == exchange.Spot && symbol.spot.early && symbol.Known() != 0
}

// mostAsked bounds in how many rounds the order history is asked about a difference from
// which nothing is concluded yet.
const mostAsked = 10

// noteDiffers notes that a wallet differs from what the fills explain, however old it may
// be: what the order history shows of it is evidence by itself, and a stop is due at once.
func (s *survey) noteDiffers(symbol *SymbolState) {
	t := &symbol.spot
	switch by := s.book.walletDiffers(symbol); {
	case by == 0:
		t.differs, t.asked = 0, 0
	case by != t.differs:
		t.differs, t.asked = by, 0
	default:
		t.asked++
	}
}

// walletDiffers returns by how much the newest wallet holds more of a spot symbol than what fills explain; 0 where that is not worth an
// order, and where botd neither holds any of it nor may have bought some.
func (b *Book) walletDiffers(symbol *SymbolState) exchange.Quantity {
	unconcerned := symbol.Known() == 0 && !b.liveOn(symbol.Key()) && !b.mayHaveBought(symbol)
	if symbol.Rules == nil || symbol.Last <= 0 || unconcerned {
		return 0
	}
	by := b.inWallet(symbol) - symbol.Baseline() - symbol.Known() + symbol.Fees()
	if symbol.Rules.Notional(symbol.Last, abs(by)).Less(symbol.Rules.MinNotional) {
		return 0
	}
	return by
}

// WalletAhead reports whether the wallet shows what an order on spot has filled before a list does: its money without its coins, or the
// other way round, is neither a loss nor a gain. It is so until the order history has been asked about it often enough.
func (b *Book) WalletAhead(symbol *SymbolState) bool {
	if symbol.Key().Market != exchange.Spot {
		return false
	}
	by := b.walletDiffers(symbol)
	return by != 0 && (by != symbol.spot.differs || symbol.Suspect())
}

// mayHaveBought reports whether a purchase that was refused may have been executed, and no
// list may show it yet.
func (b *Book) mayHaveBought(symbol *SymbolState) bool {
	settle := b.Settle()
	return b.observedMS < symbol.RefusedUntilMS(&settle)
}

// NeedsOrderHistory reports whether the order history of a spot symbol must be read to learn why
// the wallet does not agree with the fills, and from when on.
func (b *Book) NeedsOrderHistory(symbol *SymbolState) (sinceMS int64, ask bool) {
	if symbol.Key().Market != exchange.Spot || symbol.misses.sinceMS == 0 && symbol.spot.extra.sinceMS == 0 && !symbol.Suspect() {
		return 0, false
	}
	return max(0, b.salesFrom(symbol)-60_000), true
}

// Suspect reports whether the wallet of a spot symbol differs from what the fills explain, and the order history, which may show why, has not
// been read often enough since.
func (s *SymbolState) Suspect() bool { return s.spot.differs != 0 && s.spot.asked < mostAsked }

// salesFrom is since when a sale may be the reason of a difference.
func (b *Book) salesFrom(symbol *SymbolState) int64 {
	if symbol.spot.squaredMS == 0 { // not since the start
		return symbol.ChangedMS()
	}
	return symbol.spot.squaredMS - b.Settle().StalenessMS - createdSlackMS
}

// salesOfOthers returns what orders that no placement claims have sold since wallet and
// fills last agreed.
func (e *evidence) salesOfOthers(symbol *SymbolState) (sales []sale, sum exchange.Quantity) {
	from := e.book.salesFrom(symbol)
	for _, list := range [...]exchange.Fetched[exchange.Order]{e.fetched.SpotOrders, e.fetched.History} {
		if !list.Done() {
			continue
		}
		for i := range list.Items() {
			o := &list.Items()[i]
			counted := slices.ContainsFunc(sales, func(one sale) bool { return one.orderID == o.ID })
			if o.Key() == symbol.Key() && o.Side == exchange.Sell && o.Filled > 0 && o.CreatedMS >= from && !counted && !e.claimed(o) {
				sales = append(sales, sale{o.ID, o.Filled})
			}
		}
	}
	for _, one := range sales {
		sum += one.filled
		for _, before := range symbol.spot.sales {
			if before.orderID == one.orderID {
				sum -= before.filled
			}
		}
	}
	return sales, sum
}

// noteSoldUnknown takes what the order history shows of sales by orders under this instance's prefix that no placement claims:
// the journal is older than they are.
func (s *survey) noteSoldUnknown(symbol *SymbolState) {
	rows := s.fetched.Newest
	if s.fetched.History.Done() {
		rows = slices.Concat(rows, s.fetched.History.Items())
	}
	var counted []int64
	sum := exchange.Quantity(0)
	for i := range rows {
		o := &rows[i]
		if o.Key() == symbol.Key() && o.Side == exchange.Sell && s.book.prefixed(o.ClientOrderID) && !slices.Contains(counted, o.ID) && !s.claimed(o) {
			counted, sum = append(counted, o.ID), sum+o.Filled
		}
	}
	symbol.spot.soldUnknown = max(symbol.spot.soldUnknown, sum)
}

// decideShortWallet decides a wallet that holds less than the fills explain: by a witness what it
// means goes by policy, without one the wallet is contradicted.
func (s *survey) decideShortWallet(symbol *SymbolState, short exchange.Quantity) {
	if s.book.StandsDown() { // the journal misses orders, the sale may be one of them
		symbol.short = -short
	}
	switch sales, sold := s.salesOfOthers(symbol); {
	case sold >= short:
		all := append(symbol.spot.sales, sales...)
		symbol.spot.sales = slices.Clone(all[max(0, len(all)-mostSales):])
		symbol.misses.reset()
		symbol.declare("", 0)
		s.decideMissing(symbol, short)
	case symbol.Quarantine() != "":
		symbol.short = -short
	case symbol.Contradicted != "" || symbol.misses.exceeds(s.book.Settle().StalenessMS):
		symbol.short = -short // no more is sold than the wallet shows
		symbol.declare(spotContradiction, s.fetched.EndedMS)
	}
}

// noteAgreed takes that wallet and fills agree.
func (s *SymbolState) noteAgreed(atMS int64) {
	s.spot.squaredMS, s.short, s.spot.overdrawn = atMS, 0, false
	s.declare("", 0)
}

// awaitsHistory reports whether the wallet holds more than the fills explain, worth an order, and
// whether to wait for what the order history says of it.
func (s *survey) awaitsHistory(symbol *SymbolState, more exchange.Quantity) (wait bool) {
	t := &symbol.spot
	settle := s.book.Settle()
	if more <= 0 || settle.StalenessMS == 0 || symbol.Last <= 0 || symbol.Rules.Notional(symbol.Last, more).Less(symbol.Rules.MinNotional) {
		t.extra, t.extraOf = persistence{}, 0
		return false
	}
	if more == t.extraOf && t.extra.sinceMS == 0 {
		return false // asked already: it is foreign
	}
	if more != t.extraOf {
		t.extra.reset()
	}
	t.extraOf = more
	if t.extra.extend(s.fetched); t.extra.exceeds(max(settle.StalenessMS, stableGapMS)) {
		t.extra.reset()
		return false
	}
	return true
}

// observeExtra takes an order of the history under an id of botd's that no placement
// claims, or whose placement was refused: the exchange executed what it refused, or
// executed twice. What it filled is botd's, protected and bounded as such, and a person
// looks.
func (s *survey) observeExtra(order *exchange.Order) {
	order = s.named(order)
	e, ended := s.book.Ended(order.ClientOrderID)
	live := s.book.Placement(order.ClientOrderID)
	claimed := ended && e.OrderID == order.ID || live != nil && (live.OrderID() == 0 || live.OrderID() == order.ID)
	if order.ClientOrderID == "" || order.Filled == 0 || claimed || !ended && live == nil || s.leftToMaker(order) {
		return
	}
	if _, _, known := s.book.EndedAs(order.Key(), order.ID); known || s.book.Placement(duplicateID(order)) != nil || s.book.Known(duplicateID(order)) {
		return
	}
	s.observeDuplicate(order)
	s.quarantineFor(s.book.Symbol(order.Key()), record.ExecutedBeyond,
		"the exchange executed "+order.ClientOrderID+" beyond what it answered: order "+duplicateID(order))
}
