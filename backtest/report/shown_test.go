package report_test

import (
	"bytes"
	"encoding/json"
	"html"
	"math"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"botd/backtest"
)

// shownFigures maps the figures of the page and of the table, by their names there, to their places in the JSON. Package backtest computes
// the JSON itself a second time, from executions and candles alone.
var shownFigures = map[string]string{
	"Growth/Initial equity": "initial_equity", "Growth/Final equity": "final_equity", "Growth/Wallet at the end": "wallet", "Growth/CAGR": "cagr_pct",
	"Growth/Buy and hold": "figures.buy_and_hold_pct", "Drawdowns/Max drawdown": "max_drawdown_pct", "Drawdowns/Ulcer index": "figures.daily.ulcer_pct",
	"Drawdowns/UPI": "figures.daily.upi", "Drawdowns/Calmar": "calmar",
	"Daily returns/Sharpe": "figures.daily.sharpe", "Daily returns/Sortino": "figures.daily.sortino",
	"Daily returns/Volatility": "figures.daily.volatility_pct",
	"Daily returns/Omega":      "figures.daily.omega",
	"Daily returns/VaR 95 %":   "figures.daily.var_95_pct", "Daily returns/CVaR 95 %": "figures.daily.cvar_95_pct",
	"Daily returns/VaR 95 %, normal": "figures.daily.var_95_normal_pct", "Daily returns/Probabilistic Sharpe": "figures.daily.psr",
	"Daily returns/Skew": "figures.daily.skew", "Daily returns/Kurtosis": "figures.daily.kurtosis", "Daily returns/Best": "figures.daily.best_pct",
	"Daily returns/Worst": "figures.daily.worst_pct",
	"Round trips/Count":   "round_trips", "Round trips/Win rate": "figures.trades.win_rate_pct", "Round trips/Profit factor": "profit_factor",
	"Round trips/Expectancy": "expectancy", "Round trips/Expectancy in R": "figures.trades.expectancy_r",
	"Round trips/Average win": "figures.trades.average_win", "Round trips/Average loss": "figures.trades.average_loss",
	"Round trips/Payoff": "figures.trades.payoff", "Round trips/SQN": "figures.trades.sqn", "Round trips/Kelly": "figures.trades.kelly",
	"Round trips/Longest streaks": "figures.trades.longest_wins figures.trades.longest_losses",
	"Round trips/Best and worst":  "figures.trades.best figures.trades.worst",
	"Round trips/MAE":             "figures.trades.mae_pct.median", "Round trips/MFE": "figures.trades.mfe_pct.median",
	"Costs and size/Fees": "total_fees", "Costs and size/Funding paid": "total_funding", "Costs and size/Slippage": "total_slippage",
	"Costs and size/Break-even slippage": "break_even_slippage_pct", "Costs and size/In the market": "exposure_pct",
	"Costs and size/Mean leverage": "figures.average_leverage", "Costs and size/Turnover": "figures.turnover_yearly", "Costs and size/Fills": "fills",
	"Costs and size/Liquidations": "liquidations",

	"start equity": "initial_equity", "final equity": "final_equity", "holding instead": "figures.buy_and_hold_pct", "CAGR %": "cagr_pct",
	"max drawdown": "max_drawdown_pct", "Sharpe": "sharpe", "Sortino": "sortino", "Calmar": "calmar", "fills": "fills", "round trips": "round_trips",
	"expectancy": "expectancy", "SQN": "figures.trades.sqn", "profit factor": "profit_factor", "in the market": "exposure_pct", "fees": "total_fees",
	"funding paid": "total_funding", "break-even slippage": "break_even_slippage_pct", "wins": "wins figures.trades.win_rate_pct",
}

var (
	pageGroup  = regexp.MustCompile(`(?s)<h3>([^<]*)</h3><dl class="figures">(.*?)</dl>`)
	pageFigure = regexp.MustCompile(`(?s)<dt>([^<]*)</dt><dd[^>]*>([^<]*)`)
	tableRow   = regexp.MustCompile(`(?m)^│ ([^│]*?) +│ +([^│]*?) │$`)
	shownValue = regexp.MustCompile(`[+−-]?[0-9][0-9,]*(\.[0-9]+)?|–`)
	ofSeries   = regexp.MustCompile(` \(.*\)$`)
)

// The runs have several lengths. Each figure is compared to its last place, with – for a null of the JSON.
func TestThePageAndTheTableShowTheFiguresOfTheJSON(t *testing.T) {
	t.Parallel()
	found := map[string]bool{}
	for _, candles := range []int{80, 700, 3_000, 6_000} {
		result, sources := example(t, candles)
		shown := shownOn(written(t, result, sources))
		var table bytes.Buffer
		result.Table(&table, false)
		for _, row := range tableRow.FindAllStringSubmatch(table.String(), -1) {
			name := ofSeries.ReplaceAllString(row[1], "")
			if _, there := shown[name]; !there { // the first table covers the whole run
				shown[name] = row[2]
			}
		}
		fields := fieldsOf(t, result)
		for name, paths := range shownFigures {
			text, there := shown[name]
			if !there {
				continue // such as in a run without a trip
			}
			found[name] = true
			values := shownValue.FindAllString(text, -1)
			for i, path := range strings.Fields(paths) {
				if i >= len(values) || !same(values[i], at(fields, path)) {
					t.Errorf("%d candles: %s: want %v, as the JSON has it under %s, have %q", candles, name, at(fields, path), path, text)
				}
			}
		}
	}
	for name := range shownFigures {
		if !found[name] {
			t.Errorf("%s is shown by no run", name)
		}
	}
}

func shownOn(page string) map[string]string {
	shown := map[string]string{}
	for _, group := range pageGroup.FindAllStringSubmatch(page, -1) {
		name := ofSeries.ReplaceAllString(html.UnescapeString(group[1]), "")
		for _, figure := range pageFigure.FindAllStringSubmatch(group[2], -1) {
			shown[name+"/"+html.UnescapeString(figure[1])] = html.UnescapeString(figure[2])
		}
	}
	return shown
}

func fieldsOf(t *testing.T, result *backtest.Result) (fields map[string]any) {
	t.Helper()
	text, err := json.Marshal(result)
	if err == nil {
		err = json.Unmarshal(text, &fields)
	}
	if err != nil {
		t.Fatal(err)
	}
	return fields
}

func at(fields map[string]any, path string) any {
	name, rest, deeper := strings.Cut(path, ".")
	if below, is := fields[name].(map[string]any); is && deeper {
		return at(below, rest)
	}
	if deeper {
		return nil
	}
	return fields[name]
}

// same reports whether a text shows a number, rounded at its last place.
func same(text string, value any) bool {
	if written, is := value.(string); is {
		number, err := strconv.ParseFloat(written, 64)
		if err != nil {
			return false
		}
		value = number
	}
	number, is := value.(float64)
	if !is || text == "–" {
		return !is && text == "–"
	}
	text = strings.NewReplacer(",", "", "−", "-", "+", "").Replace(text)
	have, err := strconv.ParseFloat(text, 64)
	_, places, _ := strings.Cut(text, ".")
	return err == nil && math.Abs(have-number) <= 0.5000001*math.Pow10(-len(places))
}
