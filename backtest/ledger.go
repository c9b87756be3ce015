package backtest

import (
	"botd/exchange"
	"botd/exchange/sim"
	"botd/runtime/engine"
)

// Trip is one round trip: from flat to flat, net of fees and funding.
type Trip struct {
	EnteredMS, LeftMS int64
	Side              exchange.Side // of the entry
	Quantity          exchange.Quantity
	Entry, Exit       exchange.Amount // mean prices
	Fees, Funding     exchange.Amount
	PNL               exchange.Amount
}

// ledger measures a run: equity at every close, executions, round trips.
type ledger struct {
	run     *run
	initial exchange.Amount
	fills   []sim.Fill
	trips   []Trip

	version  uint64 // of the exchange when the four below were read
	wallet   exchange.Amount
	cost     exchange.Amount // of the open position, signed; spot: nothing
	quantity exchange.Quantity
	base     exchange.Amount // spot: what is held

	equity      exchange.Amount
	peak        float64
	drawdown    float64 // deepest, as a share of the peak
	drawdownMS  int64
	exposed     int
	daily       []point // at UTC midnight
	curve       []point // a sample of the closes, for files
	every       int
	open        trip
	refusals    int
	liquidation int
}

// point is equity at a time.
type point struct {
	atMS   int64
	equity exchange.Amount
}

// trip is the round trip under way.
type trip struct {
	Trip
	held        exchange.Amount // signed, of the base asset
	bought      exchange.Quantity
	sold        exchange.Quantity
	paid, taken exchange.Amount // value bought, value sold
	funded      exchange.Amount // the account's funding when it began
}

// maxCurve bounds the equity curve kept for files.
const maxCurve = 200_000

func (l *ledger) begin(config *Config, r *run) {
	l.run, l.initial, l.equity = r, config.Cash, config.Cash
	l.peak, l.version = config.Cash.Float(), ^uint64(0)
	l.every = max(1, r.candles.Len()/maxCurve)
	l.daily = append(l.daily, point{r.candles.OpenMS[0], config.Cash})
}

// mark takes the equity at the close of candle i.
func (l *ledger) mark(i int, closes int64) {
	if version := l.run.venue.Version(); version != l.version {
		l.version = version
		l.read()
	}
	l.equity = l.wallet
	price := l.run.candles.Close[i]
	switch {
	case l.quantity != 0:
		l.equity = l.wallet.Add(l.run.symbol.Notional(price, l.quantity)).Sub(l.cost)
		l.exposed++
	case !l.base.IsZero():
		l.equity = l.wallet.Add(worth(l.run.symbol, l.base, price))
		if l.run.symbol.QuantityOf(l.base) >= l.run.symbol.QuantityTick {
			l.exposed++
		}
	}
	equity := l.equity.Float()
	if equity > l.peak {
		l.peak = equity
	} else if fall := (l.peak - equity) / l.peak; fall > l.drawdown {
		l.drawdown, l.drawdownMS = fall, l.run.candles.OpenMS[i]
	}
	if closes%int64(exchange.Day1) == 0 {
		l.daily = append(l.daily, point{closes, l.equity})
	}
	if i%l.every == 0 {
		l.curve = append(l.curve, point{closes, l.equity})
	}
}

// worth is what an amount of the base asset is worth at a price, exactly.
func worth(symbol *exchange.Symbol, base exchange.Amount, price exchange.Price) exchange.Amount {
	whole := symbol.QuantityOf(base)
	rest := base.Sub(symbol.QuantityAmount(whole))
	unit := int64(1)
	for range symbol.PriceScale {
		unit *= 10
	}
	return symbol.Notional(price, whole).Add(rest.MulDiv(int64(price), unit))
}

// read takes wallet and position from the exchange; they change with its version only.
func (l *ledger) read() {
	symbol, venue := l.run.symbol, l.run.venue
	if symbol.Market == exchange.Spot {
		free, frozen := venue.Balance(account, symbol.Quote)
		l.wallet = free.Add(frozen)
		free, frozen = venue.Balance(account, symbol.Base)
		l.base = free.Add(frozen)
		return
	}
	money := venue.Money(account)
	l.wallet, l.quantity, l.cost, l.liquidation = money.Wallet, 0, exchange.Amount{}, money.Liquidations
	if position, open := venue.Position(account, symbol.Name); open {
		_, mark := venue.Price(l.run.key)
		l.quantity = position.Signed()
		l.cost = symbol.Notional(mark, l.quantity).Sub(money.Unrealized)
	}
}

// take books executions.
func (l *ledger) take(fills []sim.Fill) {
	for i := range fills {
		l.fills = append(l.fills, fills[i])
		l.execution(&fills[i])
	}
}

func (l *ledger) execution(fill *sim.Fill) {
	t, symbol := &l.open, l.run.symbol
	if t.bought == 0 && t.sold == 0 {
		*t = trip{funded: l.run.venue.Money(account).Funding}
		t.EnteredMS, t.Side = fill.TimeMS, fill.Side
	}
	notional := symbol.Notional(fill.Price, fill.Quantity)
	fee := fill.Fee
	t.held = t.held.Add(symbol.QuantityAmount(fill.Quantity * exchange.Quantity(fill.Side.Sign())))
	if fill.FeeAsset != symbol.Quote {
		// A fee in the asset bought is worth its price, and the asset is not held.
		t.held = t.held.Sub(fill.Fee)
		fee = worth(symbol, fill.Fee, fill.Price)
	}
	t.Fees = t.Fees.Add(fee)
	if fill.Side == exchange.Buy {
		t.bought, t.paid = t.bought+fill.Quantity, t.paid.Add(notional)
	} else {
		t.sold, t.taken = t.sold+fill.Quantity, t.taken.Add(notional)
	}
	if t.bought != 0 && t.sold != 0 && t.held.Abs().Less(symbol.QuantityAmount(symbol.QuantityTick)) {
		l.closeTrip(fill)
	}
}

func (l *ledger) closeTrip(fill *sim.Fill) {
	t, symbol := &l.open, l.run.symbol
	t.LeftMS, t.Quantity = fill.TimeMS, max(t.bought, t.sold)
	t.Entry, t.Exit = symbol.CostMean(t.paid, t.bought), symbol.CostMean(t.taken, t.sold)
	if t.Side == exchange.Sell {
		t.Entry, t.Exit = t.Exit, t.Entry
	}
	t.Funding = l.run.venue.Money(account).Funding.Sub(t.funded)
	t.PNL = t.taken.Sub(t.paid).Sub(t.Funding)
	if fill.FeeAsset == symbol.Quote && (symbol.Market == exchange.Futures || l.run.config.FeeFromQuote) {
		t.PNL = t.PNL.Sub(t.Fees)
	} else {
		t.PNL = t.PNL.Sub(fill.Fee) // what was taken in the asset bought shows as less sold
	}
	l.trips = append(l.trips, t.Trip)
	l.open = trip{}
}

// count takes what the report counts of the facts.
func (l *ledger) count(note *engine.Note) {
	if note.Kind == engine.NoteRefusal {
		l.refusals++
	}
}
