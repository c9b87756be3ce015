package wire

import (
	"strings"

	"botd/exchange"
)

// The spot records of the interface (Resources and their fields).

type spotPair struct {
	Symbol        string `json:"symbol"`
	Base          string `json:"base"`
	Quote         string `json:"quote"`
	PriceTick     plain  `json:"priceTick"`
	QuantityTick  plain  `json:"quantityTick"`
	MinNotional   plain  `json:"minNotional"`
	MaxNotional   plain  `json:"maxNotional"`
	OrderTypes    string `json:"orderTypes"` // comma-separated
	IsTrade       flag   `json:"isTrade"`
	IsCancelOrder flag   `json:"isCancelOrder"`
}

func (f *spotPair) read() (*exchange.Symbol, error) {
	var types []exchange.OrderType
	for word := range strings.SplitSeq(f.OrderTypes, ",") {
		if word = strings.TrimSpace(word); word == "" {
			continue
		}
		if t, err := exchange.ParseOrderType(word); err == nil { // botd never sends an order of an unknown type
			types = append(types, t)
		}
	}
	base, quote := currencies(f.Symbol, f.Base, f.Quote)
	return exchange.NewSymbol(exchange.SymbolSpec{
		Market: exchange.Spot, Name: f.Symbol, Base: base, Quote: quote, PriceTick: f.PriceTick.Decimal, QuantityTick: f.QuantityTick.Decimal,
		MinNotional: f.MinNotional.Decimal, MaxNotional: f.MaxNotional.Decimal, Tradable: bool(f.IsTrade), Cancelable: bool(f.IsCancelOrder), OrderTypes: types,
	})
}

func writeSpotPair(s *exchange.Symbol) spotPair {
	types := s.OrderTypes
	if types == nil {
		types = []exchange.OrderType{exchange.Limit, exchange.MarketOrder, exchange.StopLimit, exchange.StopMarket, exchange.TakeProfitLimit,
			exchange.TakeProfitMarket}
	}
	words := make([]string, len(types))
	for i, t := range types {
		words[i] = t.String()
	}
	return spotPair{
		Symbol: s.Name, Base: s.Base, Quote: s.Quote, PriceTick: plainOf(s.PriceDecimal(s.PriceTick)), QuantityTick: plainOf(s.QuantityDecimal(s.QuantityTick)),
		MinNotional: plainOf(s.MinNotional.Decimal()), MaxNotional: plainOf(s.MaxNotional.Decimal()), OrderTypes: strings.Join(words, ","),
		IsTrade: flag(s.Tradable), IsCancelOrder: flag(s.Cancelable),
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

func (f *spotTicker) read(r reader) (exchange.Ticker, error) {
	r.need("lastPrice", f.LastPrice.given)
	return exchange.Ticker{
		Symbol: f.Symbol, Last: r.price("lastPrice", f.LastPrice), Open: r.price("openPrice", f.OpenPrice), High: r.price("highPrice", f.HighPrice),
		Low: r.price("lowPrice", f.LowPrice), Volume: f.Volume.InexactFloat64(), QuoteVolume: f.QuoteVolume.InexactFloat64(),
		Change: r.price("priceChange", f.PriceChange), ChangePercent: f.PriceChangePercent.InexactFloat64(),
		WeightedAverage: r.amount("weightedAvgPrice", f.WeightedAvgPrice), CloseMS: int64(f.UpdateTime),
	}, r.err
}

func writeSpotTicker(t *exchange.Ticker, s *exchange.Symbol) spotTicker {
	price := func(p exchange.Price) number { return numberOf(s.PriceDecimal(p)) }
	return spotTicker{
		Symbol: t.Symbol, LastPrice: price(t.Last), OpenPrice: price(t.Open), HighPrice: price(t.High), LowPrice: price(t.Low), Volume: float(t.Volume),
		QuoteVolume: float(t.QuoteVolume), PriceChange: price(t.Change), PriceChangePercent: float(t.ChangePercent),
		WeightedAvgPrice: numberOf(t.WeightedAverage.Decimal()), UpdateTime: millisText(t.CloseMS),
	}
}

type spotOrderBook struct {
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
	BuyerIsMaker flag   `json:"isBuyerMaker"`
}

// read also reads futures trades, which have no quoteQty.
func (f *spotTrade) read(r reader) (exchange.Trade, error) {
	r.need("price", f.Price.given)
	r.need("qty", f.Quantity.given)
	return exchange.Trade{ID: int64(f.ID), Price: r.price("price", f.Price), Quantity: r.publicQuantity("qty", f.Quantity),
		QuoteAmount: r.amount("quoteQty", f.QuoteQty), TimeMS: int64(f.Time), BuyerIsMaker: bool(f.BuyerIsMaker)}, r.err
}

type spotOrder struct {
	ID            whole  `json:"id"`
	Symbol        string `json:"symbol"`
	Side          string `json:"side"`
	Type          string `json:"type"`
	Quantity      plain  `json:"quantity"` // for a MARKET order, the USDT amount
	Price         plain  `json:"price"`
	Filled        plain  `json:"filled"`
	AvgPrice      plain  `json:"avgPrice"`
	StopPrice     *plain `json:"stopPrice,omitempty"` // conditional orders; not in the document's table
	Status        string `json:"status"`
	ClientOrderID string `json:"clientOrderId"`
	CreatedAt     whole  `json:"createdAt"` // ms
}

func (f *spotOrder) read(r reader) (exchange.Order, error) {
	r.need("id", f.ID > 0)
	r.need("quantity", f.Quantity.given)
	r.need("filled", f.Filled.given)
	o := exchange.Order{
		ID: int64(f.ID), ClientOrderID: f.ClientOrderID, Market: exchange.Spot, Symbol: f.Symbol, Price: r.price("price", number(f.Price)),
		Filled: r.quantity("filled", number(f.Filled)), AveragePrice: r.amount("avgPrice", number(f.AvgPrice)), CreatedMS: int64(f.CreatedAt),
	}
	if f.StopPrice != nil {
		o.StopPrice = r.price("stopPrice", number(*f.StopPrice))
	}
	r.words(&o, f.Side, f.Type, f.Status)
	if byQuote(o.Type) {
		o.QuoteAmount = r.orderAmount("quantity", number(f.Quantity))
	} else {
		o.Quantity = r.quantity("quantity", number(f.Quantity))
	}
	return o, r.err
}

// byQuote reports whether a spot order's quantity is an amount in USDT
// (interface, POST /hapi/v1/spot/order: "for Market orders the amount is in USDT").
func byQuote(t exchange.OrderType) bool { return t == exchange.MarketOrder }

func writeSpotOrder(o *exchange.Order, s *exchange.Symbol) spotOrder {
	w := spotOrder{
		ID: whole(o.ID), Symbol: o.Symbol, Side: o.Side.String(), Type: o.Type.String(), Quantity: plainOf(s.QuantityDecimal(o.Quantity)),
		Price:  plainOf(s.PriceDecimal(o.Price)),
		Filled: plainOf(s.QuantityDecimal(o.Filled)), AvgPrice: plainOf(o.AveragePrice.Decimal()), Status: o.Status.String(),
		ClientOrderID: o.ClientOrderID, CreatedAt: whole(o.CreatedMS),
	}
	if byQuote(o.Type) {
		w.Quantity = plainOf(o.QuoteAmount.Decimal())
	}
	if o.StopPrice != 0 {
		w.StopPrice = new(plainOf(s.PriceDecimal(o.StopPrice)))
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

func (f *userTrade) read(r reader) (exchange.UserTrade, error) {
	r.need("order_id", f.OrderID > 0)
	r.need("price", f.Price.given)
	r.need("qty", f.Quantity.given)
	return exchange.UserTrade{ID: int64(f.ID), Symbol: f.Symbol, OrderID: int64(f.OrderID), Price: r.price("price", f.Price),
		Quantity: r.quantity("qty", f.Quantity), Fee: r.amount("fee", f.Fee), FeeAsset: f.FeeAsset, Maker: f.Role == "maker", TimeMS: int64(f.Time)}, r.err
}

func writeUserTrade(t *exchange.UserTrade, s *exchange.Symbol) userTrade {
	role := "taker"
	if t.Maker {
		role = "maker"
	}
	return userTrade{ID: whole(t.ID), Symbol: t.Symbol, OrderID: whole(t.OrderID), Price: numberOf(s.PriceDecimal(t.Price)),
		Quantity: numberOf(s.QuantityDecimal(t.Quantity)),
		Fee:      numberOf(t.Fee.Decimal()), FeeAsset: t.FeeAsset, Role: role, Time: whole(t.TimeMS)}
}

type walletEntry struct {
	Asset   string `json:"asset"`
	Balance number `json:"balance"`
	Frozen  number `json:"frozen"`
}

func (f *walletEntry) read() (exchange.Balance, error) {
	var r reader
	r.need("asset", f.Asset != "")
	r.need("balance", f.Balance.given)
	r.need("frozen", f.Frozen.given)
	return exchange.Balance{Asset: f.Asset, Free: r.amount("balance", f.Balance), Frozen: r.amount("frozen", f.Frozen)}, r.err
}
