package daemon

import (
	"context"
	"errors"
	"math"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"botd/configs"
	"botd/exchange"
	"botd/exchange/wire"
	"botd/internal/disk"
	"botd/internal/failure"
	"botd/reconcile/account"
	"botd/reconcile/journal"
	"botd/reconcile/record"
	"botd/runtime"
	"botd/runtime/engine"
	"botd/runtime/ops"
	"botd/runtime/view"
)

// logLines returns the lines of a daemon's log: level, event and text of each.
func logLines(p *process) (lines []string) {
	p.logs.Lines(func(all []ops.LogLine) {
		for _, l := range all {
			lines = append(lines, l.Level+" "+l.Event+" "+l.Message)
		}
	})
	return lines
}

// inOrder requires lines with these beginnings, one after another.
func inOrder(t *testing.T, lines []string, want ...string) {
	t.Helper()
	at := -1
	for _, one := range want {
		n := slices.IndexFunc(lines[at+1:], func(line string) bool { return strings.HasPrefix(line, one) })
		if n < 0 {
			t.Errorf("want %q after line %d of\n%s", one, at, strings.Join(lines, "\n"))
			return
		}
		at += 1 + n
	}
}

// TestAStartWaitsForItsExchange uses an exchange that fails for the first two minutes: halts are taken meanwhile, the log gives the reason once a minute
// it waits, and then it trades. The summary of the day is sent, a new key that the exchange refuses is not used, and one of the same account is.
func TestAStartWaitsForItsExchange(t *testing.T) {
	t.Parallel()
	w := newWatched(t, scrapeEvery)
	var signed []time.Duration // with the second key
	w.set(func(r *http.Request, next func() (*http.Response, error)) (*http.Response, error) {
		if w.within(0, 2*time.Minute) {
			return answer(r, http.StatusServiceUnavailable, ""), nil
		}
		if r.Header.Get(wire.HeaderKey) == "second" { // of the same account, and its secret is the same
			r.Header.Set(wire.HeaderKey, "watched")
			signed = append(signed, time.Since(w.began))
		}
		return next()
	})
	waited, traded := 0, 0
	var first []string // lines while it waits
	w.check = func(p *process) {
		switch {
		case w.within(10*time.Second, 2*time.Minute):
			waited++
			first = logLines(p)
			states := p.board.Status().Degraded
			if !p.board.Alive() || !slices.ContainsFunc(states, func(d view.Degraded) bool { return d.State == "waiting" }) {
				t.Errorf("want it alive while it waits, and the state declared, have %+v", states)
			}
			if !slices.ContainsFunc(p.board.Checks(), func(c ops.Check) bool {
				return c.Name == "exchange" && !c.OK && strings.HasPrefix(c.Detail, "waiting for it: ")
			}) {
				t.Errorf("want readiness to say what it waits for, have %+v", p.board.Checks())
			}
		case w.within(3*time.Minute, 4*time.Minute):
			traded++
			if i := slices.IndexFunc(p.board.Checks(), func(c ops.Check) bool { return !c.OK }); i >= 0 {
				t.Errorf("want it ready, have %+v", p.board.Checks()[i])
			}
		}
	}
	var last *process
	root := liveRoot + "notify: {every: 1s, daily: '00:04', channels: {desk: {url_file: " + w.desk() + "}}}\n"
	w.run(live(t, root, nil), configs.Live, 5*time.Minute, func(p *process) {
		last = p
		w.until(30 * time.Second)
		w.send(p, &engine.EventHalt{Scope: account.Scope{Strategy: "hold"}, Level: record.LevelPause, Reason: "news"})
		for at, key := range []string{"nobody", "watched", "nobody", "second", "nobody"} {
			w.until(210*time.Second + time.Duration(at)*18*time.Second)
			if err := os.WriteFile(p.config.Exchange.KeyFile, []byte(key), 0o600); err != nil {
				t.Error(err)
			}
		}
	})
	if waited < 15 || traded < 10 {
		t.Errorf("want it watched while it waits and afterwards, have %d and %d", waited, traded)
	}
	inOrder(t, first, "warn daemon.waiting WAITING   for http://127.0.0.1:8421, tried 1 times in 0s: ", "error trading.halted HALTED    news",
		"warn daemon.waiting WAITING   for http://127.0.0.1:8421, tried 1") // 16 to 19 times: two seconds after the four requests of the one before
	lines := logLines(last)
	inOrder(t, lines, "info daemon.started ", "info daemon.reconciled ", "warn exchange.key_refused key       the files of key or secret have changed",
		"warn exchange.key_refused ", "warn exchange.key_rotated key       requests are signed with the key now in its files", "warn exchange.key_refused ",
		"info daemon.stopped stopped   nothing is left open")
	reports := 0
	for _, line := range lines {
		if strings.HasPrefix(line, "warn exchange.key_") {
			reports++
		}
		if strings.Contains(line, "daemon.unclean") || strings.Contains(line, "trade.opened hold ") {
			t.Errorf("want a clean start and the halt in force, have %s", line)
		}
	}
	if reports != 4 {
		t.Errorf("want a key that is refused, and one that is used, logged once each, have\n%s", strings.Join(lines, "\n"))
	}
	if len(signed) < 10 || signed[0] < 264*time.Second || signed[len(signed)-1] < 285*time.Second { // the last round is that of 287 s
		t.Errorf("want requests signed with the second key from then on, have them at %v", signed)
	}
	all := strings.Join(w.messages, "\n")
	if strings.Count(all, "daily summary: equity 20000 USDT, +0 since") != 1 || !strings.Contains(all, "\njournal: ") || !strings.Contains(all,
		"WAITING   for ") {
		t.Errorf("want the wait and one summary, have %s", all)
	}
}

// TestAHaltHasAnAwaitedExchangeTriedAtOnce uses an exchange that leaves requests unanswered, and returns just before the halt: a request that was sent
// before is not waited for.
func TestAHaltHasAnAwaitedExchangeTriedAtOnce(t *testing.T) {
	t.Parallel()
	w := newWatched(t, scrapeEvery)
	w.set(func(r *http.Request, next func() (*http.Response, error)) (*http.Response, error) {
		if w.within(0, 27*time.Second) {
			<-r.Context().Done()
			return nil, r.Context().Err()
		}
		return next()
	})
	w.run(live(t, liveRoot, nil), configs.Live, time.Minute, func(p *process) {
		w.until(27 * time.Second)
		inOrder(t, logLines(p), "warn daemon.waiting ")
		w.send(p, &engine.EventHalt{Level: record.LevelFlatten, Reason: "a drill"})
		for !slices.ContainsFunc(logLines(p), func(line string) bool { return strings.Contains(line, " daemon.reconciled ") }) {
			if w.until(time.Since(w.began) + 10*time.Millisecond); time.Since(w.began) > 29*time.Second {
				t.Errorf("want it to have read the account within two seconds, have\n%s", strings.Join(logLines(p), "\n"))
				return
			}
		}
	})
}

// TestAStrategysTradesAreItsOwn covers what two strategies traded, one of which is closed by a halt. The file of the other is removed, which is declared.
func TestAStrategysTradesAreItsOwn(t *testing.T) {
	t.Parallel()
	w := newWatched(t, scrapeEvery)
	removal, incidents := 0, 0
	w.check = func(p *process) {
		if open := len(p.board.OpenIncidents()); int(counted(t, p.metrics, "botd_incidents_open")) == open {
			incidents = max(incidents, open)
		}
		if slices.ContainsFunc(p.board.Status().Degraded, func(d view.Degraded) bool { return d.State == "removal" }) {
			removal++
		}
	}
	var last *process
	w.run(live(t, liveRoot, map[string]string{"strategies/slices.yaml": sliced("spot", "BTC-USDT", "0.01", 5, "1s")}), configs.Live, 2*time.Minute,
		func(p *process) {
			last = p
			w.until(time.Minute)
			w.send(p, &engine.EventHalt{Scope: account.Scope{Strategy: "hold"}, Level: record.LevelFlatten, Reason: "a drill"})
			if err := os.Remove(filepath.Join(w.home, "strategies/slices.yaml")); err != nil {
				t.Error(err)
			}
		})
	if incidents == 0 {
		t.Error("want the halt counted as an incident")
	}
	if removal < 4 {
		t.Errorf("want the removal declared for half a minute, have it %d times", removal)
	}
	inOrder(t, logLines(last), "info trade.opened trade     hold opened: long ", "info trade.closed trade     hold closed by ")
	equity, err := view.OpenEquity(last.directory + "/equity.csv")
	if err != nil {
		t.Fatal(err)
	}
	defer equity.Close()
	if points := equity.Series(0, math.MaxInt64, 0).TimeMS; len(points) == 0 {
		t.Error("want the equity of each minute stored")
	}
	for name, symbol := range map[string]string{"hold": "SOL-USDT", "slices": "BTC-USDT"} {
		own := traded(last.history, equity)(name)
		if points, err := own.Equity(0); err != nil || len(points.TimeMS) == 0 {
			t.Errorf("%s: want the account's equity beside it, have %+v, %v", name, points, err)
		}
		if trips := map[string]int{"hold": 1}[name]; len(own.Fills) == 0 || len(own.Trips) != trips {
			t.Errorf("%s: want its fills, and %d round trips, have %+v", name, trips, own)
		}
		for i := range own.Fills {
			if own.Fills[i].Symbol != symbol || own.Fills[i].Market != exchange.Spot.String() {
				t.Errorf("%s: have a fill of %s", name, own.Fills[i].Symbol)
			}
		}
	}
	if own := traded(last.history, equity)("nobody"); len(own.Fills)+len(own.Trips) != 0 {
		t.Errorf("nobody: have %+v", own)
	}
}

// TestAStartWithAnUnknownKeyIsRefused uses a key that the exchange refuses, at once and once it is reached.
func TestAStartWithAnUnknownKeyIsRefused(t *testing.T) {
	t.Parallel()
	for name, away := range map[string]time.Duration{"at once": 0, "after an outage": time.Minute} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWatched(t, scrapeEvery)
			var end error
			w.refused = &end
			w.set(func(r *http.Request, next func() (*http.Response, error)) (*http.Response, error) {
				if w.within(0, away) {
					return answer(r, http.StatusServiceUnavailable, ""), nil
				}
				return next()
			})
			files := live(t, liveRoot, nil)
			files["botd.yaml"] = regexp.MustCompile(`key_file: "[^"]*"`).ReplaceAllLiteralString(files["botd.yaml"], "key_file: "+secret(t, "nobody"))
			w.run(files, configs.Live, 2*time.Minute, nil)
			if failure.CodeOf(end) != failure.Credentials || !strings.Contains(end.Error(), "is unknown") {
				t.Errorf("want the key named as the reason, have %d, %v", failure.CodeOf(end), end)
			}
		})
	}
}

// TestAJournalThatFailsDuringAnOutageEndsWithItsCode uses a halt that cannot be written while the exchange is waited for.
func TestAJournalThatFailsDuringAnOutageEndsWithItsCode(t *testing.T) {
	supervised := supervisor(t)
	w := newWatched(t, scrapeEvery)
	var end error
	w.refused = &end
	w.set(func(r *http.Request, _ func() (*http.Response, error)) (*http.Response, error) {
		return answer(r, http.StatusServiceUnavailable, ""), nil
	})
	w.run(live(t, liveRoot, nil), configs.Live, 40*time.Second, func(p *process) {
		w.until(20 * time.Second)
		if err := p.store.Close(); err != nil {
			t.Error(err)
		}
		if err := p.driver.Send(context.Background(), &engine.EventHalt{Level: record.LevelPause, Reason: "news"}); !errors.Is(err, runtime.ErrNotDurable) {
			t.Errorf("want an error that the halt is not written, have %v", err)
		}
	})
	if failure.CodeOf(end) != failure.IO || !strings.Contains(end.Error(), "make room on the disk of data_dir") {
		t.Errorf("want a failure of the disk with a hint, have %d, %v", failure.CodeOf(end), end)
	}
	for _, want := range []string{"READY=1\nSTATUS=waiting for http://127.0.0.1:8421", "WATCHDOG=1"} {
		if !slices.Contains(supervised(), want) {
			t.Errorf("want systemd notified of %q, have %q", want, supervised())
		}
	}
}

// TestDecisionsLeaveTheLastRoomToTheJournal covers a disk with half of what is reserved for the journal, and one with half as much again.
func TestDecisionsLeaveTheLastRoomToTheJournal(t *testing.T) {
	t.Parallel()
	console, lines := logged(t)
	p := &process{config: &configs.Config{}, directory: t.TempDir(), console: console, board: view.NewBoard("demo", "one")}
	p.config.Retention.DecisionsMS = 1_000_000_000
	smallDisk(t, p.directory)
	for size, reported := range map[int64]bool{disk.MinFree / 2: true, disk.MinFree * 3 / 2: false} {
		resize(t, p.directory, size)
		store := p.keepDecisions()
		store.Add(view.Decision{ID: "1", Strategy: "trend"})
		store.Close()
		have := lines()
		if len(have) > 0 != reported || reported && !strings.Contains(have[0], "the disk is nearly full: its last free space is reserved for the journal") {
			t.Errorf("%d bytes: want it reported %t, have %q", size, reported, have)
		}
	}
}

// TestEquityThatCannotBeStoredIsReported uses a disk that is full when the first point is due.
func TestEquityThatCannotBeStoredIsReported(t *testing.T) {
	t.Parallel()
	directory := t.TempDir()
	smallDisk(t, directory)
	equity, err := view.OpenEquity(filepath.Join(directory, "equity.csv"))
	if err == nil {
		err = os.WriteFile(filepath.Join(directory, "other"), make([]byte, 1<<16), 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
	resize(t, directory, 0)
	console, lines := logged(t)
	p := &process{console: console, board: view.NewBoard("demo", "one")}
	synctest.Test(t, func(t *testing.T) {
		p.board.Show(engine.Status{NowMS: time.Now().UnixMilli(), Total: exchange.AmountOf(100), TotalKnown: true})
		stop := inBackground(t.Context(), func(ctx context.Context) { p.keepEquity(ctx, equity) })
		<-time.After(1500 * time.Millisecond)
		stop()
	})
	if have := lines(); len(have) != 1 || !strings.HasPrefix(have[0], "warn equity.write_failed equity    write the equity series: ") {
		t.Errorf("want it reported, have %q", have)
	}
	resize(t, directory, roomy)
	if err := equity.Close(); err != nil {
		t.Error(err)
	}
}

// TestALongJournalEndsWithACheckpoint uses a second run with more records than a start replays quickly.
func TestALongJournalEndsWithACheckpoint(t *testing.T) {
	t.Parallel()
	w := newWatched(t, scrapeEvery)
	w.down = []window{{time.Minute, 70 * time.Second}, {90 * time.Second, 100 * time.Second}}
	newest := func(p *process) (kind record.Kind, records int64) {
		store, err := journal.Open(context.Background(), p.path(), p.venue.Binding, journal.Options{})
		if err != nil {
			t.Error(err)
			return 0, 0
		}
		defer store.Close()
		last := func(s *journal.Stored) error { kind = s.Record.Kind(); return nil }
		if err := store.Select(context.Background(), journal.Filter{Last: 1}, last); err != nil {
			t.Error(err)
		}
		return kind, store.Records()
	}
	w.run(live(t, liveRoot, nil), configs.Live, 105*time.Second, func(p *process) {
		w.until(65 * time.Second)
		if kind, records := newest(p); kind == record.KindCheckpoint || records == 0 {
			t.Errorf("a short journal: want no checkpoint at the end, have %s after %d records", kind, records)
		}
		store, err := journal.Open(context.Background(), p.path(), p.venue.Binding, journal.Options{})
		if err != nil {
			t.Error(err)
			return
		}
		if err := errors.Join(store.Append(context.Background(), entries(slices.Repeat([]string{"one"}, journal.FewRecords)...)), store.Close()); err != nil {
			t.Error(err)
		}
		w.until(95 * time.Second)
		if kind, records := newest(p); kind != record.KindCheckpoint || records <= journal.FewRecords {
			t.Errorf("want a checkpoint at the end, have %s after %d records", kind, records)
		}
	})
}
