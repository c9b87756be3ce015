package sim

import "botd/exchange"

// Market moves a symbol's price and its quotes. Still, Random, Tape and Fed create one; each serves
// only one symbol.
type Market interface {
	begin(b *orderBook) int64                   // sets the first price and the quotes, returns the time of the next move
	move(b *orderBook) int64                    // moves the price at the clock's time, returns the time of the next move
	seek(b *orderBook) int64                    // returns the time of the next move after the clock's, after moves were skipped
	openAt(timeMS int64) (exchange.Price, bool) // the recorded open of the candle that begins at the time
	fundingRate(timeMS int64) exchange.Rate     // of a payment without a recorded rate
	pricedMS(b *orderBook) int64                // the clock's time, or the time of the next price that an order can meet
	opensMS(b *orderBook) int64                 // time at which the next candle opens

	// candlesOf returns recorded candles up to the clock's time, the current one separately; nil if
	// the market has none.
	candlesOf(b *orderBook, interval exchange.Interval) (closed *exchange.Candles, last exchange.Candle, forming bool)
}

// StillConfig configures a market that never moves on its own.
type StillConfig struct {
	// SpreadTicks is the distance of the quotes from the price. With 0 they are at the price itself
	// and unlimited, so that a market order fills exactly there.
	SpreadTicks int
	Price       exchange.Price // initial price; 0 leaves the current one
}

type still struct {
	unmoved
	config StillConfig
}

// Still returns a market that moves only by SetPrice and SlideTo.
func Still(config StillConfig) Market { return &still{config: config} }

func (m *still) begin(b *orderBook) int64 {
	b.quoteFrom(m.config.SpreadTicks)
	if m.config.Price > 0 {
		b.jump(m.config.Price, m.config.Price, false)
	} else if b.last > 0 {
		b.react(false) // closer quotes may meet resting orders
	}
	return never
}

// unmoved is what a market does that neither moves on its own nor has recorded candles. The others replace what they do.
type unmoved struct{}

func (unmoved) move(*orderBook) int64               { return never }
func (unmoved) seek(*orderBook) int64               { return never }
func (unmoved) openAt(int64) (exchange.Price, bool) { return 0, false }
func (unmoved) fundingRate(int64) exchange.Rate     { return 0 }
func (unmoved) pricedMS(b *orderBook) int64         { return b.exchange.nowMS }
func (unmoved) opensMS(*orderBook) int64            { return never }
func (unmoved) candlesOf(*orderBook, exchange.Interval) (*exchange.Candles, exchange.Candle, bool) {
	return nil, exchange.Candle{}, false
}

// quoteFrom sets the distance of the quotes from the price.
func (b *orderBook) quoteFrom(spreadTicks int) {
	b.spread = exchange.Price(max(0, spreadTicks)) * b.symbol.PriceTick
	b.liquiditySeed, b.consumed = 0, [2]consumed{}
	b.stale = true
}
