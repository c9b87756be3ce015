package process

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/shopspring/decimal"

	"botd/exchange"
	"botd/strategy"
)

// Types of messages.
const (
	typeHello      = "hello"
	typeCandles    = "candles"
	typeDecide     = "decide"
	typeDecideEach = "decide_each"
	typeExplain    = "explain"
	typePlan       = "plan"
	typePlans      = "plans"
	typeError      = "error"
	typeLog        = "log"
)

// Hello is the first message: it describes the strategy and where it runs. Its answer is a hello.
type Hello struct {
	Type       string           `json:"type"`
	Protocol   int              `json:"protocol"`
	Name       string           `json:"name"`
	Market     exchange.Market  `json:"market,omitzero"`
	Symbol     *SymbolJSON      `json:"symbol,omitempty"` // nil: only the parameters are requested
	Interval   string           `json:"interval,omitempty"`
	IntervalMS int64            `json:"interval_ms,omitempty"`
	TickMS     int64            `json:"tick_ms,omitempty"`
	Leverage   int              `json:"leverage,omitempty"`
	Size       SizeJSON         `json:"size"`
	Params     strategy.Values  `json:"params"`
	Columns    []string         `json:"columns,omitempty"` // the names of the available columns
	Script     *strategy.Source `json:"script,omitempty"`  // of botd's own script process; without a file, the rules are among the parameters
	MemoryMB   int64            `json:"memory_mb,omitempty"`

	received *receivedColumns // on the strategy's end
}

// SymbolJSON describes the symbol. Decimals are strings.
type SymbolJSON struct {
	Name          string          `json:"name"`
	Base          string          `json:"base"`
	Quote         string          `json:"quote"`
	PriceTick     decimal.Decimal `json:"price_tick"`
	QuantityTick  decimal.Decimal `json:"quantity_tick"`
	PriceScale    int             `json:"price_scale"`
	QuantityScale int             `json:"quantity_scale"`
	MinNotional   exchange.Amount `json:"min_notional"`
	MaxNotional   exchange.Amount `json:"max_notional"`
	FundingHours  int             `json:"funding_interval_hours,omitempty"`
}

// SizeJSON is the configured size; at most one field is set.
type SizeJSON struct {
	Equity   *exchange.Rate   `json:"equity,omitempty"`
	Quantity *decimal.Decimal `json:"quantity,omitempty"`
	Quote    *exchange.Amount `json:"quote,omitempty"`
}

// Welcome is the answer to a hello.
type Welcome struct {
	Type       string               `json:"type"`
	Protocol   int                  `json:"protocol"`
	Warmup     int                  `json:"warmup"`
	Parameters []strategy.Parameter `json:"parameters,omitempty"`
	Watch      *watchJSON           `json:"watch,omitempty"`
	Explains   bool                 `json:"explains,omitempty"` // it answers explain messages
	Columns    []string             `json:"columns,omitempty"`  // columns that it reads
	Others     []pairName           `json:"others,omitempty"`   // other symbols whose candles it reads
	Reentry    strategy.Reentry     `json:"reentry,omitempty"`  // after a stop-loss or take-profit
	Batches    bool                 `json:"batches,omitempty"`  // it answers decide_each messages
	form                            // form in which it reads candles
}

// watchJSON lists the additional data that the strategy watches.
type watchJSON struct {
	Funding bool      `json:"funding,omitempty"`
	Pair    *pairName `json:"pair,omitempty"`
	Events  bool      `json:"events,omitempty"`
	Book    bool      `json:"book,omitempty"`
	Funds   bool      `json:"funds,omitempty"`
}

type pairName struct {
	Market exchange.Market `json:"market,omitzero"`
	Symbol string          `json:"symbol"`
}

// question is a candles, a decide, a decide_each or an explain message.
type question struct {
	Type     string            `json:"type"`
	Candles  json.RawMessage   `json:"candles,omitempty"`  // rows, oldest first, in the form of the program
	Columns  []columnRow       `json:"columns,omitempty"`  // one row per candle, if the strategy reads any columns
	Others   []otherRows       `json:"others,omitempty"`   // candles of the other symbols
	View     json.RawMessage   `json:"view,omitempty"`     // view after the candles (decide_each: the first), if changed since the previous message
	Equities []exchange.Amount `json:"equities,omitempty"` // decide_each: equity at each decision, if it varies
	NowMS    int64             `json:"now_ms,omitempty"`
	Last     string            `json:"last,omitempty"`
}

// append writes the question as JSON. Its long members are already JSON, and encoding/json would
// parse them again.
func (q *question) append(text []byte) ([]byte, error) {
	short := *q
	short.Candles, short.View = nil, nil
	rest, err := json.Marshal(&short)
	if err != nil {
		return text, fmt.Errorf("write a message: %w", err)
	}
	text = append(text, rest[:len(rest)-1]...)
	if len(q.Candles) > 0 {
		text = append(append(text, `,"candles":`...), q.Candles...)
	}
	if len(q.View) > 0 {
		text = append(append(text, `,"view":`...), q.View...)
	}
	return append(text, '}'), nil
}

// answer is any message from the strategy.
type answer struct {
	Type string `json:"type"`
	Welcome
	Plan       *planJSON            `json:"plan"`
	Plans      []json.RawMessage    `json:"plans"` // of decide_each: an object, true to repeat the previous plan, or null
	Conditions []strategy.Condition `json:"conditions"`
	fault
	Level string `json:"level"`
	Text  string `json:"text"`
}

// fault describes why a strategy failed.
type fault struct {
	Message   string `json:"message,omitempty"`
	Parameter string `json:"parameter,omitempty"`
	place
}

// place is the place of a fault in a script or a rule; it is not an error itself.
type place strategy.SourceError

// Bounds of a fault, so that the answer containing it stays within its own bound.
const (
	maxMessage = 16_000 // bytes
	maxLine    = 1_000  // bytes of each trace line and each shorter text
	maxLines   = 100    // lines of a trace, and known names
)

// bound cuts texts that are too long.
func (f *fault) bound() {
	f.Message = strategy.Clip(f.Message, maxMessage)
	for _, text := range []*string{&f.Parameter, &f.File, &f.Unknown, &f.Hint} {
		*text = strategy.Clip(*text, maxLine)
	}
	for _, lines := range []*[]string{&f.Trace, &f.Known} {
		*lines = slices.Clone((*lines)[:min(len(*lines), maxLines)])
		for i, line := range *lines {
			(*lines)[i] = strategy.Clip(line, maxLine)
		}
	}
}

// faultOf splits an error into a fault.
func faultOf(err error) (f fault) {
	defer func() { f.bound() }()
	f = fault{Message: err.Error()}
	var source *strategy.SourceError
	if errors.As(err, &source) {
		f = fault{Message: source.Err.Error(), place: place(*source)}
	}
	if value, ok := errors.AsType[*strategy.ValueError](err); ok {
		f.Parameter = value.Parameter
		if source == nil {
			f.Message = value.Err.Error()
		}
	}
	return f
}

// err rebuilds the error. A trace without a position in a file follows the message.
func (f *fault) err() error {
	f.bound()
	text := f.Message
	if f.File == "" {
		for _, line := range f.Trace {
			text += "\n" + line
		}
	}
	err := errors.New(text)
	if f.File != "" {
		source := strategy.SourceError(f.place)
		source.Err = err
		err = &source
	}
	if f.Parameter != "" {
		err = &strategy.ValueError{Parameter: f.Parameter, Err: err}
	}
	return err
}

// NewHello describes the setting in which a strategy runs.
func NewHello(name string, setting *strategy.Setting, values strategy.Values) *Hello {
	h := &Hello{Type: typeHello, Protocol: Protocol, Name: name, Params: values}
	if setting == nil {
		return h
	}
	s := setting.Symbol
	h.Market, h.Interval, h.IntervalMS, h.TickMS = setting.Market, setting.Interval.String(), int64(setting.Interval), setting.TickMS
	h.Symbol = newSymbol(s)
	if setting.Columns != nil {
		h.Columns = setting.Columns.Names()
	}
	switch size := setting.Size; {
	case size.Equity != 0:
		h.Size.Equity = &size.Equity
	case size.Quantity != 0:
		h.Size.Quantity = new(s.QuantityDecimal(size.Quantity))
	case !size.Quote.IsZero():
		h.Size.Quote = &size.Quote
	}
	return h
}

func newSymbol(s *exchange.Symbol) *SymbolJSON {
	return &SymbolJSON{Name: s.Name, Base: s.Base, Quote: s.Quote, PriceTick: s.PriceDecimal(s.PriceTick),
		QuantityTick: s.QuantityDecimal(s.QuantityTick), PriceScale: s.PriceScale, QuantityScale: s.QuantityScale,
		MinNotional: s.MinNotional, MaxNotional: s.MaxNotional, FundingHours: s.FundingIntervalHours}
}

func (i *SymbolJSON) symbol(market exchange.Market) (*exchange.Symbol, error) {
	return exchange.NewSymbol(exchange.SymbolSpec{Market: market, Name: i.Name, Base: i.Base, Quote: i.Quote, PriceTick: i.PriceTick,
		QuantityTick: i.QuantityTick, PriceScale: i.PriceScale, QuantityScale: i.QuantityScale, MinNotional: i.MinNotional.Decimal(),
		MaxNotional: i.MaxNotional.Decimal(), FundingIntervalHours: i.FundingHours, Tradable: true, Cancelable: true})
}

// Setting returns the setting of the strategy for the other end.
func (h *Hello) Setting() (*strategy.Setting, error) {
	symbol, err := h.Symbol.symbol(h.Market)
	if err != nil {
		return nil, err
	}
	setting := &strategy.Setting{Market: h.Market, Symbol: symbol, Interval: exchange.Interval(h.IntervalMS), TickMS: h.TickMS}
	if h.Columns != nil {
		if h.received == nil {
			h.received = &receivedColumns{names: h.Columns}
		}
		setting.Columns = h.received
	}
	switch size := h.Size; {
	case size.Equity != nil:
		setting.Size.Equity = *size.Equity
	case size.Quantity != nil:
		if setting.Size.Quantity, err = symbol.Quantity(*size.Quantity); err != nil {
			return nil, err
		}
	case size.Quote != nil:
		setting.Size.Quote = *size.Quote
	}
	return setting, nil
}
