package backtest_test

import (
	"bytes"
	"strings"
	"testing"

	"botd/backtest"
	"botd/exchange"
	"botd/risk"
)

// A person sees which machine ran, and the reason for the engine: of the run, and of columns that needed another one.
func TestTheTableNamesTheMachine(t *testing.T) {
	t.Parallel()
	recorded := steps(symbol(t, exchange.Futures, "0.1", "0.001"), 2_000)
	config := speedConfig(t, recorded, "10", "50")
	config.Legs[0], _ = steadyLeg(t, "sma_cross", recorded, "A-USDT")
	direct, err := backtest.RunColumns(t.Context(), config)
	if err != nil {
		t.Fatal(err)
	}
	config.Limits = risk.Limits{MaxGrossExposure: 9 * exchange.RateOne}
	limited, err := backtest.RunColumns(t.Context(), config)
	if err != nil {
		t.Fatal(err)
	}
	mixed := *direct
	mixed.Columns = append([]backtest.Column(nil), direct.Columns...)
	mixed.Columns[2].Machine = "engine: a liquidation"
	old := *direct
	old.Machine = ""
	for _, c := range []struct {
		result *backtest.Result
		want   string
	}{
		{direct, "run by the direct machine"},
		{limited, "run by the engine, since the direct machine does not cover limits"},
		{&mixed, "run by the direct machine; pessimistic by the engine, since the direct machine does not cover a liquidation"},
		{&old, ""},
	} {
		var table bytes.Buffer
		c.result.Table(&table, false)
		have := ""
		for line := range strings.Lines(table.String()) {
			if strings.HasPrefix(line, "run ") {
				have += strings.TrimSpace(line)
			}
		}
		if have != c.want {
			t.Errorf("want %q, have %q", c.want, have)
		}
		for i := range c.result.Columns {
			if c.result != &mixed && c.result != &old && c.result.Columns[i].Machine != c.result.Machine {
				t.Errorf("column %s: want %q, have %q", c.result.Columns[i].Name, c.result.Machine, c.result.Columns[i].Machine)
			}
		}
	}
}
