package view

import (
	"context"
	"slices"
	"sync"

	"botd/exchange"
)

// MaxCandles bounds the candles of one answer.
const MaxCandles = 5_000

// Limits of market data.
const (
	chunkCandles = 500 // fetched and cached at once: the smaller maximum of both markets
	maxChunks    = 400 // cached
	depthLimit   = 50
	tradeLimit   = 100
)

// Candles are candles in columns, oldest first.
type Candles struct {
	Schema   int       `json:"schema"`
	Market   string    `json:"market"`
	Symbol   string    `json:"symbol"`
	Interval string    `json:"interval"`
	OpenMS   []int64   `json:"open_ms"`
	Open     []Decimal `json:"open"`
	High     []Decimal `json:"high"`
	Low      []Decimal `json:"low"`
	Close    []Decimal `json:"close"`
	Volume   []float64 `json:"volume"`
	Gaps     int       `json:"gaps"` // the number of candles missing between the first and the last
}

// chunk is a part of a series: the candles that open from its start until the next chunk.
type chunk struct {
	key      exchange.SymbolKey
	interval exchange.Interval
	startMS  int64
}

func (c chunk) endMS() int64 { return c.startMS + chunkCandles*int64(c.interval) }

// Market reads public market data of the venue.
type Market interface {
	Do(ctx context.Context, request exchange.Request) (exchange.Answer, error)
}

// MarketReader reads public market data of the exchange. Candles that are final are cached for
// good, everything else for a moment.
type MarketReader struct {
	exchange Market
	nowMS    func() int64 // on the exchange's clock
	candles  candleCache
	chunks   shared[chunk, []exchange.Candle]
	symbols  shared[exchange.SymbolKey, OneMarket]
}

// NewMarketReader returns a reader of market data.
func NewMarketReader(exchange Market, nowMS func() int64) *MarketReader {
	return &MarketReader{exchange: exchange, nowMS: nowMS}
}

// candleCache holds chunks that are final.
type candleCache struct {
	mu    sync.Mutex // guards all below
	known map[chunk][]exchange.Candle
	order []chunk // oldest first
}

func (c *candleCache) get(which chunk) ([]exchange.Candle, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	found, known := c.known[which]
	return found, known
}

func (c *candleCache) put(which chunk, candles []exchange.Candle) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.known == nil {
		c.known = map[chunk][]exchange.Candle{}
	}
	if _, known := c.known[which]; known {
		return
	}
	if len(c.order) == maxChunks {
		delete(c.known, c.order[0])
		c.order = slices.Delete(c.order, 0, 1)
	}
	c.known[which], c.order = candles, append(c.order, which)
}

// Candles returns the candles of a symbol that open in a time.
func (m *MarketReader) Candles(ctx context.Context, symbol *exchange.Symbol, interval exchange.Interval, fromMS, toMS int64) (Candles, error) {
	out := Candles{Schema: 1, Market: symbol.Market.String(), Symbol: symbol.Name, Interval: interval.String(), OpenMS: []int64{},
		Open: []string{}, High: []string{}, Low: []string{}, Close: []string{}, Volume: []float64{}}
	err := m.each(ctx, symbol, interval, fromMS, toMS, func(c *exchange.Candle) { out.add(c, symbol) })
	if err != nil {
		return out, err
	}
	if n := len(out.OpenMS); n > 1 {
		out.Gaps = int((out.OpenMS[n-1]-out.OpenMS[0])/int64(interval)) + 1 - n
	}
	return out, nil
}

// each visits the candles of a symbol that open in a time, oldest first.
func (m *MarketReader) each(ctx context.Context, symbol *exchange.Symbol, interval exchange.Interval, fromMS, toMS int64, visit func(*exchange.Candle)) error {
	which := chunk{symbol.Key(), interval, fromMS - fromMS%(chunkCandles*int64(interval))}
	for ; which.startMS < toMS; which.startMS = which.endMS() {
		candles, err := m.fetchChunk(ctx, which)
		if err != nil {
			return err
		}
		for i := range candles {
			if c := &candles[i]; c.OpenMS >= fromMS && c.OpenMS < toMS {
				visit(c)
			}
		}
	}
	return nil
}

func (c *Candles) add(one *exchange.Candle, s *exchange.Symbol) {
	c.OpenMS = append(c.OpenMS, one.OpenMS)
	c.Open, c.High = append(c.Open, s.PriceDecimal(one.Open).String()), append(c.High, s.PriceDecimal(one.High).String())
	c.Low, c.Close = append(c.Low, s.PriceDecimal(one.Low).String()), append(c.Close, s.PriceDecimal(one.Close).String())
	c.Volume = append(c.Volume, one.Volume)
}

// fetchChunk returns a chunk's candles, from the cache if they are final.
func (m *MarketReader) fetchChunk(ctx context.Context, which chunk) ([]exchange.Candle, error) {
	if known, found := m.candles.get(which); found {
		return known, nil
	}
	return m.chunks.get(ctx, which, func(ctx context.Context) ([]exchange.Candle, error) { return m.readChunk(ctx, which) })
}

// readChunk reads a chunk's candles from the exchange.
func (m *MarketReader) readChunk(ctx context.Context, which chunk) ([]exchange.Candle, error) {
	answer, err := m.exchange.Do(ctx, exchange.Request{Operation: exchange.FuturesCandles.On(which.key.Market), Symbol: which.key.Name,
		Interval: which.interval, StartMS: which.startMS, EndMS: which.endMS() - 1, Limit: chunkCandles})
	if err != nil {
		return nil, err
	}
	candles := []exchange.Candle{}
	for i := range answer.Candles.Len() {
		candles = append(candles, answer.Candles.At(i))
	}
	// A minute after its last candle closed, the chunk is final.
	if m.nowMS() > which.endMS()+int64(which.interval)+60_000 {
		m.candles.put(which, candles)
	}
	return candles, nil
}

// ListedSymbol is one symbol of the venue.
type ListedSymbol struct {
	Market       string  `json:"market"`
	Symbol       string  `json:"symbol"`
	PriceTick    Decimal `json:"price_tick"`
	QuantityTick Decimal `json:"quantity_tick"`
	MinNotional  Decimal `json:"min_notional"`
	MaxNotional  Decimal `json:"max_notional"`
	Tradable     bool    `json:"tradable"`
	MaxLeverage  int     `json:"max_leverage"` // 0 on spot
	Strategy     string  `json:"strategy"`     // the strategy that trades it; empty for none
}

// ListedSymbolOf writes a symbol and who trades it.
func ListedSymbolOf(s *exchange.Symbol, owner string) ListedSymbol {
	one := ListedSymbol{Market: s.Market.String(), Symbol: s.Name, PriceTick: s.PriceDecimal(s.PriceTick).String(),
		QuantityTick: s.QuantityDecimal(s.QuantityTick).String(),
		MinNotional:  s.MinNotional.String(), MaxNotional: s.MaxNotional.String(), Tradable: s.Tradable, Strategy: owner}
	for _, bracket := range s.Brackets {
		one.MaxLeverage = max(one.MaxLeverage, bracket.MaxLeverage)
	}
	return one
}

// OneMarket is a symbol's market now.
type OneMarket struct {
	Schema int `json:"schema"`
	ListedSymbol
	TimeMS   int64        `json:"time_ms"`
	Last     Decimal      `json:"last_price"`
	Open     Decimal      `json:"open_24h"`
	High     Decimal      `json:"high_24h"`
	Low      Decimal      `json:"low_24h"`
	Volume   float64      `json:"volume_24h"`
	Change   float64      `json:"change_percent_24h"`
	Bids     [][2]Decimal `json:"bids"` // price and quantity, best first
	Asks     [][2]Decimal `json:"asks"`
	Trades   []Trade      `json:"trades"` // newest first
	Funding  *Funding     `json:"funding"`
	Brackets []Bracket    `json:"brackets"`
}

// Trade is one public trade.
type Trade struct {
	TimeMS   int64   `json:"time_ms"`
	Side     string  `json:"side"` // the side of the taker
	Price    Decimal `json:"price"`
	Quantity Decimal `json:"quantity"`
}

// Funding is a futures symbol's funding; null on spot.
type Funding struct {
	Rate   Decimal `json:"rate"`
	NextMS int64   `json:"next_ms"`
}

// Bracket is one margin level of a futures symbol.
type Bracket struct {
	Max         Decimal `json:"max_notional"`
	MarginRatio Decimal `json:"margin_ratio"`
	MaxLeverage int     `json:"max_leverage"`
}

// Symbol returns a symbol's market now.
func (m *MarketReader) Symbol(ctx context.Context, symbol *exchange.Symbol) (OneMarket, error) {
	return m.symbols.get(ctx, symbol.Key(), func(ctx context.Context) (OneMarket, error) { return m.symbol(ctx, symbol) })
}

func (m *MarketReader) symbol(ctx context.Context, symbol *exchange.Symbol) (OneMarket, error) {
	out := OneMarket{Schema: 1, ListedSymbol: ListedSymbolOf(symbol, ""), Bids: [][2]Decimal{}, Asks: [][2]Decimal{},
		Trades: []Trade{}, Brackets: []Bracket{}, TimeMS: m.nowMS()}
	if err := m.read(ctx, symbol, &out); err != nil {
		return out, err
	}
	for _, b := range symbol.Brackets {
		out.Brackets = append(out.Brackets, Bracket{b.Max.String(), b.MarginRatio.String(), b.MaxLeverage})
	}
	return out, nil
}

func (m *MarketReader) read(ctx context.Context, symbol *exchange.Symbol, out *OneMarket) error {
	requests := []exchange.Request{{Operation: exchange.FuturesTicker.On(symbol.Market)},
		{Operation: exchange.FuturesDepth.On(symbol.Market), Limit: depthLimit}, {Operation: exchange.FuturesTrades.On(symbol.Market), Limit: tradeLimit}}
	if symbol.Market == exchange.Futures {
		requests = append(requests, exchange.Request{Operation: exchange.FuturesFundingRate})
	}
	for _, request := range requests {
		request.Symbol = symbol.Name
		answer, err := m.exchange.Do(ctx, request)
		if err != nil {
			return err
		}
		out.addAnswer(&answer, symbol)
	}
	return nil
}

func (m *OneMarket) addAnswer(answer *exchange.Answer, s *exchange.Symbol) {
	switch answer.Operation {
	case exchange.FuturesTicker, exchange.SpotTicker:
		for _, t := range answer.Tickers.Items() {
			m.Last, m.Open = s.PriceDecimal(t.Last).String(), s.PriceDecimal(t.Open).String()
			m.High, m.Low = s.PriceDecimal(t.High).String(), s.PriceDecimal(t.Low).String()
			m.Volume, m.Change = t.Volume, t.ChangePercent
		}
	case exchange.FuturesDepth, exchange.SpotDepth:
		m.Bids, m.Asks = levelsOf(answer.Depth.Bids, s), levelsOf(answer.Depth.Asks, s)
	case exchange.FuturesTrades, exchange.SpotTrades:
		for _, t := range answer.Trades.Items() {
			side := exchange.Buy
			if t.BuyerIsMaker {
				side = exchange.Sell
			}
			m.Trades = append(m.Trades, Trade{t.TimeMS, side.String(), s.PriceDecimal(t.Price).String(), s.QuantityDecimal(t.Quantity).String()})
		}
		slices.SortStableFunc(m.Trades, func(a, b Trade) int { return int(min(1, max(-1, b.TimeMS-a.TimeMS))) })
	case exchange.FuturesFundingRate:
		m.Funding = &Funding{answer.Funding.Rate.String(), answer.Funding.NextMS}
	}
}

func levelsOf(side []exchange.Level, s *exchange.Symbol) [][2]Decimal {
	out := [][2]Decimal{}
	for _, level := range side {
		out = append(out, [2]Decimal{s.PriceDecimal(level.Price).String(), s.QuantityDecimal(level.Quantity).String()})
	}
	return out
}
