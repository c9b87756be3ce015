package view

import (
	"botd/runtime/engine"
)

// TickPreview is a preview of a strategy's next tick and of the round after it, by the present data,
// with the reasons. It changes nothing.
type TickPreview struct {
	Strategy   string            `json:"strategy"`
	Kind       string            `json:"kind"`
	Market     string            `json:"market"`
	Symbol     string            `json:"symbol"`
	Interval   string            `json:"interval"`
	AtMS       int64             `json:"at_ms"`
	NextMS     int64             `json:"next_tick_ms"` // 0 for none
	Data       PreviewData       `json:"data"`
	Conditions []Condition       `json:"conditions"`
	InForce    Plan              `json:"plan_in_force"`
	Plan       Plan              `json:"plan"`            // the plan after the tick
	Changes    bool              `json:"changes"`         // whether the tick would change the plan
	Latch      string            `json:"latch,omitempty"` // long | short
	Steps      []PreviewedIntent `json:"steps"`
	Blocks     []Block           `json:"blocks"`
}

// PreviewData is the data that the strategy decides on.
type PreviewData struct {
	Candles    int     `json:"candles"` // the number of processed candles
	Warmup     int     `json:"warmup"`
	Open       Decimal `json:"open,omitempty"` // the open of the newest closed candle
	High       Decimal `json:"high,omitempty"`
	Low        Decimal `json:"low,omitempty"`
	Close      Decimal `json:"close,omitempty"`
	CloseMS    int64   `json:"candle_close_ms"`
	Last       Decimal `json:"last_price"`
	LastMS     int64   `json:"last_price_ms"`
	Position   Decimal `json:"position"`
	EntryPrice Decimal `json:"entry_price"`
	Equity     Decimal `json:"equity"` // the equity of the market's account
}

// Condition is one condition that a strategy decides by.
type Condition struct {
	Name     string `json:"name"`
	Value    string `json:"value"`
	Requires string `json:"requires,omitempty" was:"wants"` // the value that it is compared with
	Met      bool   `json:"met" was:"holds"`
}

// PreviewedIntent is one intent that would be derived.
type PreviewedIntent struct {
	Purpose   string    `json:"purpose"`
	Side      string    `json:"side,omitempty"`
	Type      string    `json:"type,omitempty"`
	Quantity  Decimal   `json:"quantity,omitempty"`
	Amount    Decimal   `json:"quote_amount,omitempty"` // the USDT to spend, on spot
	Price     Decimal   `json:"price,omitempty"`
	StopPrice Decimal   `json:"stop_price,omitempty"`
	OrderID   int64     `json:"order_id,omitempty"` // the order that a cancel cancels
	Reason    string    `json:"reason,omitempty"`
	RefusedBy string    `json:"refused_by,omitempty"` // the exchange's newest refusal of the same intent, and the time of the next try
	Outcome   string    `json:"outcome"`              // approved | refused | waits
	Rule      string    `json:"rule,omitempty"`
	Checks    []Verdict `json:"checks"`
}

// Block is one thing that blocks a strategy.
type Block struct {
	What   string `json:"what"`
	Remedy string `json:"remedy" was:"way_out"`
}

// OneTickPreview is the preview of one strategy.
type OneTickPreview struct {
	Schema int `json:"schema"`
	TickPreview
}

// TickPreviewOf writes a preview of the engine.
func TickPreviewOf(o *engine.TickPreview) TickPreview {
	s := o.Symbol
	out := TickPreview{Strategy: o.Strategy, Kind: o.Kind, Market: s.Market.String(), Symbol: s.Name, Interval: o.Interval.String(), AtMS: o.NowMS,
		NextMS: o.NextMS, Changes: o.Changes, Data: PreviewData{Candles: o.Seen, Warmup: o.Warmup, CloseMS: o.CandleMS, Last: s.PriceDecimal(o.Last).String(),
			LastMS:   o.LastMS,
			Position: s.QuantityDecimal(o.Position).String(), EntryPrice: o.EntryPrice.String(), Equity: o.Equity.String()},
		InForce: planOf(&o.InForce, s, o.InForce.Remembered()), Plan: planOf(&o.Plan, s, o.Plan.Remembered()),
		Conditions: []Condition{}, Steps: []PreviewedIntent{}, Blocks: []Block{}}
	if o.CandleMS != 0 {
		c := &o.Candle
		out.Data.Open, out.Data.High = s.PriceDecimal(c.Open).String(), s.PriceDecimal(c.High).String()
		out.Data.Low, out.Data.Close = s.PriceDecimal(c.Low).String(), s.PriceDecimal(c.Close).String()
	}
	out.Latch = latchText(o.Latch)
	for _, c := range o.Conditions {
		out.Conditions = append(out.Conditions, Condition{c.Name, c.Value, c.Requires, c.Met})
	}
	for i := range o.Steps {
		out.Steps = append(out.Steps, previewedIntentOf(o, &o.Steps[i]))
	}
	for _, b := range o.Blocks {
		out.Blocks = append(out.Blocks, Block(b))
	}
	return out
}

func previewedIntentOf(o *engine.TickPreview, step *engine.PreviewedIntent) PreviewedIntent {
	in := intentOf(o.NowMS, o.Symbol, &step.Intent)
	out := PreviewedIntent{Purpose: in.Purpose, Side: in.Side, Type: in.Type, Quantity: in.Quantity, Price: in.Price, StopPrice: in.StopPrice,
		OrderID: in.OrderID, Reason: in.Reason, RefusedBy: step.RefusedBy, Outcome: "approved", Checks: verdictsOf(step.Verdicts)}
	if amount := step.Intent.Order.QuoteAmount; !amount.IsZero() {
		out.Amount, out.Quantity = amount.String(), ""
	}
	switch {
	case step.Later, step.RefusedBy != "" && step.Approved:
		out.Outcome = "waits"
	case !step.Approved:
		out.Outcome = "refused"
		for _, v := range out.Checks {
			if v.Verdict == "refused" {
				out.Rule = v.Rule
			}
		}
	}
	return out
}
