package tape

import (
	"strings"

	"github.com/shopspring/decimal"

	"botd/exchange"
)

// SymbolRecord is a symbol in the form that LoadSymbols reads, also from JSON.
type SymbolRecord struct {
	Symbol        string          `json:"symbol"`
	Market        string          `json:"market"`
	Base          string          `json:"base"`
	Quote         string          `json:"quote"`
	PriceTick     decimal.Decimal `json:"priceTick"`
	QuantityTick  decimal.Decimal `json:"quantityTick"`
	MinNotional   decimal.Decimal `json:"minNotional"`
	MaxNotional   decimal.Decimal `json:"maxNotional"`
	Tradable      bool            `json:"isTrade"`
	ReduceOnly    bool            `json:"isReduceOnly"`
	Cancelable    bool            `json:"isCancelOrder"`
	FundingCap    decimal.Decimal `json:"adjustedFundingRateCap"`
	FundingFloor  decimal.Decimal `json:"adjustedFundingRateFloor"`
	FundingHours  int             `json:"fundingIntervalHours,omitempty"`
	OrderTypes    string          `json:"orderTypes,omitempty"` // comma-separated
	MarginRecords []MarginRecord  `json:"brackets,omitempty"`
}

// MarginRecord is a margin level of a symbol's record.
type MarginRecord struct {
	Min          decimal.Decimal `json:"min"`
	Max          decimal.Decimal `json:"max"`
	MarginRatio  decimal.Decimal `json:"marginRatio"`
	MarginAmount decimal.Decimal `json:"marginAmount"`
	MaxLeverage  int             `json:"maxLeverage"`
}

// RecordOf returns the record of a symbol.
func RecordOf(s *exchange.Symbol) SymbolRecord {
	r := SymbolRecord{Symbol: s.Name, Market: s.Market.String(), Base: s.Base, Quote: s.Quote, PriceTick: s.PriceDecimal(s.PriceTick),
		QuantityTick: s.QuantityDecimal(s.QuantityTick), MinNotional: s.MinNotional.Decimal(), MaxNotional: s.MaxNotional.Decimal(),
		Tradable: s.Tradable, ReduceOnly: s.ReduceOnly, Cancelable: s.Cancelable, FundingCap: s.FundingCap.Decimal(),
		FundingFloor: s.FundingFloor.Decimal(), FundingHours: s.FundingIntervalHours}
	var types []string
	for _, t := range s.OrderTypes {
		types = append(types, t.String())
	}
	r.OrderTypes = strings.Join(types, ",")
	for _, b := range s.Brackets {
		r.MarginRecords = append(r.MarginRecords, MarginRecord{b.Min.Decimal(), b.Max.Decimal(), b.MarginRatio.Decimal(), b.MarginAmount.Decimal(),
			b.MaxLeverage})
	}
	return r
}
