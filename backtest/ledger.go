package backtest

import (
	"math"
	"slices"

	"botd/exchange"
	"botd/exchange/sim"
)

// ledger measures a run: equity at every close, executions, round trips.
type ledger struct {
	run     *run
	initial exchange.Amount
	fills   []sim.Fill
	trips   []Trip
	open    trip

	version  uint64 // of the exchange when the four below were read
	wallet   exchange.Amount
	cost     exchange.Amount // of the open position, signed; spot: nothing
	quantity exchange.Quantity
	base     exchange.Amount // spot: what is held

	equity       exchange.Amount
	drawdown     drawdown
	exposed      int
	daily        []float64 // equity at each UTC midnight
	nextDayMS    int64     // the midnight to come
	curve        []point   // a sample of the closes, for files
	every        int       // closes from one sample to the next
	nextCurve    int
	liquidations int
	events       events
}

// point is equity at a time.
type point struct {
	atMS   int64
	equity exchange.Amount
}

// maxCurve bounds the equity curve kept for files.
const maxCurve = 200_000

func (l *ledger) begin(config *Config, r *run) {
	n, openMS := r.candles.Len(), r.candles.OpenMS[0]
	l.run, l.initial, l.equity = r, config.Cash, config.Cash
	l.wallet, l.version = config.Cash, math.MaxUint64
	l.drawdown.take(openMS, config.Cash.Float())
	l.every = (n + maxCurve - 1) / maxCurve
	l.curve = make([]point, 0, n/l.every+2)
	l.nextDayMS = exchange.Day1.OpenOf(openMS)
	if l.nextDayMS < openMS {
		l.nextDayMS += int64(exchange.Day1)
	}
	l.daily = make([]float64, 0, (r.candles.CloseMS(n-1)-openMS)/int64(exchange.Day1)+2)
	l.midnights(openMS, config.Cash)
}

// mark takes the equity at the close of candle i. While nothing is held and
// nothing happened it is what it was, and there is nothing to compute.
func (l *ledger) mark(i int, closeMS int64) {
	before := l.equity
	version := l.run.venue.Version()
	if changed := version != l.version; changed || l.quantity != 0 || !l.base.IsZero() {
		if changed {
			l.version = version
			l.read()
		}
		l.value(l.run.candles.Close[i])
		l.drawdown.take(closeMS, l.equity.Float())
	}
	if closeMS >= l.nextDayMS {
		l.midnights(closeMS, before)
	}
	if i == l.nextCurve {
		l.nextCurve += l.every
		l.curve = append(l.curve, point{closeMS, l.equity})
	}
}

// value marks what is held at a price.
func (l *ledger) value(price exchange.Price) {
	l.equity = l.wallet
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
}

// midnights takes the equity at each UTC midnight up to a close. One that no
// candle ends at, in a hole or inside a week's candle, has the equity before it.
func (l *ledger) midnights(closeMS int64, before exchange.Amount) {
	for ; l.nextDayMS <= closeMS; l.nextDayMS += int64(exchange.Day1) {
		equity := before
		if l.nextDayMS == closeMS {
			equity = l.equity
		}
		l.daily = append(l.daily, equity.Float())
	}
}

// end adds the last close to the curve when the sampling left it out.
func (l *ledger) end(closeMS int64) {
	if last := len(l.curve) - 1; l.curve[last].atMS != closeMS {
		l.curve = append(l.curve, point{closeMS, l.equity})
	}
}

// worth is what an amount of the base asset is worth at a price, exactly.
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
	l.wallet, l.quantity, l.cost, l.liquidations = money.Wallet, 0, exchange.Amount{}, money.Liquidations
	if position, open := venue.Position(account, symbol.Name); open {
		_, mark := venue.Price(l.run.key)
		l.quantity = position.Signed()
		l.cost = symbol.Notional(mark, l.quantity).Sub(money.Unrealized)
	}
}

// take books executions.
func (l *ledger) take(fills []sim.Fill) {
	l.fills = slices.Grow(l.fills, len(fills))
	for i := range fills {
		l.fills = append(l.fills, fills[i])
		l.execution(&fills[i])
	}
}
