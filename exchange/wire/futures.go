package wire

import (
	"cmp"
	"encoding/json"
	"fmt"
	"math"
	"strings"

	"botd/exchange"
)

// The futures records of the interface (Resources and their fields).

type futuresSymbol struct {
	Symbol               string `json:"symbol"`
	BaseAsset            string `json:"baseAsset"`
	QuoteAsset           string `json:"quoteAsset"`
	QuantityTick         plain  `json:"quantityTick"`
	PriceTick            plain  `json:"priceTick"`
	MinNotional          plain  `json:"minNotional"`
	MaxNotional          plain  `json:"maxNotional"`
	IsTrade              flag   `json:"isTrade"`
	IsReduceOnly         flag   `json:"isReduceOnly"`
	IsCancelOrder        flag   `json:"isCancelOrder"`
	FundingRateCap       plain  `json:"adjustedFundingRateCap"`
	FundingRateFloor     plain  `json:"adjustedFundingRateFloor"`
	FundingIntervalHours whole  `json:"fundingIntervalHours"`
}

func (f *futuresSymbol) read() (*exchange.Symbol, error) {
	base, quote := currencies(f.Symbol, f.BaseAsset, f.QuoteAsset)
	return exchange.NewSymbol(exchange.SymbolSpec{
		Market: exchange.Futures, Name: f.Symbol, Base: base, Quote: quote,
		PriceTick: f.PriceTick.Decimal, QuantityTick: f.QuantityTick.Decimal, MinNotional: f.MinNotional.Decimal, MaxNotional: f.MaxNotional.Decimal,
		Tradable: bool(f.IsTrade), ReduceOnly: bool(f.IsReduceOnly), Cancelable: bool(f.IsCancelOrder),
		FundingCap: f.FundingRateCap.Round(8), FundingFloor: f.FundingRateFloor.Round(8), FundingIntervalHours: int(f.FundingIntervalHours),
	})
}

// currencies derives missing assets from the symbol's name, BASE-QUOTE.
func currencies(name, base, quote string) (string, string) {
	first, second, _ := strings.Cut(name, "-")
	return cmp.Or(base, first), cmp.Or(quote, second)
}

func writeFuturesSymbol(s *exchange.Symbol) futuresSymbol {
	return futuresSymbol{
		Symbol: s.Name, BaseAsset: s.Base, QuoteAsset: s.Quote, QuantityTick: plainOf(s.QuantityDecimal(s.QuantityTick)),
		PriceTick:   plainOf(s.PriceDecimal(s.PriceTick)),
		MinNotional: plainOf(s.MinNotional.Decimal()), MaxNotional: plainOf(s.MaxNotional.Decimal()), IsTrade: flag(s.Tradable),
		IsReduceOnly: flag(s.ReduceOnly), IsCancelOrder: flag(s.Cancelable),
		FundingRateCap: plainOf(s.FundingCap.Decimal()), FundingRateFloor: plainOf(s.FundingFloor.Decimal()),
		FundingIntervalHours: whole(s.FundingIntervalHours),
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

func (f *futuresTicker) read(r reader) (exchange.Ticker, error) {
	r.need("lastPrice", f.LastPrice.given)
	return exchange.Ticker{
		Symbol: f.Symbol, Last: r.price("lastPrice", f.LastPrice), Bid: r.price("bidPrice", f.BidPrice), Ask: r.price("askPrice", f.AskPrice),
		Open: r.price("openPrice", f.OpenPrice), High: r.price("highPrice", f.HighPrice), Low: r.price("lowPrice", f.LowPrice),
		Change: r.price("priceChange", f.PriceChange), ChangePercent: f.PriceChangePercent.InexactFloat64(),
		Volume: f.Volume.InexactFloat64(), QuoteVolume: f.QuoteVolume.InexactFloat64(),
		OpenMS: int64(f.OpenTime), CloseMS: int64(f.CloseTime), Count: int64(f.Count),
	}, r.err
}

func writeFuturesTicker(t *exchange.Ticker, s *exchange.Symbol) futuresTicker {
	price := func(p exchange.Price) number { return numberOf(s.PriceDecimal(p)) }
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
	BuyerIsMaker flag   `json:"isBuyerMaker"`
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

func (f *marginLevel) read() (exchange.SymbolBracket, error) {
	var r reader
	r.need("symbol", f.Symbol != "")
	r.need("max", f.Max.given)
	r.need("marginRatio", f.MarginRatio.given)
	r.need("maxLeverage", f.MaxLeverage >= 1 && f.MaxLeverage <= math.MaxInt32)
	return exchange.SymbolBracket{Symbol: f.Symbol, Bracket: exchange.Bracket{
		Min: r.amount("min", f.Min), Max: r.amount("max", f.Max), MarginRatio: r.rate("marginRatio", f.MarginRatio),
		MarginAmount: r.amount("marginAmount", f.MarginAmount), MaxLeverage: int(f.MaxLeverage),
	}}, r.err
}

type futuresOrder struct {
	ID              whole   `json:"id"`
	ClientOrderID   string  `json:"client_order_id"`
	Symbol          string  `json:"symbol"`
	Side            string  `json:"side"`
	Type            string  `json:"type"`
	Price           number  `json:"price"`
	StopPrice       number  `json:"stopPrice"`
	Quantity        number  `json:"quantity"`
	Filled          number  `json:"filled"`
	Status          string  `json:"status"`
	WorkingType     string  `json:"workingType"`
	ClosePosition   flag    `json:"closePosition"`
	ClosePositionID whole   `json:"closePositionId"`
	CreatedAt       seconds `json:"createdAt"`
	PostOnly        flag    `json:"postOnly"`
}

func (f *futuresOrder) read(r reader) (exchange.Order, error) {
	r.need("id", f.ID > 0)
	r.need("quantity", f.Quantity.given)
	r.need("filled", f.Filled.given)
	o := exchange.Order{
		ID: int64(f.ID), ClientOrderID: f.ClientOrderID, Market: exchange.Futures, Symbol: f.Symbol,
		Price: r.price("price", f.Price), StopPrice: r.price("stopPrice", f.StopPrice),
		Quantity: r.quantity("quantity", f.Quantity), Filled: r.quantity("filled", f.Filled),
		ClosePosition: bool(f.ClosePosition), ClosePositionID: int64(f.ClosePositionID), PostOnly: bool(f.PostOnly), CreatedMS: f.CreatedAt.ms(),
	}
	r.words(&o, f.Side, f.Type, f.Status)
	var err error
	o.WorkingType, err = exchange.ParseWorkingType(f.WorkingType)
	r.note(err)
	return o, r.err
}

// words reads the enumerations shared by orders of both markets.
func (r *reader) words(o *exchange.Order, side, kind, status string) {
	var err error
	o.Side, err = exchange.ParseSide(side)
	r.note(err)
	o.Type, err = exchange.ParseOrderType(kind)
	r.note(err)
	o.Status, err = r.profile.orderStatus(o.Market, status)
	r.note(err)
}

// orderStatus reads a status of the interface, a word that the profile maps to one, or a word that
// other venues use for one, because the interface leaves some states unnamed (States and
// transitions). Any other word is an error, because the status determines whether fills can follow.
func (p *Profile) orderStatus(market exchange.Market, text string) (exchange.OrderStatus, error) {
	if p != nil {
		if status, named := p.StatusWords[market][text]; named {
			return status, nil
		}
	}
	switch text {
	case "CANCELLED", "EXPIRED":
		return exchange.StatusCanceled, nil
	case "PARTIALLY_FILLED", "TRIGGERED", "ACTIVATED":
		return exchange.StatusOpen, nil
	case "PENDING_CANCEL", "PRE_CANCELLED":
		return exchange.StatusPreCanceled, nil
	}
	return exchange.ParseOrderStatus(text)
}

func writeFuturesOrder(o *exchange.Order, s *exchange.Symbol) futuresOrder {
	return futuresOrder{
		ID: whole(o.ID), ClientOrderID: o.ClientOrderID, Symbol: o.Symbol, Side: o.Side.String(), Type: o.Type.String(),
		Price: numberOf(s.PriceDecimal(o.Price)), StopPrice: numberOf(s.PriceDecimal(o.StopPrice)), Quantity: numberOf(s.QuantityDecimal(o.Quantity)),
		Filled: numberOf(s.QuantityDecimal(o.Filled)), Status: o.Status.String(), WorkingType: o.WorkingType.String(), ClosePosition: flag(o.ClosePosition),
		ClosePositionID: whole(o.ClosePositionID), CreatedAt: secondsOf(o.CreatedMS), PostOnly: flag(o.PostOnly),
	}
}

type futuresPosition struct {
	ID              whole   `json:"id"`
	Symbol          string  `json:"symbol"`
	Side            string  `json:"side"`
	EntryPrice      number  `json:"entryPrice"`
	Quantity        number  `json:"quantity"`
	RemainingQty    number  `json:"remainingQty"`
	Leverage        whole   `json:"leverage"`
	UnrealizedPNL   number  `json:"unrealizedPNL"`
	RealizedPNL     number  `json:"realizedPNL"`
	LiqPrice        number  `json:"liqPrice"`
	Status          string  `json:"status"`
	LastUpdatePrice number  `json:"lastUpdatePrice"`
	ClosePrice      number  `json:"closePrice"`
	CreatedAt       seconds `json:"createdAt"`
	UpdatedAt       seconds `json:"updatedAt"`
}

// read reads a position. unnamed is the status of a position whose status word the interface does
// not define (Futures position statuses).
func (f *futuresPosition) read(r reader, unnamed exchange.PositionStatus) (exchange.Position, error) {
	r.need("quantity", f.Quantity.given)
	r.need("remainingQty", f.RemainingQty.given)
	r.need("entryPrice", f.EntryPrice.given)
	p := exchange.Position{
		ID: int64(f.ID), Symbol: f.Symbol, EntryPrice: r.amount("entryPrice", f.EntryPrice),
		Quantity: r.quantity("quantity", f.Quantity), Remaining: r.quantity("remainingQty", f.RemainingQty),
		Leverage: int(f.Leverage), UnrealizedPNL: r.amount("unrealizedPNL", f.UnrealizedPNL), RealizedPNL: r.amount("realizedPNL", f.RealizedPNL),
		LiqPrice: r.amount("liqPrice", f.LiqPrice), LastUpdatePrice: r.amount("lastUpdatePrice", f.LastUpdatePrice),
		ClosePrice: r.amount("closePrice", f.ClosePrice), CreatedMS: f.CreatedAt.ms(), UpdatedMS: f.UpdatedAt.ms(),
	}
	var err error
	p.Side, err = exchange.ParsePositionSide(f.Side)
	r.note(err)
	if p.Status, err = exchange.ParsePositionStatus(f.Status); err != nil {
		p.Status = unnamed
	}
	return p, r.err
}

func writeFuturesPosition(p *exchange.Position, s *exchange.Symbol) futuresPosition {
	return futuresPosition{
		ID: whole(p.ID), Symbol: p.Symbol, Side: p.Side.String(), EntryPrice: numberOf(p.EntryPrice.Decimal()),
		Quantity:     numberOf(s.QuantityDecimal(p.Quantity)),
		RemainingQty: numberOf(s.QuantityDecimal(p.Remaining)), Leverage: whole(p.Leverage), UnrealizedPNL: numberOf(p.UnrealizedPNL.Decimal()),
		RealizedPNL: numberOf(p.RealizedPNL.Decimal()), LiqPrice: numberOf(p.LiqPrice.Decimal()), Status: p.Status.String(),
		LastUpdatePrice: numberOf(p.LastUpdatePrice.Decimal()), ClosePrice: numberOf(p.ClosePrice.Decimal()), CreatedAt: secondsOf(p.CreatedMS),
		UpdatedAt: secondsOf(p.UpdatedMS),
	}
}

type leverageSetting struct {
	Symbol   string `json:"symbol"`
	Leverage whole  `json:"leverage"`
}

func (f *leverageSetting) read() (exchange.LeverageSetting, error) {
	if f.Symbol == "" || f.Leverage < 1 || f.Leverage > math.MaxInt32 {
		return exchange.LeverageSetting{}, fmt.Errorf("leverage %d of symbol %q", f.Leverage, f.Symbol)
	}
	return exchange.LeverageSetting{Symbol: f.Symbol, Leverage: int(f.Leverage)}, nil
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
	TestStatus         flag              `json:"testStatus"`
	AccountIsDemo      flag              `json:"accountIsDemo"`
	Positions          []json.RawMessage `json:"positions"`
}

func (m *marginAccount) read() (exchange.MarginAccount, error) {
	var r reader
	r.need("totalWalletBalance", m.TotalWalletBalance.given)
	r.need("availableBalance", m.AvailableBalance.given)
	return exchange.MarginAccount{
		Status: m.AccountStatus, MaintenanceMargin: r.amount("totalMaintMargin", m.TotalMaintMargin),
		WalletBalance: r.amount("totalWalletBalance", m.TotalWalletBalance),
		MarginUsed:    r.amount("totalMarginUsed", m.TotalMarginUsed), OrderMargin: r.amount("orderMarginUsd", m.OrderMarginUSD),
		PositionMargin: r.amount("positionMarginUsd", m.PositionMarginUSD), UnrealizedPNL: r.amount("totalUnrealizedPnl", m.TotalUnrealizedPNL),
		AvailableBalance: r.amount("availableBalance", m.AvailableBalance), TotalBonus: r.amount("totalBonus", m.TotalBonus),
		TestStatus: bool(m.TestStatus), IsDemo: bool(m.AccountIsDemo), PositionsUndeclared: len(m.Positions),
	}, r.err
}

func writeMarginAccount(a *exchange.MarginAccount) marginAccount {
	text := func(a exchange.Amount) number { return numberOf(a.Decimal()) }
	return marginAccount{
		AccountStatus: a.Status, TotalMaintMargin: text(a.MaintenanceMargin), TotalWalletBalance: text(a.WalletBalance), TotalMarginUsed: text(a.MarginUsed),
		OrderMarginUSD: text(a.OrderMargin), PositionMarginUSD: text(a.PositionMargin), TotalUnrealizedPNL: text(a.UnrealizedPNL),
		AvailableBalance: text(a.AvailableBalance),
		TotalBonus:       text(a.TotalBonus), TestStatus: flag(a.TestStatus), AccountIsDemo: flag(a.IsDemo), Positions: []json.RawMessage{},
	}
}
