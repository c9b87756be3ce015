package backtest

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"botd/exchange"
)

// Result is the result of a backtest. Its JSON is the public contract: decimals are strings, undefined figures are
// null.
type Result struct {
	Schema        int                 `json:"schema"`
	Strategy      string              `json:"strategy"`
	Name          string              `json:"name"`
	Market        string              `json:"market"`
	Symbol        string              `json:"symbol"` // several are joined by commas, as are the three above and the interval
	Interval      string              `json:"interval"`
	From          time.Time           `json:"from"`
	To            time.Time           `json:"to"`
	Candles       int                 `json:"candles"`
	Fills         int                 `json:"fills"`
	RoundTrips    int                 `json:"round_trips"`
	Wins          int                 `json:"wins"`
	InitialEquity string              `json:"initial_equity"`
	FinalEquity   string              `json:"final_equity"`
	Wallet        string              `json:"wallet"`
	TotalFees     string              `json:"total_fees"`
	TotalFunding  string              `json:"total_funding"`  // net paid
	TotalSlippage string              `json:"total_slippage"` // cost of fills beyond their quotes
	MaxDrawdown   float64             `json:"max_drawdown_pct"`
	Drawdown      *Drawdown           `json:"drawdown"` // null if equity never fell
	Sharpe        *float64            `json:"sharpe"`
	Sortino       *float64            `json:"sortino"`
	Calmar        *float64            `json:"calmar"`
	CAGR          *float64            `json:"cagr_pct"`
	ProfitFactor  *float64            `json:"profit_factor"`
	Expectancy    *string             `json:"expectancy"` // USDT per round trip
	Exposure      float64             `json:"exposure_pct"`
	BreakEven     *float64            `json:"break_even_slippage_pct"` // total, as a percentage of the price, that would leave no profit; null without one
	Days          int                 `json:"days"`                    // daily returns behind the ratios
	YearDays      int                 `json:"days_per_year"`           // for annualization
	Liquidations  int                 `json:"liquidations"`
	Refusals      int                 `json:"refusals"`   // intents refused by risk
	Rejections    int                 `json:"rejections"` // orders refused by the exchange
	Figures       Figures             `json:"figures"`
	Metrics       map[string]*float64 `json:"metrics"` // by name, of daily equity compared with holding; null where undefined
	Orders        OrderCounts         `json:"orders"`
	EndedBy       *EndedBy            `json:"ended_by"`          // null: the last candle
	NotTraded     []NotTraded         `json:"not_traded"`        // desired trades that did not happen
	Notices       *Notices            `json:"notices,omitempty"` // of strategies, to people
	OpenPosition  *OpenPosition       `json:"open_position"`
	OpenPositions []*OpenPosition     `json:"open_positions"`
	BySymbol      []SymbolRow         `json:"symbols"`
	ByEntry       []ReasonRow         `json:"entry_reasons"`
	ByExit        []ReasonRow         `json:"exit_reasons"`
	Finals        *Finals             `json:"columns,omitempty"`
	Ordered       *bool               `json:"bounds_ordered,omitempty"` // ideal >= realistic >= pessimistic
	Columns       []Column            `json:"cost_columns,omitempty"`
	Study         *Study              `json:"study,omitempty"`
	Warnings      []Warning           `json:"warnings"`
	Assumptions   []string            `json:"assumptions"`
	Elapsed       float64             `json:"elapsed_s"`
	Speed         float64             `json:"candles_per_s"`
	Machine       string              `json:"machine,omitempty"` // direct, or engine and why
	DataSHA256    string              `json:"data_sha256"`
	Version       string              `json:"botd_version"`
	ConfigSHA256  string              `json:"config_sha256"`
	ResultSHA256  string              `json:"result_sha256"`
	Inputs        *Inputs             `json:"inputs,omitempty"`
	Executions    []Execution         `json:"executions"`
	Trips         []TripRow           `json:"trades"`

	repriced   exchange.Amount // final equity of these executions at the pessimistic costs
	unburdened exchange.Amount // the same without costs
	curve      []Point
	days       sampler
	levels     []Level
}

// Curve returns equity at the candles' closes, thinned out in a long run. A result read from a file has none.
func (r *Result) Curve() []Point { return r.curve }

// Daily returns equity at each UTC midnight, starting with the first one in the run.
func (r *Result) Daily() (firstMS int64, equity []float64) { return r.days.firstMS, r.days.values }

// Levels returns the stops and targets that stood, in order of time.
func (r *Result) Levels() []Level { return r.levels }

// Drawdown is a drawdown of equity, by candle closes.
type Drawdown struct {
	Depth     float64    `json:"depth_pct"`
	Peak      time.Time  `json:"peak"`
	Trough    time.Time  `json:"trough"`
	Recovered *time.Time `json:"recovered"` // null: not yet recovered
}

// OpenPosition is a position that is open at the end.
type OpenPosition struct {
	Symbol     string `json:"symbol"`
	Side       string `json:"side"`
	Quantity   string `json:"quantity"`
	EntryPrice string `json:"entry_price"`
}

// Execution is one fill.
type Execution struct {
	TimeMS   int64  `json:"time_ms"`
	Symbol   string `json:"symbol"`
	Side     string `json:"side"`
	Price    string `json:"price"`
	Quantity string `json:"quantity"`
	Fee      string `json:"fee"`
	FeeAsset string `json:"fee_asset"`
	Role     string `json:"role"`
	Slippage string `json:"slippage"`
	Purpose  string `json:"purpose"`
}

// TripRow is one round trip.
type TripRow struct {
	Symbol      string  `json:"symbol"`
	Strategy    string  `json:"strategy"`
	EnteredMS   int64   `json:"entered_ms"`
	LeftMS      int64   `json:"left_ms"`
	Side        string  `json:"side"`
	Quantity    string  `json:"quantity"`
	Entry       string  `json:"entry_price"`
	Exit        string  `json:"exit_price"`
	Fees        string  `json:"fees"`
	Funding     string  `json:"funding"`
	Slippage    string  `json:"slippage"`
	PNL         string  `json:"pnl"`
	Adverse     float64 `json:"mae_pct"` // adverse excursion as a percentage of the entry price
	Favorable   float64 `json:"mfe_pct"`
	EntryReason string  `json:"entry_reason"`
	ExitPurpose string  `json:"exit_purpose"` // exit, exit_order, stop_loss, take_profit, liquidation
	ExitReason  string  `json:"exit_reason"`
}

// result summarizes the run. A wallet that does not add up is an error, since no figure of such a run is reliable.
func (r *run) result(elapsed time.Duration) (*Result, error) {
	l := &r.ledger
	l.value(r.nowMS, true)
	fees, funding, err := r.identity()
	if err != nil {
		return nil, err
	}
	l.end(r.nowMS)
	deepest := l.drawdowns.deepest()
	fromMS, candles := int64(never), 0
	for i := range r.legs {
		fromMS, candles = min(fromMS, r.legs[i].candles.OpenMS[0]), candles+r.legs[i].candles.Len()
	}
	result := &Result{
		Schema: 1, Strategy: r.joined(func(l *leg) string { return l.config.Kind }), Name: r.joined(func(l *leg) string { return l.config.Strategy.Name }),
		Market: r.joined(func(l *leg) string { return l.symbol.Market.String() }), Symbol: r.joined(func(l *leg) string { return l.symbol.Name }),
		Interval: r.joined(func(l *leg) string { return l.candles.Interval.String() }),
		From:     utc(fromMS), To: utc(r.nowMS), Candles: candles, Fills: len(l.fills), RoundTrips: len(l.trips),
		InitialEquity: l.initial.String(), FinalEquity: l.equity.String(), Wallet: l.wallet.String(), TotalFees: fees.String(), TotalFunding: funding.String(),
		TotalSlippage: l.slipped.String(), MaxDrawdown: float64(deepest.depth * 100), Drawdown: deepest.figure(),
		Exposure: 100 * float64(l.exposed) / float64(l.slots), YearDays: daysPerYear,
		Liquidations: l.liquidations, Refusals: total(l.events.refused), Rejections: total(l.events.rejected), Orders: l.events.closed(),
		EndedBy: r.endedBy(), NotTraded: r.notTraded(), Notices: r.ledger.events.notices, BreakEven: r.breakEven(),
		Elapsed: elapsed.Seconds(), Speed: float64(candles) / max(elapsed.Seconds(), 1e-9), Version: r.config.Version, Inputs: r.config.Inputs,
		Machine:    r.machineName(),
		DataSHA256: r.dataSHA(), ConfigSHA256: r.config.ConfigSHA256, Warnings: r.warnings(), Assumptions: r.assumptions(),
		OpenPositions: []*OpenPosition{}, Executions: []Execution{}, Trips: []TripRow{},
		curve: l.curve, levels: l.events.levels, days: l.days,
	}
	if !r.config.auxiliary { // only for the realistic column
		result.repriced, result.unburdened = r.repriced(r.config.Costs.pessimistic()), r.unburdened(funding)
	}
	for i := range r.legs {
		if p := r.openPosition(&r.legs[i]); p != nil {
			result.OpenPositions = append(result.OpenPositions, p)
			result.OpenPosition = result.OpenPositions[0]
		}
	}
	result.Figures = r.figures(fromMS)
	result.Metrics = Measure(l.days.firstMS, l.days.values, r.bench(), r.config.RiskFree.Float())
	s := &result.Figures.Daily
	result.Days, result.Sharpe, result.Sortino = s.Returns, s.Sharpe, s.Sortino
	result.CAGR, result.Calmar = yearlyGrowth(l.initial.Float(), l.equity.Float(), yearsBetween(fromMS, r.nowMS), deepest.depth)
	if result.CAGR != nil && s.Ulcer != nil && *s.Ulcer > 0 {
		s.UPI = finite(*result.CAGR / *s.Ulcer)
	}
	result.count(r)
	result.BySymbol, result.ByEntry, result.ByExit = r.bySymbol(), r.byReason(l.entryReason), r.byReason(l.exitReason)
	if r.config.FiguresOnly {
		return result, nil
	}
	if err := result.signRows(r); err != nil || r.config.auxiliary {
		return result, err
	}
	result.rows(r)
	return result, nil
}

// joined lists the distinct words of the legs in order.
func (r *run) joined(of func(*leg) string) string {
	var words []string
	for i := range r.legs {
		if word := of(&r.legs[i]); !slices.Contains(words, word) {
			words = append(words, word)
		}
	}
	return strings.Join(words, ",")
}

// dataSHA returns the hash of the file of one series, or for several the hash of their hashes.
func (r *run) dataSHA() string {
	if len(r.legs) == 1 {
		return r.legs[0].config.Tape.SHA256
	}
	hash := sha256.New()
	for i := range r.legs {
		fmt.Fprintln(hash, r.legs[i].key, r.legs[i].config.Tape.SHA256)
	}
	return hex.EncodeToString(hash.Sum(nil))
}

func utc(atMS int64) time.Time { return time.UnixMilli(atMS).UTC() }

func (f *drawdown) figure() *Drawdown {
	if f.depth == 0 {
		return nil
	}
	out := &Drawdown{Depth: float64(f.depth * 100), Peak: utc(f.fromMS), Trough: utc(f.troughMS)}
	if f.recoveredMS != 0 {
		out.Recovered = new(utc(f.recoveredMS))
	}
	return out
}

// identity checks wallet = deposits + realized - funding - fees, to the last digit, on every traded market.
func (r *run) identity() (fees, funding exchange.Amount, err error) {
	if r.ledger.futures {
		m := r.venue.Money(account)
		sum := m.Deposits.Add(m.Realized).Sub(m.Funding).Sub(m.Fees).Add(m.Insurance)
		if sum != m.Wallet {
			return fees, funding, fmt.Errorf("the wallet does not add up: it is %s, its sum %s", m.Wallet, sum)
		}
		fees, funding = m.Fees, m.Funding
	}
	if r.ledger.spot == "" {
		return fees, funding, nil
	}
	quote, bases := r.config.Cash, make([]exchange.Amount, len(r.legs))
	for i := range r.ledger.fills {
		f := &r.ledger.fills[i]
		symbol, base := r.legs[f.leg].symbol, &bases[f.leg]
		if symbol.Market != exchange.Spot {
			continue
		}
		notional, quantity := symbol.Notional(f.Price, f.Quantity), symbol.QuantityAmount(f.Quantity)
		if f.Side == exchange.Buy {
			quote, *base = quote.Sub(notional), base.Add(quantity)
		} else {
			quote, *base = quote.Add(notional), base.Sub(quantity)
		}
		if !f.InBase {
			quote, fees = quote.Sub(f.Fee), fees.Add(f.Fee)
		} else {
			*base, fees = base.Sub(f.Fee), fees.Add(worth(symbol, f.Fee, f.Price))
		}
	}
	free, frozen := r.venue.Balance(account, r.ledger.spot)
	if has := free.Add(frozen); has != quote {
		return fees, funding, fmt.Errorf("the wallet does not add up: it is %s %s, its sum %s", has, r.ledger.spot, quote)
	}
	for i := range r.legs {
		if leg := &r.legs[i]; leg.held.base != bases[i] {
			return fees, funding, fmt.Errorf("the wallet does not add up: it is %s %s, its sum %s", leg.held.base, leg.symbol.Base, bases[i])
		}
	}
	return fees, funding, nil
}

func (r *run) openPosition(l *leg) *OpenPosition {
	if l.symbol.Market == exchange.Spot {
		held := l.symbol.QuantityOf(l.held.base)
		if held < l.symbol.QuantityTick {
			return nil
		}
		entry, _ := l.held.open.pair.Prices()
		return &OpenPosition{l.symbol.Name, "LONG", l.held.base.String(), entry.String()}
	}
	p, open := r.venue.Position(account, l.symbol.Name)
	if !open {
		return nil
	}
	return &OpenPosition{l.symbol.Name, p.Side.String(), l.symbol.QuantityDecimal(p.Remaining).String(), p.EntryPrice.String()}
}

// sign hashes everything that must be equal in every run of the same data and configuration. It omits the duration,
// the program's version, the paths, other runs (the columns, which have their own signatures, and the study), and the
// sentences that explain the figures: of a warning it covers the code, and of suppressed trades the counts.
func (r *Result) sign() error {
	body, err := r.signed()
	if err != nil {
		return err
	}
	sum := sha256.Sum256(body)
	r.ResultSHA256 = hex.EncodeToString(sum[:])
	return nil
}

// signed returns the content to hash.
func (r *Result) signed() ([]byte, error) {
	same := *r
	same.Elapsed, same.Speed, same.Version, same.ResultSHA256, same.Inputs, same.Columns, same.Study = 0, 0, "", "", nil, nil, nil
	same.Finals, same.Ordered, same.Machine = nil, nil, ""
	same.Warnings, same.Assumptions = []Warning{}, nil
	for _, w := range r.Warnings {
		if !w.aboutOtherRuns() {
			same.Warnings = append(same.Warnings, Warning{Code: w.Code})
		}
	}
	same.NotTraded = slices.Clone(r.NotTraded)
	for i := range same.NotTraded {
		same.NotTraded[i].Reason, same.NotTraded[i].First = "", ""
	}
	if r.EndedBy != nil {
		same.EndedBy = &EndedBy{Limit: r.EndedBy.Limit, Time: r.EndedBy.Time, Strategy: r.EndedBy.Strategy}
	}
	body, err := json.Marshal(&same)
	if err != nil {
		return nil, fmt.Errorf("hash the result: %w", err)
	}
	return body, nil
}
