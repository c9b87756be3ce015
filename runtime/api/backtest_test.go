package api

import (
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"botd/runtime/view"
)

const reportText = `{"schema":1,"strategy":"sma_cross","name":"trend","market":"futures","symbol":"BTC-USDT","interval":"1h",
"from":"2023-01-01T00:00:00Z","to":"2023-07-01T00:00:00Z",
"candles":4343,"round_trips":28,"wins":7,"initial_equity":"10000","final_equity":"11731.87","total_fees":"333.02","total_funding":"0",
"max_drawdown_pct":26.5,"sharpe":null,
"expectancy":"63.6","warnings":["few"],"assumptions":["next open"],"inputs":{"strategies":[{"yaml":"name: trend\n"}]},
"data_sha256":"aa","config_sha256":"bb","result_sha256":"cc"}`

// shelf is a directory with one report, one of another program, and secrets.
func shelf(t *testing.T) string {
	t.Helper()
	root := t.TempDir()
	directory := filepath.Join(root, "backtests")
	curve := strings.Builder{}
	curve.WriteString("time_ms,equity\n")
	for i := range 4000 {
		fmt.Fprintf(&curve, "%d,%d\n", 1_000*i, 10_000+i)
	}
	for name, text := range map[string]string{
		"backtests/trend-1/report.json": reportText, "backtests/trend-1/report.html": "<p>page</p>", "backtests/trend-1/equity.csv": curve.String(),
		"backtests/other/report.json": `{"hello":"world"}`, "backtests/empty/x": "", "token": "secret", "report.json": reportText, "report.html": "secret",
	} {
		path := filepath.Join(root, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink(root, filepath.Join(directory, "out")); err != nil {
		t.Fatal(err)
	}
	return directory
}

func TestReportsAreListedAndRead(t *testing.T) {
	t.Parallel()
	d := newDeskWith(t, func(c *Config) { c.Reports = shelf(t) })
	var list List[view.Backtest]
	if err := json.Unmarshal([]byte(d.want(200, "/api/v1/backtests")), &list); err != nil {
		t.Fatal(err)
	}
	if len(list.Items) != 1 || list.Items[0].ID != "trend-1" || list.Items[0].Final != "11731.87" || list.Items[0].Sharpe != nil ||
		*list.Items[0].Drawdown != 26.5 || !list.Items[0].Page {
		t.Errorf("want the one report, have %+v", list.Items)
	}
	var one view.OneBacktest
	if err := json.Unmarshal([]byte(d.want(200, "/api/v1/backtests/trend-1")), &one); err != nil {
		t.Fatal(err)
	}
	if len(one.TimeMS) > 1_000 || len(one.TimeMS) < 500 || len(one.TimeMS) != len(one.Equity) || one.Equity[0] != "10000" ||
		one.Equity[len(one.Equity)-1] != "13999" {
		t.Errorf("want a curve of at most 1000 points from first to last, have %d from %s to %s", len(one.TimeMS), one.Equity[0], one.Equity[len(one.Equity)-1])
	}
	if len(one.Config) != 1 || one.Config[0] != "name: trend\n" || len(one.Assumptions) != 1 {
		t.Errorf("want what it hangs on, have %q and %q", one.Config, one.Assumptions)
	}
}

// A report's page has its own scripts, which must never be able to use the session.
func TestAReportsPageIsShutIn(t *testing.T) {
	t.Parallel()
	d := newDeskWith(t, func(c *Config) { c.Reports = shelf(t) })
	have := d.answer(http.MethodGet, "/api/v1/backtests/trend-1/report", "", bearer(viewerToken))
	policy := have.Header().Get("Content-Security-Policy")
	if have.Code != 200 || have.Body.String() != "<p>page</p>" || !strings.HasPrefix(policy, "sandbox ") || strings.Contains(policy, "allow-same-origin") ||
		strings.Contains(policy, "connect-src") {
		t.Errorf("want the page in a sandbox, have %d %q under %q", have.Code, have.Body, policy)
	}
	if media := have.Header().Get("Content-Type"); media != "text/html; charset=utf-8" || have.Header().Get("Cache-Control") != "no-cache" {
		t.Errorf("want a page that is asked for again, have %v", have.Header())
	}
	if code, _ := d.ask(http.MethodGet, "/api/v1/backtests/trend-1/report", "", nil); code != 401 {
		t.Errorf("want a foreign file refused, have %d", code)
	}
}

func TestOnlyReportsAreServed(t *testing.T) {
	t.Parallel()
	d := newDeskWith(t, func(c *Config) { c.Reports = shelf(t) })
	for _, id := range []string{"out", "..", "%2e%2e", "%2e%2e%2f", "trend-1%2f..%2f..", "other", "empty", "nothing", ".", "trend-1%00"} {
		for _, path := range []string{"/api/v1/backtests/" + id, "/api/v1/backtests/" + id + "/report"} {
			code, body := d.ask(http.MethodGet, path, "", bearer(viewerToken))
			if code == 200 || strings.Contains(body, "secret") || strings.Contains(body, "trend\"") {
				t.Errorf("%s: want nothing, have %d %s", path, code, body)
			}
		}
	}
	d = newDeskWith(t, func(c *Config) { c.Reports = filepath.Join(t.TempDir(), "none") })
	if have := d.want(200, "/api/v1/backtests"); !strings.Contains(have, `"items":[]`) {
		t.Errorf("want an empty list where there is no directory yet, have %s", have)
	}
}
