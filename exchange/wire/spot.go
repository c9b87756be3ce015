package wire

import (
	"strings"

	"botd/exchange"
)

// The spot records as the interface writes them (Resources and their fields).

type spotPair struct {
	Symbol        string `json:"symbol"`
	Base          string `json:"base"`
	Quote         string `json:"quote"`
	PriceTick     plain  `json:"priceTick"`
	QuantityTick  plain  `json:"quantityTick"`
	MinNotional   plain  `json:"minNotional"`
	MaxNotional   plain  `json:"maxNotional"`
	OrderTypes    string `json:"orderTypes"` // comma-separated
	IsTrade       bool   `json:"isTrade"`
	IsCancelOrder bool   `json:"isCancelOrder"`
}

func (f *spotPair) read() (*exchange.Symbol, error) {
	var types []exchange.OrderType
	for word := range strings.SplitSeq(f.OrderTypes, ",") {
		if word = strings.TrimSpace(word); word == "" {
			continue
		}
		if t, err := exchange.ParseOrderType(word); err == nil { // a type botd does not know is one it does not send
			types = append(types, t)
		}
	}
	return exchange.NewSymbol(exchange.SymbolSpec{
		Market: exchange.Spot, Name: f.Symbol, Base: f.Base, Quote: f.Quote, PriceTick: f.PriceTick.Decimal, QuantityTick: f.QuantityTick.Decimal,
		MinNotional: f.MinNotional.Decimal, MaxNotional: f.MaxNotional.Decimal, Tradable: f.IsTrade, Cancelable: f.IsCancelOrder, OrderTypes: types,
	})
}

func writeSpotPair(s *exchange.Symbol) spotPair {
	types := s.OrderTypes
	if types == nil {
		types = []exchange.OrderType{exchange.Limit, exchange.MarketOrder, exchange.StopLimit, exchange.StopMarket, exchange.TakeProfitLimit, exchange.TakeProfitMarket}
	}
	words := make([]string, len(types))
	for i, t := range types {
		words[i] = t.String()
	}
	return spotPair{
		Symbol: s.Name, Base: s.Base, Quote: s.Quote, PriceTick: plain{s.PriceDecimal(s.PriceTick)}, QuantityTick: plain{s.QuantityDecimal(s.QuantityTick)},
		MinNotional: plain{s.MinNotional.Decimal()}, MaxNotional: plain{s.MaxNotional.Decimal()}, OrderTypes: strings.Join(words, ","), IsTrade: s.Tradable, IsCancelOrder: s.Cancelable,
	}
}

type spotTicker struct {
	Symbol             string     `json:"symbol"`
	LastPrice          number     `json:"lastPrice"`
	OpenPrice          number     `json:"openPrice"`
	HighPrice          number     `json:"highPrice"`
	LowPrice           number     `json:"lowPrice"`
	Volume             number     `json:"volume"`
	QuoteVolume        number     `json:"quoteVolume"`
	PriceChange        number     `json:"priceChange"`
	PriceChangePercent number     `json:"priceChangePercent"`
	WeightedAvgPrice   number     `json:"weightedAvgPrice"`
	UpdateTime         millisText `json:"updateTime"`
}

func (f *spotTicker) read(s *exchange.Symbol) (exchange.Ticker, error) {
	r := reader{symbol: s}
	return exchange.Ticker{
		Symbol: f.Symbol, Last: r.price(f.LastPrice), Open: r.price(f.OpenPrice), High: r.price(f.HighPrice), Low: r.price(f.LowPrice),
		Volume: f.Volume.InexactFloat64(), QuoteVolume: f.QuoteVolume.InexactFloat64(), Change: r.price(f.PriceChange),
		ChangePercent: f.PriceChangePercent.InexactFloat64(), WeightedAverage: r.amount(f.WeightedAvgPrice), CloseMS: int64(f.UpdateTime),
	}, r.err
}

func writeSpotTicker(t *exchange.Ticker, s *exchange.Symbol) spotTicker {
	price := func(p exchange.Price) number { return number{s.PriceDecimal(p)} }
	return spotTicker{
		Symbol: t.Symbol, LastPrice: price(t.Last), OpenPrice: price(t.Open), HighPrice: price(t.High), LowPrice: price(t.Low), Volume: float(t.Volume),
		QuoteVolume: float(t.QuoteVolume), PriceChange: price(t.Change), PriceChangePercent: float(t.ChangePercent),
		WeightedAvgPrice: number{t.WeightedAverage.Decimal()}, UpdateTime: millisText(t.CloseMS),
	}
}

type spotBook struct {
	ID   whole     `json:"id"`
	Bids [][]plain `json:"bids"`
	Asks [][]plain `json:"asks"`
}

type spotTrade struct {
	ID           whole  `json:"id"`
	Price        number `json:"price"`
	Quantity     number `json:"qty"`
	QuoteQty     number `json:"quoteQty"`
	Time         whole  `json:"time"`
	BuyerIsMaker bool   `json:"isBuyerMaker"`
}

type spotOrder struct {
	ID            whole  `json:"id"`
	Symbol        string `json:"symbol"`
	Side          string `json:"side"`
	Type          string `json:"type"`
	Quantity      plain  `json:"quantity"` // of a MARKET order the USDT amount
	Price         plain  `json:"price"`
	Filled        plain  `json:"filled"`
	AvgPrice      plain  `json:"avgPrice"`
	StopPrice     *plain `json:"stopPrice,omitempty"` // conditional orders; not in the document's table
	Status        string `json:"status"`
	ClientOrderID string `json:"clientOrderId"`
	CreatedAt     whole  `json:"createdAt"` // ms
}

func (f *spotOrder) read(s *exchange.Symbol) (exchange.Order, error) {
	r := reader{symbol: s}
	o := exchange.Order{
		ID: int64(f.ID), ClientOrderID: f.ClientOrderID, Market: exchange.Spot, Symbol: f.Symbol, Price: r.price(number(f.Price)),
		Filled: r.quantity(number(f.Filled)), AveragePrice: r.amount(number(f.AvgPrice)), CreatedMS: int64(f.CreatedAt),
	}
	if f.StopPrice != nil {
		o.StopPrice = r.price(number(*f.StopPrice))
	}
	var err error
	o.Side, err = exchange.ParseSide(f.Side)
	first(&r.err, err)
	o.Type, err = exchange.ParseOrderType(f.Type)
	first(&r.err, err)
	o.Status, err = exchange.ParseOrderStatus(f.Status)
	first(&r.err, err)
	if byQuote(o.Type) {
		o.QuoteAmount = r.amount(number(f.Quantity))
	} else {
		o.Quantity = r.quantity(number(f.Quantity))
	}
	return o, r.err
}

// byQuote reports whether a spot order's quantity is an amount in USDT
// (interface, POST /hapi/v1/spot/order: "for Market orders the amount is in USDT").
func byQuote(t exchange.OrderType) bool { return t == exchange.MarketOrder }

func writeSpotOrder(o *exchange.Order, s *exchange.Symbol) spotOrder {
	w := spotOrder{
		ID: whole(o.ID), Symbol: o.Symbol, Side: o.Side.String(), Type: o.Type.String(), Quantity: plain{s.QuantityDecimal(o.Quantity)}, Price: plain{s.PriceDecimal(o.Price)},
		Filled: plain{s.QuantityDecimal(o.Filled)}, AvgPrice: plain{o.AveragePrice.Decimal()}, Status: o.Status.String(), ClientOrderID: o.ClientOrderID, CreatedAt: whole(o.CreatedMS),
	}
	if byQuote(o.Type) {
		w.Quantity = plain{o.QuoteAmount.Decimal()}
	}
	if o.StopPrice != 0 {
		w.StopPrice = &plain{s.PriceDecimal(o.StopPrice)}
	}
	return w
}

type userTrade struct {
	ID       whole  `json:"id"`
	Symbol   string `json:"symbol"`
	OrderID  whole  `json:"order_id"`
	Price    number `json:"price"`
	Quantity number `json:"qty"`
	Fee      number `json:"fee"`
	FeeAsset string `json:"fee_asset"`
	Role     string `json:"role"`
	Time     whole  `json:"time"`
}

func (f *userTrade) read(s *exchange.Symbol) (exchange.UserTrade, error) {
	r := reader{symbol: s}
	return exchange.UserTrade{ID: int64(f.ID), Symbol: f.Symbol, OrderID: int64(f.OrderID), Price: r.price(f.Price), Quantity: r.quantity(f.Quantity),
		Fee: r.amount(f.Fee), FeeAsset: f.FeeAsset, Maker: f.Role == "maker", TimeMS: int64(f.Time)}, r.err
}

func writeUserTrade(t *exchange.UserTrade, s *exchange.Symbol) userTrade {
	role := "taker"
	if t.Maker {
		role = "maker"
	}
	return userTrade{ID: whole(t.ID), Symbol: t.Symbol, OrderID: whole(t.OrderID), Price: number{s.PriceDecimal(t.Price)}, Quantity: number{s.QuantityDecimal(t.Quantity)},
		Fee: number{t.Fee.Decimal()}, FeeAsset: t.FeeAsset, Role: role, Time: whole(t.TimeMS)}
}

type walletEntry struct {
	Asset   string `json:"asset"`
	Balance number `json:"balance"`
	Frozen  number `json:"frozen"`
}
