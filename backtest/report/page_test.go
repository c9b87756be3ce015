package report

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"botd/backtest"
)

func ptr[T any](value T) *T { return &value }

func at(text string) time.Time {
	t, err := time.Parse("2006-01-02 15:04", text)
	if err != nil {
		panic(err)
	}
	return t
}

// made is an invented result in round numbers.
func made() *backtest.Result {
	fall := backtest.Drawdown{Depth: 10, Peak: at("2024-02-01 00:00"), Trough: at("2024-02-03 12:00"), Recovered: ptr(at("2024-02-11 12:00"))}
	open := backtest.Drawdown{Depth: 5, Peak: at("2024-06-20 00:00"), Trough: at("2024-06-21 06:00")}
	return &backtest.Result{Name: "trend", Market: "futures", InitialEquity: "1000", FinalEquity: "1250.5", From: at("2024-01-01 00:00"),
		To: at("2024-07-01 00:00"), TotalFees: "40", TotalSlippage: "12.5", TotalFunding: "-3", MaxDrawdown: 10, Drawdown: &fall, Days: 181, YearDays: 365,
		RoundTrips: 1_203, Wins: 703, Sharpe: ptr(1.5), CAGR: ptr(56.78), Exposure: 42.5, Expectancy: ptr("0.2"), Fills: 2_406,
		Figures: backtest.Figures{Gross: "300", FeeDrag: ptr(13.333), FundingDrag: ptr(250.0), Turnover: ptr(12.34), Leverage: 0.8, RiskFree: "0.02",
			BuyAndHold: ptr(-7.5), Drawdowns: []backtest.Drawdown{fall, open}, LongestDrawdown: &fall,
			Trips: backtest.TripFigures{WinRate: ptr(58.44), Payoff: ptr(1.2), SQNTrips: 100, LongestWins: 5, LongestLosses: 4,
				Holding: &backtest.Spread{Tenth: 60, Median: 5_400, Ninth: 93_600}, Adverse: &backtest.Spread{Median: 1.25, Ninth: 3},
				Favorable: &backtest.Spread{Median: 2.5, Ninth: 7}}}}
}

func TestTheVerdictIsInTheResultsNumbers(t *testing.T) {
	t.Parallel()
	r := made()
	const profit = "1,000.00 USDT became 1,250.50 (+25.05 %) in 182 d"
	for _, c := range []struct {
		want   string
		change func()
	}{
		{profit + "; at the worst, on 2024-02-03, equity was 10.00 % below its peak. Buying and holding would have made −7.50 %.", func() {}},
		{profit + ". Buying and holding would have made −7.50 %.", func() { r.Drawdown = nil }},
		{profit + ".", func() { r.Figures.BuyAndHold = nil }},
		{"0.00 USDT became 1,250.50 in 182 d.", func() { r.InitialEquity = "0" }},
	} {
		if c.change(); verdict(r) != c.want {
			t.Errorf("want %s\nhave %s", c.want, verdict(r))
		}
	}
}

// words lists the figures of a list: name, value, note and tone.
func words(figures []figure) (all []string) {
	for _, f := range figures {
		all = append(all, strings.Trim(f.Name+": "+f.Value+"; "+f.Note+"; "+f.Tone, "; "))
	}
	return all
}

func TestTheFirstFigures(t *testing.T) {
	t.Parallel()
	r := made()
	want := []string{"Profit: +25.05 %; +250.50 USDT; up", "CAGR: +56.78 %; 182 d; up", "Max drawdown: 10.00 %; 2024-02-01 to 2024-02-03; down",
		"Sharpe: 1.50; N = 181 days, P = 365; up", "Sortino: –; N = 181 days, P = 365", "Calmar: –", "Profit factor: –",
		"Round trips: 1,203; 703 won, 500 lost", "Win rate: 58.44 %; payoff 1.20", "In the market: 42.50 %; mean leverage 0.80",
		"Break-even slippage: –; of the price, each fill", "Buy and hold: −7.50 %; ; down"}
	if diff := cmp.Diff(want, words(tiles(r))); diff != "" {
		t.Error(diff)
	}
	r.Drawdown, r.InitialEquity = nil, "0"
	if have := words(tiles(r)); have[0] != "Profit: –; +1,250.50 USDT" || have[2] != "Max drawdown: 10.00 %; equity never fell; down" {
		t.Errorf("without money and without a drawdown: have %v", have)
	}
	r.InitialEquity = "-5"
	if changeOf(r) != nil {
		t.Error("of less than nothing: want no change")
	}
	r.FinalEquity = ""
	if have := difference(r); have != "" {
		t.Errorf("want no difference, have %s", have)
	}
	if r.InitialEquity = ""; difference(r) != "" {
		t.Error("want no difference")
	}
}

// group returns the group with that name, or with a name that starts so.
func group(t *testing.T, r *backtest.Result, name string) []string {
	t.Helper()
	for _, g := range groups(r) {
		if strings.HasPrefix(g.Name, name) {
			return append([]string{g.Name}, words(g.Figures)...)
		}
	}
	return nil
}

func TestTheGroupsOfFigures(t *testing.T) {
	t.Parallel()
	r := made()
	trips := group(t, r, "Round trips")
	if diff := cmp.Diff([]string{"Held: 1 h 30 min; 1 min to 1 d 2 h", "MAE: 1.25 %; nine tenths 3.00 %", "MFE: 2.50 %; nine tenths 7.00 %"},
		trips[len(trips)-3:]); diff != "" {
		t.Error(diff)
	}
	if !slices.Contains(trips, "SQN: –; as if of 100 trips, not 1203: capped") || !slices.Contains(trips, "Expectancy: +0.20 USDT") {
		t.Errorf("have %v", trips)
	}
	for counted, want := range map[int]string{0: "", 1_203: "", 1_202: "as if of 1202 trips, not 1203: capped"} {
		if have := cappedNote(1_203, counted); have != want {
			t.Errorf("%d trips count: want %q, have %q", counted, want, have)
		}
	}
	costs := group(t, r, "Costs")
	for _, want := range []string{"Fees: 40.00 USDT; 13.33 % of the gross profit", "Funding paid: −3.00 USDT; 2.5 × the gross profit", "Slippage: 12.50 USDT",
		"Turnover: 12.3 × a year", "Liquidations: 0"} {
		if !slices.Contains(costs, want) {
			t.Errorf("want %q in %v", want, costs)
		}
	}
	if have := ofGross(ptr(100.0)); have != "100.00 % of the gross profit" {
		t.Errorf("all of it: have %s", have)
	}
	r.Expectancy, r.Figures.Turnover, r.Figures.Trips.Holding = nil, nil, nil
	if none := slices.Concat(group(t, r, "Round trips"), group(t, r, "Costs")); !slices.Contains(none, "Expectancy: –") ||
		!slices.Contains(none, "Turnover: –") || len(none) != len(trips)-3+len(costs) {
		t.Errorf("have %v", none)
	}
	shown := group(t, r, "Drawdowns")
	r.Figures.LongestDrawdown = &r.Figures.Drawdowns[1]
	if shown[2] != "Longest drawdown: 10 d 12 h" || group(t, r, "Drawdowns")[2] != "Longest drawdown: 11 d, not recovered" {
		t.Errorf("the longest drawdown: have %s, and %s of one that is open", shown[2], group(t, r, "Drawdowns")[2])
	}
	if r.Figures.LongestDrawdown = nil; group(t, r, "Drawdowns")[2] != "Longest drawdown: –" {
		t.Errorf("have %s", group(t, r, "Drawdowns")[2])
	}
}

// Groups are shown if they have content.
func TestGroupsThatNotEveryRunHas(t *testing.T) {
	t.Parallel()
	r := made()
	for _, name := range []string{"By regime", "By year", "Rolling", "Daily returns drawn again", "Hourly"} {
		if have := group(t, r, name); have != nil {
			t.Errorf("want no group, have %v", have)
		}
	}
	f := &r.Figures
	f.Regimes = []backtest.RegimeRow{{Regime: "calm", Days: 40, Return: ptr(3.5), Hold: ptr(-2.0), Sharpe: ptr(1.25)}}
	f.Years = []backtest.YearRow{{Year: "2024", Return: ptr(25.05), Hold: ptr(-7.5)}}
	f.Rolling = &backtest.RollingSeries{Days: 180, Sharpe: []*float64{ptr(0.5), nil, ptr(2.0), ptr(1.0)}, Volatility: []*float64{nil}}
	f.Bootstrap = &backtest.Bootstrap{Draws: 1_000, Block: 10, Return: &backtest.Band{Low: -5, Median: 20, High: 70},
		Drawdown: &backtest.Band{Low: 3, Median: 8, High: 21}, Sharpe: &backtest.Band{Low: -0.5, Median: 1.5, High: 2.25}}
	f.Hourly = &backtest.Series{Returns: 1_000, PerYear: 8_760, Sharpe: ptr(1.1)}
	r.Metrics = map[string]*float64{"win_days": ptr(0.55557)}
	for _, want := range [][]string{
		{"By regime of the days before", "calm: +3.50 %; holding −2.00 %"},
		{"By year", "2024: +25.05 %; holding −7.50 %"},
		{"Rolling 180 days", "Sharpe: 1.00; 0.50 to 2.00"},
		{"Daily returns drawn again, 1000 times, in blocks of 10 days", "Profit %: 20.00; -5.00 to 70.00",
			"Max drawdown %: 8.00; 3.00 to 21.00", "Sharpe: 1.50; -0.50 to 2.25"},
	} {
		for i := range want[1:] {
			want[i+1] = strings.ReplaceAll(want[i+1], "-", "−")
		}
		if diff := cmp.Diff(want, group(t, r, want[0])); diff != "" {
			t.Error(diff)
		}
	}
	if have := regimeGroup(r).Figures[0].Formula; have != "return compounded over 40 days; Sharpe 1.25" {
		t.Errorf("have %s", have)
	}
	if have := group(t, r, "Hourly"); have[0] != "Hourly returns (N = 1000, P = 8760)" || have[1] != "Sharpe: 1.10" {
		t.Errorf("have %v", have)
	}
	if have := group(t, r, "Daily returns r"); !slices.Contains(have, "Win days: 0.5556; quantstats") || !slices.Contains(have, "Beta: –; Jensen, 1968") ||
		!slices.Contains(have, "Sortino by root 2: –; Schwager") {
		t.Errorf("have %v", have)
	}
}

func TestDeepestDrawdowns(t *testing.T) {
	t.Parallel()
	rows := drawdowns(made())
	if len(rows) != 2 || rows[0].Down != "2 d 12 h" || rows[0].Back != "8 d" || rows[1].Down != "1 d 6 h" || rows[1].Back != "not yet" {
		t.Errorf("have %+v", rows)
	}
}

// The months compound to the year's change: 1.1 × 0.9 × 1.2.
func TestTheMonthsOfAYear(t *testing.T) {
	t.Parallel()
	rows := years([]backtest.MonthRow{{Month: "2023-12", Return: ptr(-20.0)}, {Month: "2024-01", Return: ptr(10.0)}, {Month: "2024-02", Return: ptr(-10.0)},
		{Month: "2024-03"}, {Month: "2024-12", Return: ptr(20.0)}, {Month: "2025-13", Return: ptr(1.0)}})
	want := []yearRow{{Year: "2025", Whole: cell{"+1.0", "u1"}}, {Year: "2024", Whole: cell{"+18.8", "u2"}}, {Year: "2023", Whole: cell{"−20.0", "d2"}}}
	want[1].Months[0], want[1].Months[1], want[1].Months[11] = cell{"+10.0", "u2"}, cell{"−10.0", "d2"}, cell{"+20.0", "u4"}
	want[2].Months[11] = cell{"−20.0", "d4"}
	if diff := cmp.Diff(want, rows, cmp.AllowUnexported(yearRow{}, cell{})); diff != "" {
		t.Error(diff)
	}
	for _, text := range []string{"2024-00", "2024-x", "2024"} { // months that are none
		if rows := years([]backtest.MonthRow{{Month: text, Return: ptr(1.0)}}); len(rows) != 1 || rows[0].Whole.Text != "+1.0" || rows[0].Months != [12]cell{} {
			t.Errorf("%s: have %+v", text, rows)
		}
	}
	for change, want := range map[float64]cell{0: {"0.0", "h0"}, 0.0049: {"+0.0", "h0"}, 0.005: {"+0.0", "u1"}, 5: {"+5.0", "u1"}, 5.1: {"+5.1", "u2"},
		99:   {"+99.0", "u4"},
		-0.2: {"−0.2", "d1"}} {
		if have := heat(change, 20); have != want {
			t.Errorf("%g of 20: want %v, have %v", change, want, have)
		}
	}
}

func TestTheStepsFromGrossToNet(t *testing.T) {
	t.Parallel()
	r := made()
	list := func() (all []string) {
		for _, s := range costSteps(r) {
			all = append(all, fmt.Sprint(s.Name, " ", s.Value, " ", s.Text, " ", s.total))
		}
		return all
	}
	want := []string{"gross 300 +300.00 true", "fees -40 −40.00 false", "slippage -12.5 −12.50 false", "funding 3 +3.00 false", "net 250.5 +250.50 true"}
	if diff := cmp.Diff(want, list()); diff != "" {
		t.Error(diff)
	}
	r.Market, r.FinalEquity = "spot", "1000"
	if have := list(); len(have) != 4 || have[3] != "net 0 0.00 true" { // spot pays no funding
		t.Errorf("have %v", have)
	}
}

func TestOrderOutcomeBars(t *testing.T) {
	t.Parallel()
	var have []string
	for _, s := range stages(&backtest.OrderCounts{Derived: 50, Refused: []backtest.RuleCount{{Rule: "max_position", Count: 8}}, Placed: 42,
		Rejected: []backtest.RuleCount{{Rule: "margin", Count: 2}}, Filled: 30, Part: 4, Canceled: 5, Unfinished: 1}) {
		have = append(have, fmt.Sprint(s.Name, " ", s.Count, " ", strings.Join(shapes(s.Bar), ""), " ", s.Note))
	}
	want := []string{"derived 50 rect total 0 2 100 10 intents from the strategies' plans, each counted once",
		"refused: max_position 8 rect down 0 2 16 10 by botd's own rules", "placed 42 rect total 0 2 84 10 sent to the exchange",
		"rejected: margin 2 rect down 0 2 4 10 by the exchange", "filled 30 rect total 0 2 60 10 completely",
		"partially filled 4 rect total 0 2 8 10 ended after a partial fill",
		"canceled 5 rect total 0 2 10 10 ended without a fill", "open 1 rect total 0 2 2 10 not ended at the last candle"}
	if diff := cmp.Diff(want, have); diff != "" {
		t.Error(diff)
	}
}

func TestGroupsOfRoundTripsHaveBarsOfOneScale(t *testing.T) {
	t.Parallel()
	r := made()
	r.Figures.ByHour = []backtest.TimeRow{{At: "00:00", RoundTrips: 4, Wins: 3, PNL: "-10"}, {At: "01:00", PNL: "5"}}
	r.ByExit = []backtest.ReasonRow{{RoundTrips: 3, Wins: 1, PNL: "7"}, {Reason: "stop_loss", RoundTrips: 1, PNL: "-14"}}
	r.BySymbol = []backtest.SymbolRow{{Name: "trend", Symbol: "BTC-USDT", RoundTrips: 2, Wins: 2, PNL: "1"}}
	p := newPage(r, nil)
	var have []string
	for _, row := range slices.Concat(p.Hours, p.Exits, p.Symbols) {
		have = append(have, fmt.Sprint(row.Name, " ", row.Trips, " ", row.Wins, " ", row.PNL, " ", row.WinRate(), " ", shapes(row.Bar)[1]))
	}
	want := []string{"00:00 4 3 -10 75.00 % rect down 0 2 50 8", "01:00 0 0 5 – rect up 50 2 25 8", "not given 3 1 7 33.33 % rect up 50 2 25 8",
		"stop_loss 1 0 -14 0.00 % rect down 0 2 50 8", "trend BTC-USDT 2 2 1 100.00 % rect up 50 2 50 8"}
	if diff := cmp.Diff(want, have); diff != "" {
		t.Error(diff)
	}
	if p.Charts || p.Shuffled != "" || p.Length != 182*24*time.Hour {
		t.Errorf("without candles and without a study: have %+v", p)
	}
}
