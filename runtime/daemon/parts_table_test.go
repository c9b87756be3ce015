package daemon

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"botd/configs"
	"botd/exchange"
	"botd/internal/failure"
	"botd/reconcile"
	"botd/reconcile/journal"
	"botd/reconcile/placement"
	"botd/reconcile/record"
	"botd/runtime/api"
	"botd/runtime/api/auth"
	"botd/runtime/engine"
	"botd/runtime/gateway"
	"botd/runtime/lane"
	"botd/runtime/ops"
	"botd/runtime/view"
	"botd/strategy"
)

// opened returns an open journal in a directory, with the audit entries of these people.
func opened(t *testing.T, directory string, people ...string) *journal.Journal {
	t.Helper()
	store, err := journal.Open(t.Context(), filepath.Join(directory, journal.FileName),
		journal.Binding{Mode: "paper", URL: "https://venue.example", KeyFingerprint: "f", Instance: "main"}, journal.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = store.Close() })
	if err := store.Append(t.Context(), entries(people...)); err != nil {
		t.Fatal(err)
	}
	return store
}

func entries(people ...string) (all []record.Record) {
	for i, who := range people {
		all = append(all, record.Record{AtMS: int64(i + 1), Body: record.Audit{Actor: who, Role: "operator", Action: "POST /x"}})
	}
	return all
}

// actors are the people in a history, oldest first.
func actors(h *view.History) (all []string) {
	audits, _ := h.Audits(view.Page{Limit: 100}, func(*view.Audit) bool { return true })
	for _, a := range slices.Backward(audits) {
		all = append(all, a.Actor)
	}
	return all
}

// counted returns the sum of a metric over its labels; of a histogram, its observations.
func counted(t *testing.T, m *ops.Metrics, name string) (sum float64) {
	t.Helper()
	families, err := m.Registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	for _, family := range families {
		if family.GetName() == name {
			for _, one := range family.GetMetric() {
				sum += one.GetCounter().GetValue() + one.GetGauge().GetValue() + float64(one.GetHistogram().GetSampleCount())
			}
		}
	}
	return sum
}

// TestTheHistoryHasEachRecordInItsOrder starts from a checkpoint after two records: the history takes these while botd trades, and then what became
// durable meanwhile; later records at once.
func TestTheHistoryHasEachRecordInItsOrder(t *testing.T) {
	t.Parallel()
	directory := t.TempDir()
	store := opened(t, directory, "one", "two")
	b := &backlog{history: view.NewHistory(), path: filepath.Join(directory, journal.FileName), until: store.Records()}
	timed := timedJournal{store, ops.NewMetrics("demo", ops.Build{}), b}
	appended := func(who string) error { return timed.Append(t.Context(), entries(who)) }
	if err := appended("three"); err != nil || actors(b.history) != nil {
		t.Errorf("before the older ones: want it held back, have %v, %v", actors(b.history), err)
	}
	b.run(t.Context())
	if err := appended("four"); err != nil {
		t.Error(err)
	}
	if have := actors(b.history); !slices.Equal(have, []string{"one", "two", "three", "four"}) {
		t.Errorf("want each once in its order, have %v", have)
	}
	whole := &backlog{history: view.NewHistory(), path: "/nowhere"}
	whole.Apply(&entries("five")[0])
	if whole.run(t.Context()); !slices.Equal(actors(whole.history), []string{"five"}) {
		t.Errorf("with all records read: want the next taken at once, have %v", actors(whole.history))
	}
	first := &backlog{history: view.NewHistory(), path: filepath.Join(directory, journal.FileName), until: 1}
	first.Apply(&entries("new")[0])
	if first.run(t.Context()); !slices.Equal(actors(first.history), []string{"one", "new"}) {
		t.Errorf("one record before the start: want it and the newer one, have %v", actors(first.history))
	}
	lost := &backlog{history: view.NewHistory(), path: filepath.Join(directory, "nothing.db"), until: 2}
	lost.Apply(&entries("six")[0])
	if lost.run(t.Context()); !slices.Equal(actors(lost.history), []string{"six"}) {
		t.Errorf("an unreadable journal: want the newer ones taken, have %v", actors(lost.history))
	}
	if err := store.Close(); err != nil {
		t.Fatal(err)
	}
	if err := appended("seven"); err == nil || slices.Contains(actors(b.history), "seven") {
		t.Errorf("not durable: want it left out of the history, have %v, %v", actors(b.history), err)
	}
	commits, failed := counted(t, timed.metrics, "botd_store_write_duration_seconds"), counted(t, timed.metrics, "botd_store_errors_total")
	if commits != 3 || failed != 1 {
		t.Errorf("want three commits measured, one of them failed, have %v and %v", commits, failed)
	}
}

// TestTheNewestRecordIsShown covers an empty journal, and one of two records.
func TestTheNewestRecordIsShown(t *testing.T) {
	t.Parallel()
	p := &process{store: opened(t, t.TempDir())}
	if head := p.newestRecord(t.Context()); head != nil {
		t.Errorf("no record: want none, have %+v", head)
	}
	p.store = opened(t, t.TempDir(), "one", "two")
	newest, err := p.store.Newest(t.Context())
	head := p.newestRecord(t.Context())
	if err != nil || head == nil || head.Records != 2 || head.Hash != newest.Hash || head.Hash == "" || head.At != newest.At || head.Keyed {
		t.Errorf("want the second, have %+v, %v", head, err)
	}
	p.key = journal.NewKey([]byte("a key of thirty-two bytes or more"))
	if head := p.newestRecord(t.Context()); head == nil || !head.Keyed {
		t.Errorf("want it shown that a key protects it, have %+v", head)
	}
	if err := p.store.Close(); err != nil || p.newestRecord(t.Context()) != nil {
		t.Errorf("unreadable: want none, have %v", err)
	}
}

// TestAUseOfTheKillSwitchIsShownInDurations covers a use in progress, one with nothing left to close, and one that the engine has taken over.
func TestAUseOfTheKillSwitchIsShownInDurations(t *testing.T) {
	t.Parallel()
	use := lane.Activation{SinceMS: 1_000, By: "token phone", Level: record.LevelFlatten,
		Cause: "the disk is full", Orders: 3}
	want := view.LaneUse{Since: time.UnixMilli(1_000).UTC(), RequestedBy: "token phone", Level: record.LevelFlatten, Cause: "the disk is full",
		Orders: 3, Active: true}
	for _, c := range []struct {
		done, over  int64
		after, took int64
		active      bool
	}{{0, 0, 0, 0, true}, {1_700, 0, 700, 0, true}, {1_700, 4_500, 700, 3_500, false}, {0, 4_500, 0, 3_500, false}} {
		use.DoneMS, use.EndedMS = c.done, c.over
		if want.DoneAfterMS, want.TookMS, want.Active = c.after, c.took, c.active; *useShown(&use) != want {
			t.Errorf("want %+v, have %+v", want, *useShown(&use))
		}
	}
	p := &process{metrics: ops.NewMetrics("demo", ops.Build{})}
	p.laneUsed(lane.Activation{SinceMS: 1_000, EndedMS: 4_500})
	if have := counted(t, p.metrics, "botd_out_of_band_halt_seconds"); have != 3.5 {
		t.Errorf("want the seconds of a use measured, have %v", have)
	}
	if (&process{}).laneUse() != nil {
		t.Error("without a lane: want none")
	}
}

// TestDeclaredStatesAreShownAtOnce covers the facts of the states that docs/ARCHITECTURE.md declares, and others.
func TestDeclaredStatesAreShownAtOnce(t *testing.T) {
	t.Parallel()
	for _, fact := range []engine.Fact{engine.NoteHalt{}, engine.NoteQuarantine{}, engine.NoteContradicted{}, engine.NoteBlind{}, engine.NoteStalled{},
		engine.NoteBreaker{}, engine.NoteLimit{}, engine.NoteLatch{}, engine.NoteStrategyFailed{}, engine.NoteHung{}, engine.NoteJournal{}, engine.NoteReload{},
		engine.NoteLimitSet{}} {
		if !declares(fact) {
			t.Errorf("%T: want it shown at once", fact)
		}
	}
	for _, fact := range []engine.Fact{engine.NoteCandle{}, engine.NoteDecision{}, engine.NoteRound{}, engine.NotePosition{}, engine.NoteApproved{}} {
		if declares(fact) {
			t.Errorf("%T: want it shown in its time", fact)
		}
	}
}

// idle is an engine without strategies, over a tracker that may be halted, with more records.
func idle(t *testing.T, halt record.HaltLevel, more ...record.Record) *engine.Engine {
	t.Helper()
	bounds := placement.Bounds{WindowMS: 5_000, VisibilityMS: 1_000, StalenessMS: 1_000}
	tracker := reconcile.NewTracker(bounds)
	if halt != record.LevelNone {
		tracker.Apply(&record.Record{AtMS: 1, Body: record.Halt{Level: halt, Reason: "the news"}})
	}
	for i := range more {
		tracker.Apply(&more[i])
	}
	machine, err := engine.New(engine.Config{Instance: "one", Epoch: 1, Random: "00000", BusyRoundMS: 1_000, IdleRoundMS: 15_000, CloseLagMS: 2_000,
		TimeToLiveMS: 5_000, Bounds: bounds, Breaker: engine.BreakerConfig{Uncertain: 3, WithinMS: 600_000, PauseMS: 600_000}}, tracker)
	if err != nil {
		t.Fatal(err)
	}
	return machine
}

// TestStartReportsWhatItFinds covers the lines of a start: plain, and one after a run that was cut off, halted, of an older journal, live and unmeasured.
func TestStartReportsWhatItFinds(t *testing.T) {
	t.Parallel()
	strategies := []configs.StrategyConfig{{Name: "trend", Kind: "sma_cross", Market: exchange.Futures, Symbol: "BTC-USDT"}}
	for _, c := range []struct {
		mode    configs.Mode
		unclean bool
		older   string
		halt    record.HaltLevel
		want    []string // beginnings of the lines, in addition to those of memory
	}{
		{configs.Demo, false, "", record.LevelNone, []string{
			"info daemon.started botd      demo on here; 1 strategy; data in /data; Ctrl-C stops",
			"info daemon.strategy strategy  trend: sma_cross on futures BTC-USDT, "}},
		{configs.Live, true, "/data/old.db", record.LevelCancel, []string{
			"info daemon.started botd      live on here; 1 strategy; data in /data; Ctrl-C stops",
			"info daemon.strategy strategy  trend: sma_cross on futures BTC-USDT, ",
			"warn journal.migrated journal   of an older botd was migrated; the backup is /data/old.db",
			"warn exchange.unmeasured exchange  no probe has measured exchange.settle: ",
			"warn daemon.unclean restart   the previous run did not stop cleanly; what it left open is determined first",
			"warn trading.halted HALTED    cancel: the news; botd rearm ends it"}},
	} {
		console, lines := logged(t)
		p := &process{config: &configs.Config{Mode: c.mode, Strategies: strategies}, directory: "/data", venue: &gateway.Exchange{Where: "here"},
			console: console, machine: idle(t, c.halt), unclean: c.unclean, older: c.older}
		p.logStart()
		have := slices.DeleteFunc(lines(), func(line string) bool {
			return strings.Contains(line, "daemon.memory") || strings.Contains(line, "profile.client_order_id")
		})
		if len(have) != len(c.want) {
			t.Errorf("%s: want %d lines, have %q", c.mode, len(c.want), have)
			continue
		}
		for i, want := range c.want {
			if !strings.HasPrefix(have[i], want) {
				t.Errorf("%s: want %q, have %q", c.mode, want, have[i])
			}
		}
	}
}

// TestEndOfReadingReportsWhatIsUncertain covers orders of the run before: none, one that is known, and others whose answers were lost.
func TestEndOfReadingReportsWhatIsUncertain(t *testing.T) {
	t.Parallel()
	key := exchange.SymbolKey{Market: exchange.Futures, Name: "BTC-USDT"}
	sent := func(id string, answer record.Body) []record.Record {
		order := exchange.NewOrder{Market: key.Market, Symbol: key.Name, Side: exchange.Buy, Type: exchange.MarketOrder, Quantity: 1, ClientOrderID: id}
		return []record.Record{{AtMS: 1, Strategy: "trend", Symbol: key, ClientOrderID: id, Body: record.Sending{Order: order, Purpose: placement.Entry}},
			{AtMS: 2, Strategy: "trend", Symbol: key, ClientOrderID: id, Body: answer}}
	}
	known := sent("bone-1-1", record.Acknowledged{OrderID: 7})
	one := slices.Concat(known, sent("bone-1-2", record.Uncertain{Reason: "timeout"}))
	const uncertain = "the outcome of %d placements of the previous run is uncertain; nothing opens on their symbols until it is known"
	for want, records := range map[string][]record.Record{"nothing is uncertain": known, fmt.Sprintf(uncertain, 1): one,
		fmt.Sprintf(uncertain, 2): slices.Concat(one, sent("bone-1-3", record.Uncertain{}))} {
		console, lines := logged(t)
		logReconciled(console, idle(t, record.LevelNone, records...), 1_234_567*time.Microsecond)
		if have := lines(); !slices.Equal(have, []string{"info daemon.reconciled known     orders and positions, 1.235s after the start; " + want}) {
			t.Errorf("want %s, have %q", want, have)
		}
	}
}

// TestTheLogIsStoredUntilItStops writes a line while it is stored, and one afterwards; without room for logs none.
func TestTheLogIsStoredUntilItStops(t *testing.T) {
	t.Parallel()
	for mib, want := range map[int][]string{8: {"stored"}, 0: nil} {
		p := &process{config: &configs.Config{}, directory: t.TempDir(), logs: ops.NewLogs()}
		p.config.Retention.LogsMiB = mib
		p.console = ops.NewConsole(io.Discard, ops.Format{JSON: true}, nil, p.logs)
		stop := p.storeLogs()
		p.console.Say("daemon.started", "stored")
		stop()
		p.console.Say("daemon.stopped", "not stored")
		var have []string
		err := ops.ReadLogs(p.directory, func(path string) (io.ReadCloser, error) { return os.Open(path) },
			func(l *ops.LogLine) { have = append(have, l.Message) })
		if err != nil || !slices.Equal(have, want) {
			t.Errorf("%d MiB: want %q, have %q, %v", mib, want, have, err)
		}
	}
}

// TestDecisionsThatAreNotStoredAreReportedAndTheirReturn uses a file in place of their directory, until it is removed.
func TestDecisionsThatAreNotStoredAreReportedAndTheirReturn(t *testing.T) {
	t.Parallel()
	console, lines := logged(t)
	p := &process{config: &configs.Config{}, directory: t.TempDir(), console: console, board: view.NewBoard("demo", "one")}
	p.config.Retention.DecisionsMS = 1_000_000_000
	folder := filepath.Join(p.directory, "decisions")
	if err := os.WriteFile(folder, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	synctest.Test(t, func(t *testing.T) {
		store := p.keepDecisions()
		store.Add(view.Decision{ID: "1", Strategy: "trend"})
		synctest.Wait()
		if have := lines(); len(have) != 1 || !strings.HasPrefix(have[0], "warn decisions.failed decisions are not stored for the dashboard: ") ||
			!strings.HasSuffix(have[0], "; trading is not affected") {
			t.Errorf("want it reported, have %q", have)
		}
		if err := os.Remove(folder); err != nil {
			t.Fatal(err)
		}
		store.Add(view.Decision{ID: "2", Strategy: "trend"})
		store.Close()
		if have := lines(); !slices.Equal(have, []string{"info decisions.back decisions are stored again"}) {
			t.Errorf("want its return, have %q", have)
		}
	})
}

// TestAMissingTokenFileIsWrittenAgainWithinASecond also keeps the directory's lock.
func TestAMissingTokenFileIsWrittenAgainWithinASecond(t *testing.T) {
	t.Parallel()
	directory := t.TempDir()
	lock, err := journal.Hold(directory)
	if err != nil {
		t.Fatal(err)
	}
	defer lock.Release()
	tokens, first, err := auth.ReadTokens(directory)
	if err != nil || !first {
		t.Fatal(first, err)
	}
	synctest.Test(t, func(t *testing.T) {
		stop := inBackground(t.Context(), func(ctx context.Context) { (&process{directory: directory, lock: lock}).keepFiles(ctx, tokens) })
		if err := os.Remove(filepath.Join(directory, auth.OperatorFile)); err != nil {
			t.Fatal(err)
		}
		<-time.After(time.Second + time.Millisecond)
		synctest.Wait()
		if again, made, err := auth.ReadTokens(directory); err != nil || made || again != tokens {
			t.Errorf("want the same token again, have %t, %v", made, err)
		}
		stop()
		if err := os.Remove(filepath.Join(directory, auth.OperatorFile)); err != nil {
			t.Fatal(err)
		}
		<-time.After(time.Minute)
		if _, err := os.Lstat(filepath.Join(directory, auth.OperatorFile)); !errors.Is(err, os.ErrNotExist) {
			t.Errorf("after the end: want it left alone, have %v", err)
		}
	})
}

// tokenFile is a file with a token of forty letters.
func tokenFile(t *testing.T) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "token")
	if err := os.WriteFile(path, []byte(strings.Repeat("t", 40)+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// configured is a daemon that has not started, with a changed configuration, and the lines that it logs.
func configured(t *testing.T, change func(c *configs.Config)) (p *process, lines func() []string) {
	t.Helper()
	console, lines := logged(t)
	p = &process{config: &configs.Config{Listen: configs.ListenOff}, directory: t.TempDir(), console: console, accept: api.Listen,
		metrics: ops.NewMetrics("demo", ops.Build{})}
	change(p.config)
	return p, lines
}

// TestAddressesThatCannotBeUsedEndAStart covers each listener of a daemon: switched off, with a token that cannot be read, and at an address that it may
// not use.
func TestAddressesThatCannotBeUsedEndAStart(t *testing.T) {
	t.Parallel()
	token, short := tokenFile(t), filepath.Join(t.TempDir(), "token")
	if err := os.WriteFile(short, []byte("fifteen letters\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	busy, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer busy.Close()
	taken := busy.Addr().String()
	for name, c := range map[string]struct {
		change func(c *configs.Config)
		code   int
		try    func(p *process) error
	}{
		"metrics off": {func(*configs.Config) {}, failure.OK,
			func(p *process) error { m, err := p.listenMetrics(api.Access{}); return errors.Join(err, m.close()) }},
		"metrics without a token": {func(c *configs.Config) { c.Metrics.Listen = "127.0.0.1:0" }, failure.Credentials,
			func(p *process) error { _, err := p.listenMetrics(api.Access{}); return err }},
		"metrics at a taken address": {func(c *configs.Config) { c.Metrics = configs.MetricsConfig{Listen: taken, TokenFile: token} }, failure.Unavailable,
			func(p *process) error { _, err := p.listenMetrics(api.Access{}); return err }},
		"signals off": {func(*configs.Config) {}, failure.OK, func(p *process) error { _, err := p.startSignals(); return err }},
		"signals without a token": {func(c *configs.Config) { c.Signals.Listen = taken }, failure.Credentials,
			func(p *process) error { _, err := p.startSignals(); return err }},
		"signals with a short token": {func(c *configs.Config) { c.Signals = configs.SignalsConfig{Listen: taken, TokenFile: short} }, failure.Credentials,
			func(p *process) error { _, err := p.startSignals(); return err }},
		"signals at a taken address": {func(c *configs.Config) { c.Signals = configs.SignalsConfig{Listen: taken, TokenFile: token} }, failure.Unavailable,
			func(p *process) error { _, err := p.startSignals(); return err }},
		"telegram off": {func(*configs.Config) {}, failure.OK, func(p *process) error {
			if commands, err := readTelegram(p.config); err != nil || commands != nil {
				return errors.Join(errors.New("want no commands"), err)
			}
			return nil
		}},
		"telegram without a token": {func(c *configs.Config) { c.Telegram.Viewers = []int64{7} }, failure.Credentials,
			func(p *process) error { _, err := readTelegram(p.config); return err }},
		"the API at a taken address": {func(c *configs.Config) { c.Listen = taken }, failure.Unavailable,
			func(p *process) error { _, _, err := p.listen(api.Access{}); return err }},
		"the API open to others": {func(c *configs.Config) { c.Listen = "0.0.0.0:0" }, failure.Config,
			func(p *process) error { _, _, err := p.listen(api.Access{}); return err }},
	} {
		p, _ := configured(t, c.change)
		var coded *failure.Error
		if err := c.try(p); (err == nil) != (c.code == failure.OK) || err != nil && (!errors.As(err, &coded) || coded.Code != c.code) {
			t.Errorf("%s: want code %d, have %v", name, c.code, err)
		}
	}
}

// TestTheListenersAreThoseOfTheConfiguration covers the metrics at an address of their own, and the API on its socket alone, at an address too, and in a
// directory whose path is too long for a socket.
func TestTheListenersAreThoseOfTheConfiguration(t *testing.T) {
	t.Parallel()
	token := tokenFile(t)
	p, lines := configured(t, func(c *configs.Config) { c.Metrics = configs.MetricsConfig{Listen: "127.0.0.1:0", TokenFile: token} })
	m, err := p.listenMetrics(api.Access{})
	if err != nil || m.token != strings.Repeat("t", 40) {
		t.Fatal(m, err)
	}
	if want := []string{"info daemon.metrics metrics   all of them on " + m.listener.Addr().String() + ", for their token"}; !slices.Equal(lines(), want) {
		t.Errorf("want %q reported", want)
	}
	if err := m.close(); err != nil {
		t.Error(err)
	}
	listeners, address, err := p.listen(api.Access{})
	if err != nil || len(listeners) != 1 || address != "" {
		t.Errorf("off: want the socket alone, have %d at %q, %v", len(listeners), address, err)
	}
	p, _ = configured(t, func(c *configs.Config) { c.Listen = "127.0.0.1:0" })
	both, address, err := p.listen(api.Access{})
	if err != nil || len(both) != 2 || address != "http://"+both[1].Addr().String() {
		t.Errorf("want the socket and an address, have %d at %q, %v", len(both), address, err)
	}
	p, _ = configured(t, func(c *configs.Config) { c.Listen = "127.0.0.1:0" })
	p.accept = func(address string, access api.Access) (net.Listener, error) {
		access.Certificate = ""
		return api.Listen(address, access)
	}
	secured, address, err := p.listen(api.Access{Certificate: "certificate.pem"})
	if err != nil || len(secured) != 2 || address != "https://"+secured[1].Addr().String() {
		t.Errorf("with a certificate: want the socket and an address of https, have %d at %q, %v", len(secured), address, err)
	}
	p, lines = configured(t, func(*configs.Config) {})
	p.directory = filepath.Join(p.directory, strings.Repeat("long", 40))
	if none, _, err := p.listen(api.Access{}); err != nil || len(none) != 0 || len(lines()) != 1 {
		t.Errorf("a path too long for a socket: want a warning and no end, have %d, %v", len(none), err)
	}
	for _, listener := range slices.Concat(listeners, both, secured) {
		_ = listener.Close()
	}
}

// TestConfigurationRequestReturnsTheActiveOne requests a strategy that exists and one that does not.
func TestConfigurationRequestReturnsTheActiveOne(t *testing.T) {
	t.Parallel()
	current := &configs.Config{Directory: "/etc/botd", Files: []string{"/etc/botd/botd.yaml"}, Strategies: []configs.StrategyConfig{
		{Name: "trend", Kind: "sma_cross", Params: strategy.Values{"fast": "5", "slow": "20"}}}}
	yaml := strategyYAML(func() *configs.Config { return current })
	if !strings.Contains(yaml("trend"), "name: trend") || yaml("other") != "" {
		t.Errorf("want that of trend alone, have %q and %q", yaml("trend"), yaml("other"))
	}
	lines := plots(func() *configs.Config { return current })
	if len(lines("trend")) != 2 || lines("other") != nil {
		t.Errorf("want the two averages of trend alone, have %v and %v", lines("trend"), lines("other"))
	}
	shown := configuration(func() *configs.Config { return current })()
	if shown.Directory != "/etc/botd" || !slices.Equal(shown.Files, current.Files) || shown.Hash != current.Hash() || shown.YAML != current.Effective() ||
		len(shown.Settings) == 0 || shown.Settings[0].Key == "" {
		t.Errorf("have %+v", shown)
	}
	before := shown.Hash
	current = &configs.Config{Mode: configs.Paper}
	if yaml("trend") != "" || configuration(func() *configs.Config { return current })().Hash == before {
		t.Error("after a reload: want the new one")
	}
}
