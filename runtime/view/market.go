package view

import (
	"context"
	"slices"
	"sync"

	"botd/exchange"
)

// Bounds of market data.
const (
	chunkCandles = 500 // fetched and kept at once: the least maximum of both markets
	MaxCandles   = 5_000
	keptChunks   = 400
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
	Gaps     int       `json:"gaps"` // candles missing between the first and the last
}

// chunk names a part of a series: candles that open from it until the next.
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

// MarketData reads public market data of the exchange, and remembers candles.
type MarketData struct {
	exchange Market
	nowMS    func() int64 // on the exchange's clock
	candles  candleCache
}

// NewMarketData returns a reader of market data.
func NewMarketData(exchange Market, nowMS func() int64) *MarketData {
	return &MarketData{exchange: exchange, nowMS: nowMS}
}

// candleCache keeps chunks that can not change any more.
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
	if len(c.order) == keptChunks {
		delete(c.known, c.order[0])
		c.order = slices.Delete(c.order, 0, 1)
	}
	c.known[which], c.order = candles, append(c.order, which)
}

// Candles returns the candles of a symbol that open in a time.
func (m *MarketData) Candles(ctx context.Context, symbol *exchange.Symbol, interval exchange.Interval, fromMS, toMS int64) (Candles, error) {
	out := Candles{Schema: 1, Market: symbol.Market.String(), Symbol: symbol.Name, Interval: interval.String(), OpenMS: []int64{}, Open: []string{}, High: []string{}, Low: []string{}, Close: []string{}, Volume: []float64{}}
	which := chunk{symbol.Key(), interval, fromMS - fromMS%(chunkCandles*int64(interval))}
	for ; which.startMS < toMS; which.startMS = which.endMS() {
		candles, err := m.fetchChunk(ctx, which)
		if err != nil {
			return out, err
		}
		for i := range candles {
			if c := &candles[i]; c.OpenMS >= fromMS && c.OpenMS < toMS {
				out.add(c, symbol)
			}
		}
	}
	if n := len(out.OpenMS); n > 1 {
		out.Gaps = int((out.OpenMS[n-1]-out.OpenMS[0])/int64(interval)) + 1 - n
	}
	return out, nil
}

func (c *Candles) add(one *exchange.Candle, s *exchange.Symbol) {
	c.OpenMS = append(c.OpenMS, one.OpenMS)
	c.Open, c.High = append(c.Open, s.PriceDecimal(one.Open).String()), append(c.High, s.PriceDecimal(one.High).String())
	c.Low, c.Close = append(c.Low, s.PriceDecimal(one.Low).String()), append(c.Close, s.PriceDecimal(one.Close).String())
	c.Volume = append(c.Volume, one.Volume)
}

// fetchChunk returns a chunk's candles, from memory when it can not change any more.
func (m *MarketData) fetchChunk(ctx context.Context, which chunk) ([]exchange.Candle, error) {
	if known, found := m.candles.get(which); found {
		return known, nil
	}
	operation := exchange.FuturesCandles
	if which.key.Market == exchange.Spot {
		operation = exchange.SpotCandles
	}
	told, err := m.exchange.Do(ctx, exchange.Request{Operation: operation, Symbol: which.key.Name, Interval: which.interval, StartMS: which.startMS, EndMS: which.endMS() - 1, Limit: chunkCandles})
	if err != nil {
		return nil, err
	}
	candles := []exchange.Candle{}
	for i := range told.Candles.Len() {
		candles = append(candles, told.Candles.At(i))
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
	Strategy     string  `json:"strategy"`     // that trades it; empty for none
}

// ListedSymbolOf writes a symbol and who trades it.
func ListedSymbolOf(s *exchange.Symbol, owner string) ListedSymbol {
	one := ListedSymbol{s.Market.String(), s.Name, s.PriceDecimal(s.PriceTick).String(), s.QuantityDecimal(s.QuantityTick).String(), s.MinNotional.String(), s.MaxNotional.String(), s.Tradable, 0, owner}
	for _, bracket := range s.Brackets {
		one.MaxLeverage = max(one.MaxLeverage, bracket.MaxLeverage)
	}
	return one
}

// OneMarket is what a symbol's market looks like now.
type OneMarket struct {
	Schema int `json:"schema"`
	ListedSymbol
	TimeMS   int64       `json:"time_ms"`
	Last     Decimal     `json:"last_price"`
	Open     Decimal     `json:"open_24h"`
	High     Decimal     `json:"high_24h"`
	Low      Decimal     `json:"low_24h"`
	Volume   float64     `json:"volume_24h"`
	Change   float64     `json:"change_percent_24h"`
	Bids     [][2]string `json:"bids"` // price, quantity: best first
	Asks     [][2]string `json:"asks"`
	Trades   []Trade     `json:"trades"` // newest first
	Funding  *Funding    `json:"funding"`
	Brackets []Bracket   `json:"brackets"`
}

// Trade is one public trade.
type Trade struct {
	TimeMS   int64   `json:"time_ms"`
	Side     string  `json:"side"` // of the taker
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

// Symbol returns what a symbol's market looks like now.
func (m *MarketData) Symbol(ctx context.Context, symbol *exchange.Symbol) (OneMarket, error) {
	out := OneMarket{Schema: 1, ListedSymbol: ListedSymbolOf(symbol, ""), Bids: [][2]string{}, Asks: [][2]string{}, Trades: []Trade{}, Brackets: []Bracket{}, TimeMS: m.nowMS()}
	if err := m.read(ctx, symbol, &out); err != nil {
		return out, err
	}
	for _, b := range symbol.Brackets {
		out.Brackets = append(out.Brackets, Bracket{b.Max.String(), b.MarginRatio.String(), b.MaxLeverage})
	}
	return out, nil
}

// read reads ticker, book, trades and funding.
func (m *MarketData) read(ctx context.Context, symbol *exchange.Symbol, out *OneMarket) error {
	requests := []exchange.Request{{Operation: exchange.SpotTicker}, {Operation: exchange.SpotDepth, Limit: depthLimit}, {Operation: exchange.SpotTrades, Limit: tradeLimit}}
	if symbol.Market == exchange.Futures {
		requests = []exchange.Request{{Operation: exchange.FuturesTicker}, {Operation: exchange.FuturesDepth, Limit: depthLimit}, {Operation: exchange.FuturesTrades, Limit: tradeLimit}, {Operation: exchange.FuturesFundingRate}}
	}
	for _, request := range requests {
		request.Symbol = symbol.Name
		told, err := m.exchange.Do(ctx, request)
		if err != nil {
			return err
		}
		out.take(&told, symbol)
	}
	return nil
}

func (m *OneMarket) take(told *exchange.Answer, s *exchange.Symbol) {
	switch told.Operation {
	case exchange.FuturesTicker, exchange.SpotTicker:
		for _, t := range told.Tickers.Items() {
			m.Last, m.Open, m.High, m.Low = s.PriceDecimal(t.Last).String(), s.PriceDecimal(t.Open).String(), s.PriceDecimal(t.High).String(), s.PriceDecimal(t.Low).String()
			m.Volume, m.Change = t.Volume, t.ChangePercent
		}
	case exchange.FuturesDepth, exchange.SpotDepth:
		for _, level := range told.Depth.Bids {
			m.Bids = append(m.Bids, [2]string{s.PriceDecimal(level.Price).String(), s.QuantityDecimal(level.Quantity).String()})
		}
		for _, level := range told.Depth.Asks {
			m.Asks = append(m.Asks, [2]string{s.PriceDecimal(level.Price).String(), s.QuantityDecimal(level.Quantity).String()})
		}
	case exchange.FuturesTrades, exchange.SpotTrades:
		for _, t := range told.Trades.Items() {
			side := exchange.Buy
			if t.BuyerIsMaker {
				side = exchange.Sell
			}
			m.Trades = append(m.Trades, Trade{t.TimeMS, side.String(), s.PriceDecimal(t.Price).String(), s.QuantityDecimal(t.Quantity).String()})
		}
		slices.SortStableFunc(m.Trades, func(a, b Trade) int { return int(min(1, max(-1, b.TimeMS-a.TimeMS))) })
	case exchange.FuturesFundingRate:
		m.Funding = &Funding{told.Funding.Rate.String(), told.Funding.NextMS}
	}
}
