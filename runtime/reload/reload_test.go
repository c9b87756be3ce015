package reload

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"botd/configs"
	"botd/exchange"
	"botd/reconcile/record"
	"botd/runtime"
	"botd/strategy"
)

// step is a change of the files, and what the daemon reports within a time limit.
type step struct {
	put    map[string]string
	within time.Duration
	logs   []string // what each line of the log begins with, after the name of the event
	detail string   // of the readiness check
	good   float64  // the metric of the last reload
	names  string   // strategies in force
}

const both = "one two"

// story runs steps in a bubble, from a daemon with both strategies that has been running for ten seconds.
func story(t *testing.T, steps []step, after func(t *testing.T, d *daemon)) {
	t.Helper()
	signalsBegin()
	synctest.Test(t, func(t *testing.T) {
		directory := t.TempDir()
		put(t, directory, map[string]string{"botd.yaml": demo, "strategies/one.yaml": one, "strategies/two.yaml": two})
		d := start(t, directory, nil)
		defer d.stop()
		if logged := d.after(10 * time.Second); logged != "" {
			t.Errorf("nothing has changed: want nothing logged, have %s", logged)
		}
		for i, s := range steps {
			put(t, directory, s.put)
			lines := strings.Split(d.after(s.within), "\n")
			if len(s.logs) == 0 {
				s.logs = []string{""}
			}
			if !slices.EqualFunc(lines, s.logs, strings.HasPrefix) {
				t.Errorf("step %d: want\n%s\nhave\n%s", i+1, strings.Join(s.logs, "\n"), strings.Join(lines, "\n"))
			}
			if detail, good := d.reported(); detail != s.detail || good != s.good {
				t.Errorf("step %d: want %q and %v reported, have %q and %v", i+1, s.detail, s.good, detail, good)
			}
			if names := d.names(); names != s.names {
				t.Errorf("step %d: want %s in force, have %s", i+1, s.names, names)
			}
		}
		if after != nil {
			after(t, d)
		}
	})
}

const ahead = "; the files have changed and are not applied: botd config diff"

// A file is read once it is unchanged for one poll. The log lists the changed values.
func TestChangedFileIsAppliedCompletelyOrNotAtAll(t *testing.T) {
	t.Parallel()
	larger := strings.Replace(two, "0.01", "0.02", 1)
	story(t, []step{
		{map[string]string{"strategies/two.yaml": larger}, 4 * time.Second, []string{
			"config.strategy_reloaded config two: DIR/strategies/two.yaml is loaded",
			"config.reloaded config read again (a file changed), strategies loaded: 1, removed: 0; strategies.two.size.quantity 0.02 (was 0.01)"},
			"loaded 2000-01-01 00:00:14", 1, both},
		{map[string]string{"strategies/two.yaml": "name: two\nstrategy: none\n"}, 4 * time.Second, []string{
			"config.rejected config is not applied, the running configuration stays (a file changed): DIR/strategies/two.yaml:"},
			"loaded 2000-01-01 00:00:14" + ahead, 0, both},
		{map[string]string{"strategies/two.yaml": larger, "botd.yaml": demo + "shutdown: flatten\nrisk: {max_open_orders: 7}\n"}, 4 * time.Second, []string{
			"config.needs_restart config no part of it is applied, the running configuration stays (a file changed): a restart is needed for shutdown; " +
				"all that changed: risk.max_open_orders 7 (was "},
			"loaded 2000-01-01 00:00:14" + ahead, 0, both},
		{map[string]string{"botd.yaml": demo, "strategies/two.yaml": strings.Replace(larger, "1m", "5m", 1)}, 4 * time.Second, []string{
			"config.rejected config no part of it is applied, the running configuration stays (a file changed): "},
			"loaded 2000-01-01 00:00:14" + ahead, 0, both},
		{map[string]string{"strategies/two.yaml": larger}, 4 * time.Second, []string{
			"config.reloaded config read again (a file changed), strategies loaded: 0, removed: 0; no value changed"},
			"loaded 2000-01-01 00:00:30", 1, both},
		{map[string]string{"botd.yaml": demo + "risk: {max_open_orders: 7}\n"}, 4 * time.Second, []string{
			"config.reloaded config read again (a file changed), strategies loaded: 0, removed: 0; risk.max_open_orders 7 (was "},
			"loaded 2000-01-01 00:00:34", 1, both},
	}, func(t *testing.T, d *daemon) {
		want := []string{"file reload [two]: strategies.two.size.quantity 0.02 (was 0.01)", "file reload []: risk.max_open_orders 7 (was 200)"}
		if have := d.journal.audits(); !slices.Equal(have, want) {
			t.Errorf("want %q journalled, have %q", want, have)
		}
		if size := d.position("BTC-USDT"); size != 20 {
			t.Errorf("want the new size held, have %d", size)
		}
		if want := []exchange.SymbolKey{{Market: exchange.Futures, Name: "BTC-USDT"}}; !slices.Equal(d.fed(), want) {
			t.Errorf("want the data of the changed strategy read, have %v", d.fed())
		}
	})
}

// A file that changes from one poll to the next is incomplete.
// TestEveryProblemOfAChangeIsNamedOnOneLine changes two files, each to one with a mistake.
func TestEveryProblemOfAChangeIsNamedOnOneLine(t *testing.T) {
	t.Parallel()
	signalsBegin()
	synctest.Test(t, func(t *testing.T) {
		directory := t.TempDir()
		put(t, directory, map[string]string{"botd.yaml": demo, "strategies/one.yaml": one, "strategies/two.yaml": two})
		d := start(t, directory, nil)
		defer d.stop()
		d.after(10 * time.Second)
		put(t, directory, map[string]string{"strategies/one.yaml": one + "leverage: x\n", "strategies/two.yaml": two + "leverage: y\n"})
		line := d.after(4 * time.Second)
		first, second := strings.Index(line, "; DIR/strategies/two.yaml:"), strings.Index(line, "(a file changed): DIR/strategies/one.yaml:")
		if first < second || second < 0 || strings.Contains(line, `\u000a`) || strings.Count(line, "config.rejected") != 1 {
			t.Errorf("want both named side by side, have %s", line)
		}
	})
}

func TestIncompleteFileIsNotRead(t *testing.T) {
	t.Parallel()
	larger := strings.Replace(two, "0.01", "0.02", 1)
	story(t, []step{
		{map[string]string{"strategies/two.yaml": two + "#"}, 2 * time.Second, nil, "", 1, both},
		{map[string]string{"strategies/two.yaml": two + "##"}, 2 * time.Second, nil, "", 1, both},
		{map[string]string{"strategies/two.yaml": larger}, 2 * time.Second, nil, "", 1, both},
		{nil, 2 * time.Second, []string{"config.strategy_reloaded config two", "config.reloaded config read again (a file changed)"},
			"loaded 2000-01-01 00:00:18", 1, both},
		{nil, time.Minute, nil, "loaded 2000-01-01 00:00:18", 1, both},
	}, nil)
}

// An addition acts at once, a removal after its file was absent for 30 s.
func TestAddedStrategyIsFedAndRemovedOneIsClosed(t *testing.T) {
	t.Parallel()
	three := strings.NewReplacer("two", "three", "BTC-USDT", "SOL-USDT", "0.01", "1").Replace(two)
	story(t, []step{
		{map[string]string{"strategies/three.yaml": three}, 4 * time.Second, []string{
			"config.strategy_reloaded config three: DIR/strategies/three.yaml is loaded",
			"config.reloaded config read again (a file changed), strategies loaded: 1, removed: 0; strategies.three is new"},
			"loaded 2000-01-01 00:00:14", 1, "one three two"},
		{map[string]string{"strategies/two.yaml": ""}, 6 * time.Second, []string{
			"config.removal_waits config the file of two is absent: on_remove acts when that has lasted 30 s; it would: two: close its position " +
				"(it has a position of 0.01 in futures BTC-USDT) (put the files back, or botd reload to remove them now)"},
			"loaded 2000-01-01 00:00:14", 1, "one three two"},
		{nil, 26 * time.Second, nil, "loaded 2000-01-01 00:00:14", 1, "one three two"},
		{nil, 2 * time.Second, []string{"config.strategy_removed config two: DIR/strategies/two.yaml is no longer configured",
			"config.reloaded config read again (a file is absent), strategies loaded: 0, removed: 1; strategies.two is removed"},
			"loaded 2000-01-01 00:00:48", 1, "one three"},
		{nil, 30 * time.Second, nil, "loaded 2000-01-01 00:00:48", 1, "one three"},
	}, func(t *testing.T, d *daemon) {
		if d.position("BTC-USDT") != 0 || d.position("SOL-USDT") == 0 {
			t.Errorf("want the removed one closed and the new one trading, have %d and %d", d.position("BTC-USDT"), d.position("SOL-USDT"))
		}
		if want := []exchange.SymbolKey{{Market: exchange.Futures, Name: "SOL-USDT"}}; !slices.Equal(d.fed(), want) {
			t.Errorf("want the data of the new one read, have %v", d.fed())
		}
		if have := d.Degraded(); len(have) != 0 {
			t.Errorf("removed: want nothing declared, have %+v", have)
		}
		if want := []string{"BTC-USDT", "ETH-USDT", "SOL-USDT"}; len(d.Futures()) != 2 || slices.Contains(d.Futures(), want[0]) {
			t.Errorf("want ETH and SOL traded, have %v", d.Futures())
		}
	})
}

// The folder of the strategies is absent for a moment, and then forever.
func TestReturnedFilesCancelRemoval(t *testing.T) {
	t.Parallel()
	absent := map[string]string{"strategies/one.yaml": "", "strategies/two.yaml": ""}
	back := map[string]string{"strategies/one.yaml": one, "strategies/two.yaml": two}
	const waits = "config.removal_waits config the files of one, two are absent: no strategy is left, and only an explicit reload removes all of them; " +
		"it would: one: end it, it has no position, two: close its position (it has a position of 0.01 in futures BTC-USDT)"
	story(t, []step{
		{absent, 20 * time.Second, []string{waits}, "", 1, both},
		{back, 4 * time.Second, []string{"config.reloaded config read again (a file changed), strategies loaded: 0, removed: 0; no value changed"},
			"loaded 2000-01-01 00:00:34", 1, both},
		{absent, 10 * time.Minute, []string{waits}, "loaded 2000-01-01 00:00:34", 1, both},
	}, func(t *testing.T, d *daemon) {
		declared := d.Degraded()
		if len(declared) != 1 || declared[0].State != "removal" || time.UnixMilli(declared[0].SinceMS).UTC().Format("15:04:05") != "00:00:38" {
			t.Errorf("want the removal declared since the files are away, have %+v", declared)
		}
		if d.position("BTC-USDT") != 10 {
			t.Errorf("want nothing closed, have %d", d.position("BTC-USDT"))
		}
		does, err := d.Reload(t.Context(), true, &record.Audit{Actor: "ann", Action: "reload"})
		if want := []string{"strategies.one is removed", "strategies.two is removed"}; err != nil || !slices.Equal(does, want) {
			t.Errorf("a trial: want %q, have %q, %v", want, does, err)
		}
		if logged := d.after(4 * time.Second); logged != "" || d.names() != both {
			t.Errorf("a trial: want nothing done, have %s, %q", d.names(), logged)
		}
		if _, err := d.Reload(t.Context(), false, &record.Audit{Actor: "ann", Action: "reload"}); err != nil {
			t.Error(err)
		}
		if d.after(10 * time.Second); d.names() != "" || d.position("BTC-USDT") != 0 || len(d.Degraded()) != 0 {
			t.Errorf("an explicit reload: want all of them removed, have %q, %d", d.names(), d.position("BTC-USDT"))
		}
		if have := d.journal.audits(); !slices.Equal(have, []string{"ann reload [one, two]: strategies.one is removed, strategies.two is removed"}) {
			t.Errorf("want who removed them journalled, have %q", have)
		}
	})
}

// A trial lists the changes, a reload applies and journals them with the user, and a refusal gives its reason.
func TestRequestedReloadAndTrial(t *testing.T) {
	t.Parallel()
	story(t, nil, func(t *testing.T, d *daemon) {
		by := func() *record.Audit { return &record.Audit{Actor: "ann", Action: "reload"} }
		for _, c := range []struct {
			text    string // of the second strategy
			trial   bool
			does    string
			refused string
		}{
			{two, true, "no value changed", ""},
			{two, false, "no value changed", ""},
			{strings.Replace(two, "0.01", "0.02", 1), true, "strategies.two.size.quantity 0.02 (was 0.01)", ""},
			{strings.Replace(two, "0.01", "0.02", 1), false, "strategies.two.size.quantity 0.02 (was 0.01)", ""},
			{strings.Replace(two, "0.01", "none", 1), true, "", "two.yaml:7: "},
			{strings.Replace(two, "0.01", "none", 1), false, "", "two.yaml:7: "},
			{strings.Replace(two, "1m", "5m", 1), true, "", "interval"},
			{strings.Replace(two, "1m", "5m", 1), false, "", "interval"},
			{"", false, "strategies.two is removed", ""},
		} {
			put(t, d.directory, map[string]string{"strategies/two.yaml": c.text})
			does, err := d.Reload(t.Context(), c.trial, by())
			if strings.Join(does, "; ") != c.does || (err == nil) != (c.refused == "") || err != nil && !strings.Contains(err.Error(), c.refused) {
				t.Errorf("%q, a trial %t: want %q or %q, have %q, %v", c.text, c.trial, c.does, c.refused, does, err)
			}
			logged := d.after(0)
			switch {
			case c.trial && logged != "":
				t.Errorf("%q, a trial: want nothing logged, have %s", c.text, logged)
			case !c.trial && c.refused != "" && !strings.Contains(logged, "config.rejected"):
				t.Errorf("%q: want the refusal logged, have %q", c.text, logged)
			case !c.trial && c.refused == "" && !strings.Contains(logged, "(botd config reload)"):
				t.Errorf("%q: want the reload logged, have %q", c.text, logged)
			}
			if c.trial {
				continue // the change itself is taken over when the file has stood still
			}
			if logged := d.after(time.Minute); logged != "" {
				t.Errorf("%q: want the files read once, have %s", c.text, logged)
			}
		}
		want := []string{"ann reload []: no value changed", "ann reload [two]: strategies.two.size.quantity 0.02 (was 0.01)",
			"ann reload [two]: strategies.two is removed"}
		if have := d.journal.audits(); !slices.Equal(have, want) {
			t.Errorf("want %q journalled, have %q", want, have)
		}
		d.stop()
		ended, end := context.WithTimeout(t.Context(), time.Second)
		defer end()
		if _, err := d.Reload(ended, false, by()); !errors.Is(err, runtime.ErrStopped) {
			t.Errorf("stopped: want %v, have %v", runtime.ErrStopped, err)
		}
	})
}

// The journal's own failure is reported separately, and the configuration that runs is shown.
func TestUnjournalledReloadIsInForce(t *testing.T) {
	t.Parallel()
	story(t, nil, func(t *testing.T, d *daemon) {
		d.journal.mu.Lock()
		d.journal.fails = errors.New("no room")
		d.journal.mu.Unlock()
		put(t, d.directory, map[string]string{"botd.yaml": demo + "risk: {max_open_orders: 7}\n"})
		does, err := d.Reload(t.Context(), false, &record.Audit{Actor: "ann", Action: "reload"})
		if err != nil || !slices.Equal(does, []string{"risk.max_open_orders 7 (was 200)"}) {
			t.Errorf("want it in force, have %q, %v", does, err)
		}
		if logged := d.after(0); !strings.Contains(logged, "config.reloaded") {
			t.Errorf("want it logged, have %q", logged)
		}
		d.journal.mu.Lock()
		d.journal.fails = nil
		d.journal.mu.Unlock()
		if d.after(time.Minute); !slices.Equal(d.journal.audits(), []string{"ann reload []: risk.max_open_orders 7 (was 200)"}) {
			t.Errorf("want it journalled when there is room, have %q", d.journal.audits())
		}
	})
}

// An earlier run journalled its position.
func TestAbsentStrategyIsRemovedOnConfirmation(t *testing.T) {
	t.Parallel()
	signalsBegin()
	synctest.Test(t, func(t *testing.T) {
		directory := t.TempDir()
		put(t, directory, map[string]string{"botd.yaml": demo, "strategies/one.yaml": one, "strategies/two.yaml": two})
		first := start(t, directory, nil)
		first.after(10 * time.Second)
		first.stop()
		put(t, directory, map[string]string{"strategies/two.yaml": ""})
		d := start(t, directory, first.journal.records)
		defer d.stop()
		if logged := d.after(20 * time.Second); !strings.HasPrefix(logged, "config.removal_waits config the file of two is absent") ||
			strings.Contains(logged, "\n") {
			t.Errorf("want the removal to wait, have %q", logged)
		}
		if declared := d.Degraded(); len(declared) != 1 || declared[0].Scope.Strategy != "two" {
			t.Errorf("want it declared, have %+v", declared)
		}
		does, err := d.Reload(t.Context(), true, &record.Audit{Actor: "ann", Action: "reload"})
		if err != nil || !slices.Equal(does, []string{"no value changed", "strategies.two is removed"}) {
			t.Errorf("a trial: want its removal shown, have %q, %v", does, err)
		}
		if _, err = d.Reload(t.Context(), false, &record.Audit{Actor: "ann", Action: "reload"}); err != nil {
			t.Error(err)
		}
		if d.after(time.Minute); len(d.Degraded()) != 0 {
			t.Errorf("removed: want nothing declared, have %+v", d.Degraded())
		}
		if have := d.journal.audits(); !slices.Equal(have, []string{"ann reload [two]: no value changed"}) {
			t.Errorf("want its removal journalled, have %q", have)
		}
	})
}

// A strategy that ran before continues with its change.
func TestNewLiveStrategyWaitsForItsStart(t *testing.T) {
	t.Parallel()
	signalsBegin()
	synctest.Test(t, func(t *testing.T) {
		directory := t.TempDir()
		live := "mode: live\ndata_dir: ./data\nexchange:\n  base_url: http://127.0.0.1:8421\n  key_file: key\n  secret_file: secret\n" +
			"  settle: {window: 5s, visibility: 1s, staleness: 1s}\n"
		put(t, directory, map[string]string{"botd.yaml": live, "key": "k", "secret": "s", "strategies/two.yaml": two})
		d := start(t, directory, nil)
		defer d.stop()
		d.after(10 * time.Second)
		three := strings.NewReplacer("two", "three", "BTC-USDT", "ETH-USDT", "0.01", "0.1").Replace(two)
		put(t, directory, map[string]string{"strategies/three.yaml": three, "strategies/two.yaml": strings.Replace(two, "0.01", "0.02", 1)})
		d.after(30 * time.Second)
		if d.names() != "three two" || d.position("BTC-USDT") != 20 || d.position("ETH-USDT") != 0 {
			t.Errorf("want the new one to wait, have %s, %d and %d", d.names(), d.position("BTC-USDT"), d.position("ETH-USDT"))
		}
		put(t, directory, map[string]string{"strategies/three.yaml": three + "start: running\n"})
		if d.after(30 * time.Second); d.position("ETH-USDT") != 0 {
			t.Errorf("want one that waits to wait for a person, have %d", d.position("ETH-USDT"))
		}
		four := strings.NewReplacer("two", "four", "BTC-USDT", "SOL-USDT", "0.01", "1").Replace(two) + "start: running\n"
		put(t, directory, map[string]string{"strategies/four.yaml": four})
		if d.after(30 * time.Second); d.position("SOL-USDT") == 0 {
			t.Errorf("want one with that setting to run at once, have %d", d.position("SOL-USDT"))
		}
	})
}

// The error names the symbol of each strategy, with its place in the file, and nothing is applied.
func TestUnlistedSymbolPreventsTheReload(t *testing.T) {
	t.Parallel()
	story(t, nil, func(t *testing.T, d *daemon) {
		d.Symbols = func(exchange.SymbolKey) (*exchange.Symbol, bool) { return nil, false }
		put(t, d.directory, map[string]string{"strategies/two.yaml": strings.Replace(two, "0.01", "0.02", 1),
			"strategies/three.yaml": strings.NewReplacer("two", "three", "BTC-USDT", "SOL-USDT", "0.01", "1").Replace(two)})
		_, err := d.Reload(t.Context(), false, &record.Audit{Actor: "ann", Action: "reload"})
		want := "DIR/strategies/three.yaml:1: the exchange has no futures symbol SOL-USDT; " +
			"DIR/strategies/two.yaml:1: the exchange has no futures symbol BTC-USDT"
		if err == nil || strings.ReplaceAll(err.Error(), d.directory, "DIR") != want {
			t.Errorf("want %q, have %v", want, err)
		}
		if d.after(time.Minute); d.names() != both || len(d.fed()) != 0 || d.position("BTC-USDT") != 10 {
			t.Errorf("want nothing taken over, have %s, %v", d.names(), d.fed())
		}
	})
}

// These are its own files, the strategies' files and scripts, and new files. Hidden files and others do not count.
func TestFingerprintCoversAllConfigurationFiles(t *testing.T) {
	t.Parallel()
	script := configs.ScriptConfig{File: "one.star", Libraries: []strategy.Library{{Name: "lib/x.star"}}}
	for _, name := range []string{"configs", "a[b]*?"} {
		directory := filepath.Join(t.TempDir(), name)
		put(t, directory, map[string]string{"botd.yaml": "a", "strategies/one.yaml": "a", "strategies/one.star": "a", "strategies/lib/x.star": "a"})
		config := &configs.Config{Directory: directory, Files: []string{filepath.Join(directory, "botd.yaml"), filepath.Join(directory, "strategies/one.yaml")},
			Strategies: []configs.StrategyConfig{{Name: "one", File: filepath.Join(directory, "strategies/one.yaml"), Script: script}}}
		before := Fingerprint(config)
		if before != Fingerprint(config) || strings.Count(before, "\n") != 4 {
			t.Errorf("%s: want each file once, have %q", name, before)
		}
		for _, change := range []struct {
			file, text string
			seen       bool
		}{
			{"botd.yaml", "bb", true}, {"strategies/one.yaml", "bb", true}, {"strategies/two.yaml", "b", true}, {"strategies/two.yaml", "", true},
			{"strategies/one.star", "bb", true}, {"strategies/lib/x.star", "bb", true}, {"strategies/lib/y.star", "bb", false},
			{"strategies/.two.yaml", "b", false}, {"strategies/two.yml", "b", false}, {"strategies/deeper/two.yaml", "b", false}, {"botd.yaml", "", true},
		} {
			was := Fingerprint(config)
			put(t, directory, map[string]string{change.file: change.text})
			if seen := Fingerprint(config) != was; seen != change.seen {
				t.Errorf("%s: %s: want the change seen %t, have %t", name, change.file, change.seen, seen)
			}
		}
		same := filepath.Join(directory, "strategies/one.yaml")
		was := Fingerprint(config)
		if err := os.Chtimes(same, time.Unix(1, 0), time.Unix(1, 0)); err != nil {
			t.Fatal(err)
		}
		if Fingerprint(config) == was {
			t.Errorf("%s: want a file of the same size with another time seen", name)
		}
	}
}

// A strategy that is new or removed is one change. A long list is cut, and the rest is counted.
func TestChangeSummary(t *testing.T) {
	t.Parallel()
	long := func(n int) (all []configs.Difference) {
		for i := range n {
			all = append(all, configs.Difference{Path: fmt.Sprintf("risk.r%d", i), Was: "1", Is: "2"})
		}
		return all
	}
	for _, c := range []struct {
		differences []configs.Difference
		want        string
	}{
		{nil, "no value changed"},
		{[]configs.Difference{{Path: "risk.a", Is: "1"}, {Path: "risk.b", Was: "2"}, {Path: "c", Was: "2", Is: "3"}},
			"risk.a 1 (was none), risk.b none (was 2), c 3 (was 2)"},
		{[]configs.Difference{{Path: "strategies.a.strategy", Is: "rsi"}, {Path: "strategies.a.size.quantity", Is: "1"},
			{Path: "strategies.b.size", Is: "1", Was: "2"}},
			"strategies.a is new, strategies.b.size 1 (was 2)"},
		{[]configs.Difference{{Path: "strategies.a.file", Was: "x"}, {Path: "strategies.a.strategy", Was: "rsi"}}, "strategies.a is removed"},
		{[]configs.Difference{{Path: "strategies.a.strategy", Was: "rsi", Is: "twap"}}, "strategies.a.strategy twap (was rsi)"},
	} {
		if have := Changes(c.differences); have != c.want {
			t.Errorf("want %q, have %q", c.want, have)
		}
	}
	if have := Changes(long(maxChanges)); strings.Contains(have, "more") || strings.Count(have, "(was 1)") != 20 {
		t.Errorf("20 changes: want all of them, have %q", have)
	}
	if have := Changes(long(maxChanges + 1)); !strings.HasSuffix(have, "risk.r19 2 (was 1), and 1 more") {
		t.Errorf("21 changes: want the last counted, have %q", have)
	}
}

// These are all but strategies and limits, and the bounds of a market that is traded now.
func TestChangesThatNeedARestart(t *testing.T) {
	t.Parallel()
	difference := func(paths ...string) (all []configs.Difference) {
		for _, path := range paths {
			all = append(all, configs.Difference{Path: path})
		}
		return all
	}
	futures := []configs.StrategyConfig{{Name: "one", Market: exchange.Futures, Symbol: "BTC-USDT"}}
	spot := append(slices.Clone(futures), configs.StrategyConfig{Name: "two", Market: exchange.Spot, Symbol: "BTC-USDT"})
	measured := configs.SettleConfig{Futures: configs.MarketSettle{Measured: "2026-11-22", Written: true}}
	of := func(mode configs.Mode, strategies []configs.StrategyConfig) configs.Config {
		return configs.Config{Mode: mode, Exchange: configs.ExchangeConfig{Settle: measured}, Strategies: strategies}
	}
	for name, c := range map[string]struct {
		before, after configs.Config
		differences   []configs.Difference
		want          string
	}{
		"strategies and limits": {configs.Config{}, configs.Config{}, difference("strategies.one.size", "risk.max_position"), ""},
		"anything else": {configs.Config{}, configs.Config{}, difference("shutdown", "strategies.one.size", "exchange.url", "risks"),
			"shutdown, exchange.url, risks"},
		"a live market that is settled": {of(configs.Live, futures), of(configs.Live, futures), nil, ""},
		"a live market that is not": {of(configs.Live, futures), of(configs.Live, spot), nil,
			"the exchange.settle bounds of the markets that are traded now"},
		"a demo's market": {of(configs.Demo, futures), of(configs.Demo, spot), nil, ""},
	} {
		if have := strings.Join(needsRestart(&c.before, &c.after, c.differences), ", "); have != c.want {
			t.Errorf("%s: want %q, have %q", name, c.want, have)
		}
	}
	traded := futuresTraded(&configs.Config{Strategies: append(spot, spot[0], configs.StrategyConfig{Market: exchange.Futures, Symbol: "ETH-USDT"})})
	if !slices.Equal(traded, []string{"BTC-USDT", "ETH-USDT"}) {
		t.Errorf("want each futures symbol once, have %v", traded)
	}
}
