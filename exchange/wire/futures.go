package wire

import (
	"encoding/json"

	"botd/exchange"
)

// The futures records as the interface writes them (Resources and their fields).

type futuresSymbol struct {
	Symbol               string `json:"symbol"`
	BaseAsset            string `json:"baseAsset"`
	QuoteAsset           string `json:"quoteAsset"`
	QuantityTick         plain  `json:"quantityTick"`
	PriceTick            plain  `json:"priceTick"`
	MinNotional          plain  `json:"minNotional"`
	MaxNotional          plain  `json:"maxNotional"`
	IsTrade              bool   `json:"isTrade"`
	IsReduceOnly         bool   `json:"isReduceOnly"`
	IsCancelOrder        bool   `json:"isCancelOrder"`
	FundingRateCap       plain  `json:"adjustedFundingRateCap"`
	FundingRateFloor     plain  `json:"adjustedFundingRateFloor"`
	FundingIntervalHours whole  `json:"fundingIntervalHours"`
}

func (f *futuresSymbol) read() (*exchange.Symbol, error) {
	return exchange.NewSymbol(exchange.SymbolSpec{
		Market: exchange.Futures, Name: f.Symbol, Base: f.BaseAsset, Quote: f.QuoteAsset,
		PriceTick: f.PriceTick.Decimal, QuantityTick: f.QuantityTick.Decimal, MinNotional: f.MinNotional.Decimal, MaxNotional: f.MaxNotional.Decimal,
		Tradable: f.IsTrade, ReduceOnly: f.IsReduceOnly, Cancelable: f.IsCancelOrder,
		FundingCap: f.FundingRateCap.Decimal, FundingFloor: f.FundingRateFloor.Decimal, FundingIntervalHours: int(f.FundingIntervalHours),
	})
}

func writeFuturesSymbol(s *exchange.Symbol) futuresSymbol {
	return futuresSymbol{
		Symbol: s.Name, BaseAsset: s.Base, QuoteAsset: s.Quote, QuantityTick: plain{s.QuantityDecimal(s.QuantityTick)}, PriceTick: plain{s.PriceDecimal(s.PriceTick)},
		MinNotional: plain{s.MinNotional.Decimal()}, MaxNotional: plain{s.MaxNotional.Decimal()}, IsTrade: s.Tradable, IsReduceOnly: s.ReduceOnly, IsCancelOrder: s.Cancelable,
		FundingRateCap: plain{s.FundingCap.Decimal()}, FundingRateFloor: plain{s.FundingFloor.Decimal()}, FundingIntervalHours: whole(s.FundingIntervalHours),
	}
}

type futuresTicker struct {
	Symbol             string `json:"symbol"`
	PriceChange        number `json:"priceChange"`
	PriceChangePercent number `json:"priceChangePercent"`
	LastPrice          number `json:"lastPrice"`
	BidPrice           number `json:"bidPrice"`
	AskPrice           number `json:"askPrice"`
	OpenPrice          number `json:"openPrice"`
	HighPrice          number `json:"highPrice"`
	LowPrice           number `json:"lowPrice"`
	Volume             number `json:"volume"`
	QuoteVolume        number `json:"quoteVolume"`
	OpenTime           whole  `json:"openTime"`
	CloseTime          whole  `json:"closeTime"`
	Count              whole  `json:"count"`
}

func (f *futuresTicker) read(s *exchange.Symbol) (exchange.Ticker, error) {
	r := reader{symbol: s}
	return exchange.Ticker{
		Symbol: f.Symbol, Last: r.price(f.LastPrice), Bid: r.price(f.BidPrice), Ask: r.price(f.AskPrice),
		Open: r.price(f.OpenPrice), High: r.price(f.HighPrice), Low: r.price(f.LowPrice), Change: r.price(f.PriceChange),
		ChangePercent: f.PriceChangePercent.InexactFloat64(), Volume: f.Volume.InexactFloat64(), QuoteVolume: f.QuoteVolume.InexactFloat64(),
		OpenMS: int64(f.OpenTime), CloseMS: int64(f.CloseTime), Count: int64(f.Count),
	}, r.err
}

func writeFuturesTicker(t *exchange.Ticker, s *exchange.Symbol) futuresTicker {
	price := func(p exchange.Price) number { return number{s.PriceDecimal(p)} }
	return futuresTicker{
		Symbol: t.Symbol, PriceChange: price(t.Change), PriceChangePercent: float(t.ChangePercent), LastPrice: price(t.Last), BidPrice: price(t.Bid),
		AskPrice: price(t.Ask), OpenPrice: price(t.Open), HighPrice: price(t.High), LowPrice: price(t.Low), Volume: float(t.Volume),
		QuoteVolume: float(t.QuoteVolume), OpenTime: whole(t.OpenMS), CloseTime: whole(t.CloseMS), Count: whole(t.Count),
	}
}

type futuresTrade struct {
	ID           whole  `json:"id"`
	Price        number `json:"price"`
	Quantity     number `json:"qty"`
	Time         whole  `json:"time"`
	BuyerIsMaker bool   `json:"isBuyerMaker"`
}

type futuresDepth struct {
	LastUpdateID whole      `json:"lastUpdateId"`
	Bids         [][]number `json:"bids"`
	Asks         [][]number `json:"asks"`
}

type fundingRate struct {
	Symbol          string `json:"symbol"`
	FundingRate     number `json:"fundingRate"`
	FundingTime     whole  `json:"fundingTime"`
	NextFundingTime whole  `json:"nextFundingTime"`
}

type marginLevel struct {
	Symbol       string `json:"symbol"`
	Min          number `json:"min"`
	Max          number `json:"max"`
	MarginRatio  number `json:"marginRatio"`
	MarginAmount number `json:"marginAmount"`
	MaxLeverage  whole  `json:"maxLeverage"`
}

type futuresOrder struct {
	ID              whole  `json:"id"`
	ClientOrderID   string `json:"client_order_id"`
	Symbol          string `json:"symbol"`
	Side            string `json:"side"`
	Type            string `json:"type"`
	Price           number `json:"price"`
	StopPrice       number `json:"stopPrice"`
	Quantity        number `json:"quantity"`
	Filled          number `json:"filled"`
	Status          string `json:"status"`
	WorkingType     string `json:"workingType"`
	ClosePosition   bool   `json:"closePosition"`
	ClosePositionID whole  `json:"closePositionId"`
	CreatedAt       whole  `json:"createdAt"` // seconds
	PostOnly        bool   `json:"postOnly"`
}

func (f *futuresOrder) read(s *exchange.Symbol) (exchange.Order, error) {
	r := reader{symbol: s}
	o := exchange.Order{
		ID: int64(f.ID), ClientOrderID: f.ClientOrderID, Market: exchange.Futures, Symbol: f.Symbol, Price: r.price(f.Price), StopPrice: r.price(f.StopPrice),
		Quantity: r.quantity(f.Quantity), Filled: r.quantity(f.Filled), ClosePosition: f.ClosePosition, ClosePositionID: int64(f.ClosePositionID),
		PostOnly: f.PostOnly, CreatedMS: int64(f.CreatedAt) * 1000,
	}
	var err error
	o.Side, err = exchange.ParseSide(f.Side)
	first(&r.err, err)
	o.Type, err = exchange.ParseOrderType(f.Type)
	first(&r.err, err)
	o.Status, err = exchange.ParseOrderStatus(f.Status)
	first(&r.err, err)
	o.WorkingType, err = exchange.ParseWorkingType(f.WorkingType)
	first(&r.err, err)
	return o, r.err
}

func first(kept *error, err error) {
	if *kept == nil {
		*kept = err
	}
}

func writeFuturesOrder(o *exchange.Order, s *exchange.Symbol) futuresOrder {
	return futuresOrder{
		ID: whole(o.ID), ClientOrderID: o.ClientOrderID, Symbol: o.Symbol, Side: o.Side.String(), Type: o.Type.String(),
		Price: number{s.PriceDecimal(o.Price)}, StopPrice: number{s.PriceDecimal(o.StopPrice)}, Quantity: number{s.QuantityDecimal(o.Quantity)},
		Filled: number{s.QuantityDecimal(o.Filled)}, Status: o.Status.String(), WorkingType: o.WorkingType.String(), ClosePosition: o.ClosePosition,
		ClosePositionID: whole(o.ClosePositionID), CreatedAt: whole(o.CreatedMS / 1000), PostOnly: o.PostOnly,
	}
}

type futuresPosition struct {
	ID              whole  `json:"id"`
	Symbol          string `json:"symbol"`
	Side            string `json:"side"`
	EntryPrice      number `json:"entryPrice"`
	Quantity        number `json:"quantity"`
	RemainingQty    number `json:"remainingQty"`
	Leverage        whole  `json:"leverage"`
	UnrealizedPNL   number `json:"unrealizedPNL"`
	RealizedPNL     number `json:"realizedPNL"`
	LiqPrice        number `json:"liqPrice"`
	Status          string `json:"status"`
	LastUpdatePrice number `json:"lastUpdatePrice"`
	ClosePrice      number `json:"closePrice"`
	CreatedAt       whole  `json:"createdAt"` // seconds
	UpdatedAt       whole  `json:"updatedAt"` // seconds
}

func (f *futuresPosition) read(s *exchange.Symbol) (exchange.Position, error) {
	r := reader{symbol: s}
	p := exchange.Position{
		ID: int64(f.ID), Symbol: f.Symbol, EntryPrice: r.amount(f.EntryPrice), Quantity: r.quantity(f.Quantity), Remaining: r.quantity(f.RemainingQty),
		Leverage: int(f.Leverage), UnrealizedPNL: r.amount(f.UnrealizedPNL), RealizedPNL: r.amount(f.RealizedPNL), LiqPrice: r.amount(f.LiqPrice),
		LastUpdatePrice: r.amount(f.LastUpdatePrice), ClosePrice: r.amount(f.ClosePrice), CreatedMS: int64(f.CreatedAt) * 1000, UpdatedMS: int64(f.UpdatedAt) * 1000,
	}
	var err error
	p.Side, err = exchange.ParsePositionSide(f.Side)
	first(&r.err, err)
	p.Status, err = exchange.ParsePositionStatus(f.Status)
	first(&r.err, err)
	return p, r.err
}

func writeFuturesPosition(p *exchange.Position, s *exchange.Symbol) futuresPosition {
	return futuresPosition{
		ID: whole(p.ID), Symbol: p.Symbol, Side: p.Side.String(), EntryPrice: number{p.EntryPrice.Decimal()}, Quantity: number{s.QuantityDecimal(p.Quantity)},
		RemainingQty: number{s.QuantityDecimal(p.Remaining)}, Leverage: whole(p.Leverage), UnrealizedPNL: number{p.UnrealizedPNL.Decimal()},
		RealizedPNL: number{p.RealizedPNL.Decimal()}, LiqPrice: number{p.LiqPrice.Decimal()}, Status: p.Status.String(),
		LastUpdatePrice: number{p.LastUpdatePrice.Decimal()}, ClosePrice: number{p.ClosePrice.Decimal()}, CreatedAt: whole(p.CreatedMS / 1000), UpdatedAt: whole(p.UpdatedMS / 1000),
	}
}

type leverageSetting struct {
	Symbol   string `json:"symbol"`
	Leverage whole  `json:"leverage"`
}

type marginAccount struct {
	AccountStatus      string            `json:"accountStatus"`
	TotalMaintMargin   number            `json:"totalMaintMargin"`
	TotalWalletBalance number            `json:"totalWalletBalance"`
	TotalMarginUsed    number            `json:"totalMarginUsed"`
	OrderMarginUSD     number            `json:"orderMarginUsd"`
	PositionMarginUSD  number            `json:"positionMarginUsd"`
	TotalUnrealizedPNL number            `json:"totalUnrealizedPnl"`
	AvailableBalance   number            `json:"availableBalance"`
	TotalBonus         number            `json:"totalBonus"`
	TestStatus         bool              `json:"testStatus"`
	AccountIsDemo      bool              `json:"accountIsDemo"`
	Positions          []json.RawMessage `json:"positions"`
}

func (m *marginAccount) read() (exchange.MarginAccount, error) {
	var err error
	amount := func(n number) exchange.Amount {
		a, e := readAmount(n)
		first(&err, e)
		return a
	}
	return exchange.MarginAccount{
		Status: m.AccountStatus, MaintenanceMargin: amount(m.TotalMaintMargin), WalletBalance: amount(m.TotalWalletBalance), MarginUsed: amount(m.TotalMarginUsed),
		OrderMargin: amount(m.OrderMarginUSD), PositionMargin: amount(m.PositionMarginUSD), UnrealizedPNL: amount(m.TotalUnrealizedPNL),
		AvailableBalance: amount(m.AvailableBalance), TotalBonus: amount(m.TotalBonus), TestStatus: m.TestStatus, IsDemo: m.AccountIsDemo, PositionsUndeclared: len(m.Positions),
	}, err
}

func writeMarginAccount(a *exchange.MarginAccount) marginAccount {
	text := func(a exchange.Amount) number { return number{a.Decimal()} }
	return marginAccount{
		AccountStatus: a.Status, TotalMaintMargin: text(a.MaintenanceMargin), TotalWalletBalance: text(a.WalletBalance), TotalMarginUsed: text(a.MarginUsed),
		OrderMarginUSD: text(a.OrderMargin), PositionMarginUSD: text(a.PositionMargin), TotalUnrealizedPNL: text(a.UnrealizedPNL), AvailableBalance: text(a.AvailableBalance),
		TotalBonus: text(a.TotalBonus), TestStatus: a.TestStatus, AccountIsDemo: a.IsDemo, Positions: []json.RawMessage{},
	}
}
