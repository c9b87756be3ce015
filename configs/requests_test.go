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
		"mode: %s\nexchange:\n  base_url: https://api.venue.example\n  key_file: /k\n  secret_file: /s\n  requests_per_second: %d\n", mode, budget)}}
	for i := range count {
		files[fmt.Sprintf("strategies/s%03d.yaml", i)] = &fstest.MapFile{Data: fmt.Appendf(nil, "name: s%03d\nstrategy: trend\nmarket: futures\n"+
			"symbol: S%03d-USDT\ninterval: %s\nleverage: 1\nsize: {equity: 1%%}\n", i, i, interval)}
	}
	return files
}

// The last of N candles that close together is read N requests after the first, and after the polls of the paper account between them. The
// bounds are a tenth of the interval, the budget, and half of the age at which paper's data are too old.
func TestTooSmallARequestBudgetIsWarnedOf(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		mode     string
		count    int
		interval string
		budget   int
		delayMS  int64
		warning  string
	}{
		{"live", 40, "1m", 5, 8_000, "the last 1m candle arrives up to 8s later than without a limit, more than a tenth of its interval raise " +
			"exchange.requests_per_second to 7 if"},
		{"live", 30, "1m", 5, 6_000, ""},
		{"live", 40, "5m", 5, 8_000, ""},
		{"live", 40, "1m", 0, 0, ""},
		{"paper", 16, "1m", 50, 1_600, ""},
		{"paper", 17, "1m", 50, 1_700, "about 3102 requests a minute are needed and 3000 are allowed: prices, order books and candles are read less " +
			"often than configured raise exchange.requests_per_second to 52 if the venue allows it, or raise paper.poll, or trade"},
		{"paper", 57, "1m", 50, 12_540, "10382 requests a minute are needed"},
		{"paper", 58, "1m", 50, 12_760, "a poll of paper takes up to 5.1s, more than half of paper.max_age: data becomes stale, and nothing is " +
			"accepted or fills raise exchange.requests_per_second to 177 if the venue allows it, or raise paper.max_age, or trade fewer symbols"},
		{"paper", 100, "1m", 0, 0, ""},
	} {
		config, problems := Load(costly(c.mode, c.count, c.interval, c.budget), "", Options{Mode: Mode(c.mode)})
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
