package backtest

import (
	"math"
	"slices"
	"sort"
	"sync"

	"botd/exchange"
	"botd/exchange/sim"
	"botd/reconcile/ledger"
)

// measurement measures a run: equity at every close, executions, round trips.
type measurement struct {
	run     *run
	initial exchange.Amount
	futures bool // a leg trades futures
	spot    string
	fills   []fill
	trips   []Trip
	tags    []tag           // of fills and round trips
	insured exchange.Amount // paid by the exchange, and already assigned to round trips

	version uint64          // of the exchange when wallet and holdings were read
	wallet  exchange.Amount // of both markets, USDT
	worth   exchange.Amount // of all holdings, beyond the wallet
	holds   bool            // there are holdings

	equity       exchange.Amount
	drawdowns    drawdowns
	slots        int             // closes seen
	exposed      int             // closes with a position
	days, hours  sampler         // of equity: at UTC midnight, and at full hours where candles end at them
	level        float64         // the equity
	levels       []float64       // scratch of hold
	equities     float64         // summed over the closes
	gross        float64         // position value at the last close valued
	leverage     float64         // of the position, summed over the closes
	filled       exchange.Amount // value of all fills
	curve        []Point         // a sample of the closes, for files
	every        int             // closes from one sample to the next
	nextCurve    int
	liquidations int
	slipped      exchange.Amount // cost of fills beyond the quote
	takerValue   exchange.Amount // value of takers' fills
	load         float64         // the same as shares of the equity at that time, summed
	events       events
}

// recycledRows are the lists of fills and round trips of ended runs that are summaries.
var recycledRows sync.Pool

type rowLists struct {
	fills []fill
	trips []Trip
}

// reuseRows gives recycled lists to a run whose rows are not stored.
func (l *measurement) reuseRows() {
	if had, is := recycledRows.Get().(*rowLists); is {
		l.fills, l.trips = had.fills, had.trips
	}
}

// recycleRows recycles the lists of a run after its summary.
func (l *measurement) recycleRows() {
	recycledRows.Put(&rowLists{l.fills[:0], l.trips[:0]})
	l.fills, l.trips = nil, nil
}

// fill is what a run stores of an execution, and its purpose. There may be many, so it is small, and has no pointers
// that the garbage collector would follow.
type fill struct {
	TimeMS, OrderID int64 // no order: a liquidation
	Price           exchange.Price
	Quantity        exchange.Quantity
	Fee, Slipped    exchange.Amount
	tag, leg        int32
	Side            exchange.Side
	Maker           bool
	InBase          bool // the fee, in the asset bought
}

// feeAsset returns the asset of the fee.
func (f *fill) feeAsset(symbol *exchange.Symbol) string {
	if f.InBase {
		return symbol.Base
	}
	return symbol.Quote
}

// holding is a leg's position, as of the ledger's version.
type holding struct {
	quantity exchange.Quantity // futures, signed
	cost     exchange.Amount   // of the position, signed
	base     exchange.Amount   // spot
	stock    ledger.Stock      // spot: the same position with its cost
	units    float64           // of either market, unsigned
	worth    exchange.Amount   // beyond the wallet, at the last price marked
	gross    float64           // position value at that price
	exposed  bool
	open     trip
	fills    int
	slots    int // closes of its candles with a position
}

// Point is equity at a time.
type Point struct {
	AtMS     int64
	Equity   exchange.Amount
	Leverage float64 // position as a share of equity
}

// maxCurve bounds the stored equity curve. Beyond it, every second point is dropped.
const maxCurve = 200_000

func (l *measurement) begin(r *run) {
	openMS, lastMS, n := int64(never), int64(0), 0
	for i := range r.legs {
		leg := &r.legs[i]
		openMS, lastMS, n = min(openMS, leg.openMS()), max(lastMS, leg.candles.CloseMS(leg.candles.Len()-1)), max(n, leg.candles.Len())
		if leg.symbol.Market == exchange.Spot {
			l.spot = leg.symbol.Quote
		} else {
			l.futures = true
		}
	}
	for _, has := range []bool{l.futures, l.spot != ""} {
		if has {
			l.initial = l.initial.Add(r.config.Cash)
		}
	}
	l.run, l.equity, l.wallet, l.version, l.every = r, l.initial, l.initial, math.MaxUint64, 1
	l.level = l.initial.Float()
	l.drawdowns.low, l.drawdowns.lowest = l.level, l.level
	l.drawdowns.add(openMS, l.level)
	if l.nextCurve = math.MaxInt; r.config.summary() {
		l.reuseRows()
	} else {
		l.nextCurve, l.curve = 0, make([]Point, 0, min(n, maxCurve)+1)
	}
	l.days.begin(exchange.Day1, openMS, lastMS, l.level)
	l.hours.begin(l.hour(openMS, lastMS), openMS, lastMS, l.level)
}

// mark records the equity at a close. Without a position and without a change the equity stays, and there is nothing
// to compute.
func (l *measurement) mark(closeMS int64) {
	before := l.level
	version := l.run.venue.Version()
	if changed := version != l.version; changed || l.holds {
		if l.value(closeMS, changed) {
			l.exposed++
		}
		l.level = l.equity.Float()
		l.drawdowns.add(closeMS, l.level)
	}
	l.pass(closeMS, before)
}

// markCalm records the closes of uneventful candles of the only leg, up to the last one, and moves the leg there.
func (l *measurement) markCalm(leg *leg, last int) {
	if leg.at < last && l.run.venue.Version() != l.version {
		l.mark(leg.closeMS())
		leg.at++
	}
	if l.holds && leg.at < last {
		l.hold(leg, last)
	}
	if leg.at < last {
		l.stay(leg.candles, leg.at, last)
		leg.at = last
	}
}

// stay counts the closes of candles without a position. It equals pass with an unchanged equity.
func (l *measurement) stay(candles *exchange.Candles, from, to int) {
	interval, slots, level, equities, dueMS := int64(candles.Interval), l.slots, l.level, l.equities, min(l.hours.nextMS, l.days.nextMS)
	for _, openMS := range candles.OpenMS[from:to] {
		closeMS := openMS + interval
		slots++
		equities += level
		if closeMS >= dueMS {
			l.hours.add(closeMS, level, level)
			l.days.add(closeMS, level, level)
			dueMS = min(l.hours.nextMS, l.days.nextMS)
		}
		if slots > l.nextCurve {
			l.nextCurve += l.every
			l.point(closeMS)
		}
	}
	l.slots, l.equities = slots, equities
}

// hold values the only leg's position at the closes of its candles up to the last one. It equals value without a
// change, and pass, but takes each figure in a short loop of its own. It omits the last marked price that value stores,
// since nothing reads it meanwhile.
func (l *measurement) hold(leg *leg, last int) {
	h, candles, from := &leg.held, leg.candles, leg.at
	closes := candles.Close[from:last]
	l.levels = leg.levels(l.wallet, closes, l.levels)
	equities, leverage := l.equities, l.leverage
	for i, level := range l.levels {
		if equities += level; level > 0 {
			leverage += leg.grossAt(closes[i]) / level
		}
	}
	l.equities, l.leverage = equities, leverage
	for i, level := range l.levels {
		if !l.drawdowns.unchangedBy(level) {
			l.drawdowns.add(candles.CloseMS(from+i), level)
		}
	}
	l.sample(leg, last)
	for at := l.nextCurve - l.slots; at < last-from; at = l.nextCurve - l.slots {
		l.nextCurve += l.every
		l.at(leg, from+at)
		l.point(candles.CloseMS(from + at))
	}
	l.at(leg, last-1)
	l.slots += last - from
	if leg.at = last; h.exposed {
		l.exposed += last - from
		h.slots += last - from
		h.open.reach(slices.Min(candles.Low[from:last]), slices.Max(candles.High[from:last]))
	}
}

// sample records the equity at those closes of the only leg's candles at which a sample is due, mostly none.
func (l *measurement) sample(leg *leg, last int) {
	from, candles := leg.at, leg.candles
	for candles.CloseMS(last-1) >= min(l.hours.nextMS, l.days.nextMS) {
		dueMS := min(l.hours.nextMS, l.days.nextMS)
		at := sort.Search(last-1-from, func(i int) bool { return candles.CloseMS(from+i) >= dueMS })
		before, closeMS := l.level, candles.CloseMS(from+at)
		if at > 0 {
			before = l.levels[at-1]
		}
		l.hours.add(closeMS, before, l.levels[at])
		l.days.add(closeMS, before, l.levels[at])
	}
}

// at sets the equity at the close of a candle of the only leg.
func (l *measurement) at(leg *leg, candle int) {
	price := leg.candles.Close[candle]
	l.gross, l.equity, l.level = leg.grossAt(price), l.wallet.Add(leg.worthAt(price)), l.levels[candle-leg.at]
}

// levels returns the equity at some prices of the only leg, in a list to reuse.
func (l *leg) levels(wallet exchange.Amount, prices []exchange.Price, reused []float64) []float64 {
	all := slices.Grow(reused[:0], len(prices))[:len(prices)]
	if l.held.quantity == 0 { // spot: a part below one unit has a truncated value
		for i, price := range prices {
			all[i] = wallet.Add(l.worthAt(price)).Float()
		}
		return all
	}
	equity := l.symbol.Valuation(wallet.Sub(l.held.cost), l.held.quantity, slices.Max(prices))
	for i, price := range prices {
		all[i] = equity.At(price).Float()
	}
	return all
}

// pass counts a close. before is the equity before it.
func (l *measurement) pass(closeMS int64, before float64) {
	l.slots++
	l.equities += l.level
	if l.holds { // otherwise zero, and an addition would only cost time
		l.leverage += l.held()
	}
	if closeMS >= l.hours.nextMS {
		l.hours.add(closeMS, before, l.level)
	}
	if closeMS >= l.days.nextMS {
		l.days.add(closeMS, before, l.level)
	}
	if l.slots > l.nextCurve {
		l.nextCurve += l.every
		l.point(closeMS)
	}
}

// held returns the position as a share of the equity.
func (l *measurement) held() float64 {
	if !l.holds || l.level <= 0 {
		return 0
	}
	return l.gross / l.level
}

// point appends a point to the curve, and thins out a curve that is full.
func (l *measurement) point(closeMS int64) {
	if len(l.curve) == maxCurve {
		for i := range maxCurve / 2 {
			l.curve[i] = l.curve[2*i]
		}
		l.curve = l.curve[:maxCurve/2]
		l.every *= 2
	}
	l.curve = append(l.curve, Point{closeMS, l.equity, l.held()})
}

// value values the positions at the prices of the candles that end now, and reports whether there are any.
func (l *measurement) value(closeMS int64, changed bool) (exposed bool) {
	if changed {
		l.version = l.run.venue.Version()
		l.readWallet()
		l.worth, l.holds = exchange.Amount{}, false
	}
	l.gross = 0
	for i := range l.run.legs {
		leg := &l.run.legs[i]
		closes := leg.closeMS() == closeMS
		switch {
		case changed:
			l.read(leg)
			leg.value(l.priceOf(leg, closes))
			l.worth = l.worth.Add(leg.held.worth)
			l.holds = l.holds || leg.held.quantity != 0 || !leg.held.base.IsZero()
		case closes:
			before := leg.held.worth
			leg.value(leg.candles.Close[leg.at])
			l.worth = l.worth.Add(leg.held.worth).Sub(before)
		}
		l.gross += leg.held.gross
		if exposed = exposed || leg.held.exposed; closes && leg.held.exposed {
			leg.held.slots++
			leg.held.open.reach(leg.candles.Low[leg.at], leg.candles.High[leg.at])
		}
	}
	l.equity = l.wallet.Add(l.worth)
	return exposed
}

// priceOf returns a leg's price at the close of another leg's candle.
func (l *measurement) priceOf(leg *leg, closes bool) exchange.Price {
	if closes {
		return leg.candles.Close[leg.at]
	}
	last, _ := leg.seat.Price()
	return last
}

// value values a leg's position at a price.
func (l *leg) value(price exchange.Price) {
	h := &l.held
	h.gross, h.worth = l.grossAt(price), l.worthAt(price)
	h.exposed = h.quantity != 0 || !h.base.IsZero() && l.symbol.QuantityOf(h.base) >= l.symbol.QuantityTick
}

// worthAt returns the value of a leg's position beyond the wallet.
func (l *leg) worthAt(price exchange.Price) exchange.Amount {
	switch h := &l.held; {
	case h.quantity != 0:
		return l.symbol.Notional(price, h.quantity).Sub(h.cost)
	case !h.base.IsZero():
		return worth(l.symbol, h.base, price)
	}
	return exchange.Amount{}
}

// grossAt returns the gross value of a leg's position.
func (l *leg) grossAt(price exchange.Price) float64 {
	return float64(l.held.units * l.symbol.PriceFloat(price))
}

// hour returns the sampling interval for hours. It is 0 in a long run, and for candles longer than an hour.
func (l *measurement) hour(openMS, lastMS int64) exchange.Interval {
	if lastMS-openMS >= shortRun.Milliseconds() {
		return 0
	}
	for i := range l.run.legs {
		if l.run.legs[i].candles.Interval > exchange.Hour1 {
			return 0
		}
	}
	return exchange.Hour1
}

// end adds the last close to the curve unless the sampling included it.
func (l *measurement) end(closeMS int64) {
	if last := len(l.curve) - 1; last >= 0 && l.curve[last].AtMS != closeMS {
		l.curve = append(l.curve, Point{closeMS, l.equity, l.held()})
	}
	l.drawdowns.end(closeMS)
}

// worth returns the exact value of an amount of the base asset at a price.
func worth(symbol *exchange.Symbol, base exchange.Amount, price exchange.Price) exchange.Amount {
	whole := symbol.QuantityOf(base)
	rest := base.Sub(symbol.QuantityAmount(whole))
	if rest.IsZero() {
		return symbol.Notional(price, whole)
	}
	unit := int64(1)
	for range symbol.PriceScale {
		unit *= 10
	}
	return symbol.Notional(price, whole).Add(rest.MulDiv(int64(price), unit))
}

// readWallet reads the wallet from the exchange. It changes only with the exchange's version.
func (l *measurement) readWallet() {
	l.wallet = exchange.Amount{}
	if l.futures {
		l.wallet, _, l.liquidations = l.run.venue.Settled(account)
	}
	if l.spot != "" {
		free, frozen := l.run.venue.Balance(account, l.spot)
		l.wallet = l.wallet.Add(free).Add(frozen)
	}
}

// read reads a leg's position from the exchange.
func (l *measurement) read(leg *leg) {
	h, venue := &leg.held, l.run.venue
	if leg.symbol.Market == exchange.Spot {
		free, frozen := venue.Balance(account, leg.symbol.Base)
		h.base = free.Add(frozen)
		h.units = h.base.Float()
		return
	}
	held := venue.Held(account, leg.symbol.Name)
	if h.quantity, h.cost = held.Quantity, held.Cost; held.Quantity < 0 {
		h.cost = held.Cost.Neg()
	}
	h.units = leg.symbol.QuantityFloat(held.Quantity.Abs())
}

// bookFills books executions.
func (l *measurement) bookFills(fills []sim.Fill) {
	for i := range fills {
		at := 0
		for at < len(l.run.legs)-1 && (l.run.legs[at].key.Name != fills[i].Symbol || l.run.legs[at].key.Market != fills[i].Market) {
			at++
		}
		booked, f := added(&l.fills), &fills[i]
		booked.TimeMS, booked.OrderID, booked.Price, booked.Quantity = f.TimeMS, f.OrderID, f.Price, f.Quantity
		booked.Fee, booked.Slipped, booked.Side, booked.Maker = f.Fee, f.Slipped, f.Side, f.Maker
		booked.leg, booked.tag, booked.InBase = int32(at), l.tagged(l.events.tagOf(f)), f.FeeAsset != l.run.legs[at].symbol.Quote
		l.execution(&l.run.legs[at], booked)
	}
}

// tagged returns the place of a tag in the list of tags. Most tags are among the last few.
func (l *measurement) tagged(of tag) int32 {
	const few = 8
	of.level = 0 // only the end of its order needs it
	last := len(l.tags) - 1
	for i := last; i >= 0 && i > last-few; i-- {
		if l.tags[i] == of {
			return int32(i)
		}
	}
	l.tags = append(l.tags, of)
	return int32(last + 1)
}

// added appends an element to a list, to be set in place. It doubles a full list: append would add a quarter, and so
// copy a long list five times as it grows.
func added[T any](list *[]T) *T {
	n := len(*list)
	if n == cap(*list) {
		*list = slices.Grow(*list, max(n, 64))
	}
	*list = (*list)[:n+1]
	return &(*list)[n]
}
