package sim

import "botd/exchange"

// Market moves a symbol's price and decides how its quotes stand. Still, Tape
// and Random make one; it serves one symbol only.
type Market interface {
	begin(b *book) int64                        // sets the first price and the quotes, returns the next move's time
	move(b *book) int64                         // moves the price at the clock's time, returns the next move's time
	seek(b *book) int64                         // the next move's time after the clock's, when moves were skipped
	openAt(timeMS int64) (exchange.Price, bool) // the price that a candle beginning then opens at, when recorded
	fundingRate(timeMS int64) exchange.Rate     // of a payment without a recorded rate
	pricedMS(b *book) int64                     // the clock's time, or when a price is known again that may be met
	opensMS(b *book) int64                      // when the next candle opens

	// candlesOf returns recorded candles up to the clock's time, the one under way
	// apart; nil when the market has none.
	candlesOf(b *book, interval exchange.Interval) (closed *exchange.Candles, last exchange.Candle, forming bool)
}

// StillConfig is a market in which nothing moves unless told to.
type StillConfig struct {
	// SpreadTicks is how far from the price the quotes begin. With 0 they stand at
	// the price itself without end, so that a market order fills exactly there.
	SpreadTicks int
	Price       exchange.Price // to begin with; 0 keeps the price there is
}

type still struct{ config StillConfig }

// Still returns a market that moves only by SetPrice and SlideTo.
func Still(config StillConfig) Market { return &still{config} }

func (m *still) begin(b *book) int64 {
	b.quoteFrom(m.config.SpreadTicks)
	if m.config.Price > 0 {
		b.jump(m.config.Price, m.config.Price, false)
	} else if b.last > 0 {
		b.react(false) // nearer quotes may meet what rests
	}
	return never
}

func (m *still) move(*book) int64                    { return never }
func (m *still) seek(*book) int64                    { return never }
func (m *still) openAt(int64) (exchange.Price, bool) { return 0, false }
func (m *still) fundingRate(int64) exchange.Rate     { return 0 }
func (m *still) pricedMS(b *book) int64              { return b.exchange.nowMS }
func (m *still) opensMS(*book) int64                 { return never }
func (m *still) candlesOf(*book, exchange.Interval) (*exchange.Candles, exchange.Candle, bool) {
	return nil, exchange.Candle{}, false
}

// quoteFrom sets how far from the price the quotes begin.
func (b *book) quoteFrom(spreadTicks int) {
	b.spread = exchange.Price(max(0, spreadTicks)) * b.symbol.PriceTick
	b.thin, b.eaten = 0, [2]eaten{}
	b.stale = true
}
