package configs

import (
	"fmt"
	"strings"
	"testing"
	"testing/fstest"
)

// costly returns a configuration of that many symbols at an interval, in a mode with a budget.
func costly(mode string, count int, interval string, budget int) fstest.MapFS {
	files := fstest.MapFS{"botd.yaml": {Data: fmt.Appendf(nil,
		"mode: %s\nexchange:\n  base_url: https://api.venue.example\n  requests_per_second: %d\n", mode, budget)}}
	for i := range count {
		files[fmt.Sprintf("strategies/s%03d.yaml", i)] = &fstest.MapFile{Data: fmt.Appendf(nil, "name: s%03d\nstrategy: trend\nmarket: futures\n"+
			"symbol: S%03d-USDT\ninterval: %s\nleverage: 1\nsize: {equity: 1%%}\n", i, i, interval)}
	}
	return files
}

// The last of N candles that close together is read N requests after the first. The bound is a tenth of the
// interval.
func TestRequestsThatSeeCandlesLateAreWarnedOf(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		mode     string
		count    int
		interval string
		budget   int
		delayMS  int64
		warning  string
	}{
		{"paper", 40, "1m", 5, 8_000, "the last 1m candle is seen 8s after the first, more than a tenth of its interval"},
		{"paper", 30, "1m", 5, 6_000, ""},
		{"paper", 40, "5m", 5, 8_000, ""},
		{"paper", 40, "1m", 0, 0, ""},
	} {
		config, problems := Load(costly(c.mode, c.count, c.interval, c.budget), "", Options{})
		if config == nil {
			t.Fatal(problems)
		}
		costs := config.Requests()
		if len(costs) != 1 || costs[0].Series != c.count || costs[0].CandleDelayMS != c.delayMS {
			t.Errorf("%+v: want %d series and %d ms, have %+v", c, c.count, c.delayMS, costs)
		}
		var warned string
		for _, p := range problems {
			if strings.Contains(p.What, "series of candles") {
				warned = p.What + " " + p.Hint
			}
		}
		if (c.warning == "") != (warned == "") || !strings.Contains(warned, c.warning) {
			t.Errorf("%+v: want %q, have %q", c, c.warning, warned)
		}
		if warned != "" && !strings.Contains(warned, "raise exchange.requests_per_second to 7 ") {
			t.Errorf("want what would be enough, have %q", warned)
		}
	}
}

// The demo's exchange is in the same process.
func TestDemoCostsNoRequests(t *testing.T) {
	t.Parallel()
	config, problems := Load(fstest.MapFS{"botd.yaml": {Data: []byte("mode: demo\n")},
		"strategies/a.yaml": costly("demo", 1, "1m", 5)["strategies/s000.yaml"]}, "", Options{})
	if config == nil {
		t.Fatal(problems)
	}
	if costs := config.Requests(); len(costs) != 0 {
		t.Errorf("want no cost, have %+v", costs)
	}
}
