package backtest

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"time"

	"botd/exchange"
)

// Result is what a backtest found. Its JSON is the public contract: decimals are
// strings, undefined figures are null.
type Result struct {
	Schema        int           `json:"schema"`
	Strategy      string        `json:"strategy"`
	Name          string        `json:"name"`
	Market        string        `json:"market"`
	Symbol        string        `json:"symbol"`
	Interval      string        `json:"interval"`
	From          time.Time     `json:"from"`
	To            time.Time     `json:"to"`
	Candles       int           `json:"candles"`
	Fills         int           `json:"fills"`
	RoundTrips    int           `json:"round_trips"`
	Wins          int           `json:"wins"`
	InitialEquity string        `json:"initial_equity"`
	FinalEquity   string        `json:"final_equity"`
	Wallet        string        `json:"wallet"`
	TotalFees     string        `json:"total_fees"`
	TotalFunding  string        `json:"total_funding"` // net paid
	MaxDrawdown   float64       `json:"max_drawdown_pct"`
	Drawdown      *Drawdown     `json:"drawdown"` // null when equity never fell
	Sharpe        *float64      `json:"sharpe"`
	Sortino       *float64      `json:"sortino"`
	Calmar        *float64      `json:"calmar"`
	CAGR          *float64      `json:"cagr_pct"`
	ProfitFactor  *float64      `json:"profit_factor"`
	Expectancy    *string       `json:"expectancy"` // USDT a round trip
	Exposure      float64       `json:"exposure_pct"`
	Days          int           `json:"days"`          // daily returns the ratios are made of
	YearDays      int           `json:"days_per_year"` // they are annualised by
	Liquidations  int           `json:"liquidations"`
	Refusals      int           `json:"refusals"`   // intents refused by risk
	Rejections    int           `json:"rejections"` // orders refused by the exchange
	OpenPosition  *OpenPosition `json:"open_position"`
	Warnings      []string      `json:"warnings"`
	Assumptions   []string      `json:"assumptions"`
	Elapsed       float64       `json:"elapsed_s"`
	Speed         float64       `json:"candles_per_s"`
	DataSHA256    string        `json:"data_sha256"`
	Version       string        `json:"botd_version"`
	ConfigSHA256  string        `json:"config_sha256"`
	ResultSHA256  string        `json:"result_sha256"`
	Executions    []Execution   `json:"executions"`
	Trips         []TripRow     `json:"trades"`

	curve  []point
	symbol *exchange.Symbol
}

// Drawdown is when the deepest fall of equity was, by candle closes.
type Drawdown struct {
	Peak      time.Time  `json:"peak"`
	Trough    time.Time  `json:"trough"`
	Recovered *time.Time `json:"recovered"` // null: not yet
}

// OpenPosition is what is still held at the end.
type OpenPosition struct {
	Side       string `json:"side"`
	Quantity   string `json:"quantity"`
	EntryPrice string `json:"entry_price"`
}

// Execution is one fill.
type Execution struct {
	TimeMS   int64  `json:"time_ms"`
	Side     string `json:"side"`
	Price    string `json:"price"`
	Quantity string `json:"quantity"`
	Fee      string `json:"fee"`
	FeeAsset string `json:"fee_asset"`
	Role     string `json:"role"`
}

// TripRow is one round trip.
type TripRow struct {
	EnteredMS int64  `json:"entered_ms"`
	LeftMS    int64  `json:"left_ms"`
	Side      string `json:"side"`
	Quantity  string `json:"quantity"`
	Entry     string `json:"entry_price"`
	Exit      string `json:"exit_price"`
	Fees      string `json:"fees"`
	Funding   string `json:"funding"`
	PNL       string `json:"pnl"`
}

// result sums the run up. A wallet that does not add up is an error: no figure
// of such a run can be trusted.
func (r *run) result(elapsed time.Duration) (*Result, error) {
	l, c := &r.ledger, r.candles
	fees, funding, err := r.identity()
	if err != nil {
		return nil, err
	}
	n := c.Len()
	l.end(c.CloseMS(n - 1))
	result := &Result{
		Schema: 1, Strategy: r.config.Kind, Name: r.config.Strategy.Name, Market: r.symbol.Market.String(), Symbol: r.symbol.Name, Interval: c.Interval.String(),
		From: utc(c.OpenMS[0]), To: utc(c.CloseMS(n - 1)), Candles: n, Fills: len(l.fills), RoundTrips: len(l.trips),
		InitialEquity: l.initial.String(), FinalEquity: l.equity.String(), Wallet: l.wallet.String(), TotalFees: fees.String(), TotalFunding: funding.String(),
		MaxDrawdown: l.drawdown.depth * 100, Drawdown: l.drawdown.told(), Exposure: 100 * float64(l.exposed) / float64(n), YearDays: daysPerYear,
		Liquidations: l.liquidations, Refusals: l.events.refusals, Rejections: l.events.rejections,
		Elapsed: elapsed.Seconds(), Speed: float64(n) / max(elapsed.Seconds(), 1e-9), Version: r.config.Version,
		DataSHA256: r.config.Tape.SHA256, ConfigSHA256: r.config.ConfigSHA256,
		OpenPosition: r.openPosition(), Warnings: r.warnings(), Assumptions: r.assumptions(), Executions: []Execution{}, Trips: []TripRow{},
		curve: l.curve, symbol: r.symbol,
	}
	s := measure(l.daily, daysPerYear)
	s.yearly(l.initial.Float(), l.equity.Float(), yearsBetween(c.OpenMS[0], c.CloseMS(n-1)), l.drawdown.depth)
	result.Days, result.Sharpe, result.Sortino, result.CAGR, result.Calmar = s.Days, s.Sharpe, s.Sortino, s.CAGR, s.Calmar
	result.rows(l)
	return result, result.sign()
}

func utc(atMS int64) time.Time { return time.UnixMilli(atMS).UTC() }

func (d *drawdown) told() *Drawdown {
	if d.depth == 0 {
		return nil
	}
	told := &Drawdown{Peak: utc(d.fromMS), Trough: utc(d.troughMS)}
	if d.recoveredMS != 0 {
		at := utc(d.recoveredMS)
		told.Recovered = &at
	}
	return told
}

// identity checks wallet = deposits + realised - funding - fees, to the last digit.
func (r *run) identity() (fees, funding exchange.Amount, err error) {
	if r.symbol.Market == exchange.Futures {
		m := r.venue.Money(account)
		sum := m.Deposits.Add(m.Realized).Sub(m.Funding).Sub(m.Fees).Add(m.Insurance)
		if sum != m.Wallet {
			err = fmt.Errorf("the wallet does not add up: it is %s, its sum %s", m.Wallet, sum)
		}
		return m.Fees, m.Funding, err
	}
	quote, base := r.ledger.initial, exchange.Amount{}
	for i := range r.ledger.fills {
		f := &r.ledger.fills[i]
		notional, quantity := r.symbol.Notional(f.Price, f.Quantity), r.symbol.QuantityAmount(f.Quantity)
		if f.Side == exchange.Buy {
			quote, base = quote.Sub(notional), base.Add(quantity)
		} else {
			quote, base = quote.Add(notional), base.Sub(quantity)
		}
		if f.FeeAsset == r.symbol.Quote {
			quote, fees = quote.Sub(f.Fee), fees.Add(f.Fee)
		} else {
			base, fees = base.Sub(f.Fee), fees.Add(worth(r.symbol, f.Fee, f.Price))
		}
	}
	r.ledger.read()
	if quote != r.ledger.wallet || base != r.ledger.base {
		err = fmt.Errorf("the wallet does not add up: it is %s %s and %s %s, its sums %s and %s", r.ledger.wallet, r.symbol.Quote, r.ledger.base, r.symbol.Base, quote, base)
	}
	return fees, funding, err
}

func (r *run) openPosition() *OpenPosition {
	l := &r.ledger
	if r.symbol.Market == exchange.Spot {
		held := r.symbol.QuantityOf(l.base)
		if held < r.symbol.QuantityTick {
			return nil
		}
		return &OpenPosition{"LONG", l.base.String(), r.symbol.CostMean(l.open.paid, l.open.bought).String()}
	}
	p, open := r.venue.Position(account, r.symbol.Name)
	if !open {
		return nil
	}
	return &OpenPosition{p.Side.String(), r.symbol.QuantityDecimal(p.Remaining).String(), p.EntryPrice.String()}
}

func (r *Result) rows(l *ledger) {
	var won, lost float64
	var total exchange.Amount
	for i := range l.trips {
		t := &l.trips[i]
		total = total.Add(t.PNL)
		if t.PNL.Sign() > 0 {
			r.Wins++
			won += t.PNL.Float()
		} else {
			lost -= t.PNL.Float()
		}
		r.Trips = append(r.Trips, TripRow{t.EnteredMS, t.LeftMS, t.Side.String(), r.symbol.QuantityDecimal(t.Quantity).String(), t.Entry.String(), t.Exit.String(),
			t.Fees.String(), t.Funding.String(), t.PNL.String()})
	}
	if lost > 0 {
		r.ProfitFactor = finite(won / lost)
	}
	if n := len(l.trips); n > 0 {
		mean := total.Div(int64(n)).Decimal().Round(8).String()
		r.Expectancy = &mean
	}
	for i := range l.fills {
		f := &l.fills[i]
		role := "taker"
		if f.Maker {
			role = "maker"
		}
		r.Executions = append(r.Executions, Execution{f.TimeMS, f.Side.String(), r.symbol.PriceDecimal(f.Price).String(), r.symbol.QuantityDecimal(f.Quantity).String(),
			f.Fee.String(), f.FeeAsset, role})
	}
}

// sign hashes everything that must be the same in every run of the same data,
// configuration: all but how long it took, and which program took it.
func (r *Result) sign() error {
	same := *r
	same.Elapsed, same.Speed, same.Version, same.ResultSHA256 = 0, 0, "", ""
	body, err := json.Marshal(&same)
	if err != nil {
		return fmt.Errorf("hash the result: %w", err)
	}
	sum := sha256.Sum256(body)
	r.ResultSHA256 = hex.EncodeToString(sum[:])
	return nil
}
