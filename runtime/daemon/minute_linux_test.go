package daemon

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"botd/configs"
	"botd/runtime/ops"
)

// TestTwoRunsOfAMinuteAreLogged stops a live daemon after a minute and starts it again. The log has each run's start, what it read, and
// what it left open; the second one finds what the first one left.
func TestTwoRunsOfAMinuteAreLogged(t *testing.T) {
	t.Parallel()
	w := newWatched(t, scrapeEvery)
	w.down = []window{{time.Minute, 70 * time.Second}}
	var runs []*process
	w.check = func(p *process) {
		if len(runs) == 0 || runs[len(runs)-1] != p {
			runs = append(runs, p)
		}
		if w.within(30*time.Second, time.Minute) || w.within(100*time.Second, 130*time.Second) {
			checks := p.board.Checks()
			if i := slices.IndexFunc(checks, func(c ops.Check) bool { return !c.OK }); i >= 0 || !slices.ContainsFunc(checks, func(c ops.Check) bool {
				return c.Name == "clock" && strings.HasPrefix(c.Detail, "off by ")
			}) {
				t.Errorf("want every check passed, the clock's too, have %+v", checks)
			}
			if have := p.fault(); have != "" {
				t.Errorf("want the dead-man's service satisfied, have %s", have)
			}
		}
	}
	w.run(live(t, liveRoot, nil), configs.Live, 130*time.Second, nil)
	if len(runs) != 2 {
		t.Fatalf("want two runs, have %d", len(runs))
	}
	for i, p := range runs {
		var lines []string
		p.logs.Lines(func(all []ops.LogLine) {
			for _, l := range all {
				lines = append(lines, l.Level+" "+l.Event+" "+l.Strategy+" "+l.Message)
			}
		})
		at := -1
		for _, want := range []string{
			"info daemon.started  botd      live on ",
			"info daemon.strategy hold strategy  hold: buy_and_hold on spot SOL-USDT, ",
			"info daemon.strategy trend strategy  trend: sma_cross on futures ETH-USDT, ",
			"warn daemon.socket  socket    ",
			"info daemon.reconciled  known     orders and positions, ",
			"info daemon.left_open  left open ",
			"info daemon.stopped  stopped   the next start picks these up and continues",
		} {
			n := slices.IndexFunc(lines, func(line string) bool { return strings.HasPrefix(line, want) })
			if n <= at {
				t.Errorf("run %d: want %q after line %d, have it at %d of\n%s", i, want, at, n, strings.Join(lines, "\n"))
			}
			at = n
		}
		has := func(text string) bool {
			return slices.ContainsFunc(lines, func(line string) bool { return strings.Contains(line, text) })
		}
		if !has("; 2 strategies; data in "+p.directory+"; Ctrl-C stops") || !has("nothing is uncertain") || has("daemon.unclean") || has("error ") {
			t.Errorf("run %d: want two strategies, nothing uncertain and a clean start, have\n%s", i, strings.Join(lines, "\n"))
		}
		known := slices.IndexFunc(lines, func(line string) bool { return strings.HasPrefix(line, "info daemon.reconciled ") })
		took, err := time.ParseDuration(wordAfter(t, lines[max(0, known)], "orders and positions, ", " after the start"))
		if err != nil || took > 10*time.Second {
			t.Errorf("run %d: want them known within seconds, have %s", i, lines[max(0, known)])
		}
		for _, name := range []string{"botd_exchange_requests_total", "botd_store_write_duration_seconds", "botd_strategy_cycle_duration_seconds",
			"botd_risk_check_duration_seconds", "botd_reconcile_runs_total", "botd_leader", "botd_log_events_total"} {
			if counted(t, p.metrics, name) == 0 && (i == 0 || !strings.Contains(name, "risk")) {
				t.Errorf("run %d: want %s measured", i, name)
			}
		}
		if have := seriesOf(t, p.metrics, "botd_exchange_backoff_until_timestamp_seconds"); have == 0 {
			t.Errorf("run %d: want pauses of the exchange measured", i)
		}
		if have := counted(t, p.metrics, "botd_last_shutdown_unclean"); have != 0 {
			t.Errorf("run %d: want the run before clean, have %v", i, have)
		}
		if has(" heartbeat.") || has(" incident.") || !has("info market.candle ") {
			t.Errorf("run %d: want no heartbeat where no service is configured, no incident, and candles, have\n%s", i, strings.Join(lines, "\n"))
		}
		if opened := has("trade.opened hold "); opened != (i == 0) {
			t.Errorf("run %d: want the purchase reported once, have\n%s", i, strings.Join(lines, "\n"))
		}
	}
	for _, name := range []string{"journal.db", "equity.csv", decisionsFolder, "recorded"} {
		if _, err := os.Stat(filepath.Join(runs[0].directory, name)); err != nil {
			t.Errorf("want it in the data: %v", err)
		}
	}
}
