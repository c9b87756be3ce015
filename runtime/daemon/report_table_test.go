package daemon

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"botd/configs"
	"botd/exchange"
	"botd/exchange/rest"
	"botd/exchange/sim"
	"botd/internal/failure"
	"botd/reconcile/account"
	"botd/reconcile/journal"
	"botd/reconcile/ledger"
	"botd/reconcile/placement"
	"botd/reconcile/record"
	"botd/runtime"
	"botd/runtime/engine"
	"botd/runtime/incident"
	"botd/runtime/notify"
	"botd/runtime/ops"
	"botd/runtime/view"
)

// logged is a console, and the lines that it has logged since the last call: level, event and text of each.
func logged(t *testing.T) (console *ops.Console, lines func() []string) {
	t.Helper()
	logs := ops.NewLogs()
	count := 0
	return ops.NewConsole(io.Discard, ops.Format{JSON: true}, nil, logs), func() (have []string) {
		logs.Lines(func(all []ops.LogLine) {
			for _, l := range all[count:] {
				have = append(have, l.Level+" "+l.Event+" "+l.Message)
			}
			count = len(all)
		})
		return have
	}
}

// TestTheClockIsCheckedByItsAgeAndItsBound covers readings in virtual time: good ones, failures around fifteen minutes, and bounds
// next to half of the window.
func TestTheClockIsCheckedByItsAgeAndItsBound(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		console, lines := logged(t)
		board := view.NewBoard("demo", "one")
		c := &clockwork{metrics: ops.NewMetrics("demo", ops.Build{}), board: board, console: console, window: 5 * time.Second}
		busy := errors.New("busy")
		for i, step := range []struct {
			wait    time.Duration
			reading rest.ClockReading
			ok      bool
			detail  string
			lines   []string
		}{
			{0, rest.ClockReading{Offset: 1_499_600 * time.Microsecond, Bound: 2 * time.Millisecond}, true, "off by 1.5s within 2ms", nil},
			{0, rest.ClockReading{Bound: 2_500 * time.Millisecond}, true, "off by 0s within 2.5s", nil},
			{0, rest.ClockReading{Bound: 2_501 * time.Millisecond}, false, "off by 0s within 2.501s: too uncertain for a window of 5s", nil},
			{0, rest.ClockReading{Bound: time.Millisecond, Err: busy}, true, "off by 0s within 1ms",
				[]string{"warn clock.unread clock     the exchange's clock cannot be read: busy; the last reading stays in use"}},
			{15 * time.Minute, rest.ClockReading{Bound: time.Millisecond, Err: busy}, true, "off by 0s within 1ms", nil},
			{time.Second, rest.ClockReading{Bound: time.Millisecond, Err: busy}, false, "off by 0s within 1ms, read 15m1s ago: busy", nil},
			{0, rest.ClockReading{Offset: -3 * time.Second, Bound: time.Millisecond}, true, "off by -3s within 1ms",
				[]string{"warn clock.read clock     the exchange's clock can be read again: off by -3s within 1ms"}},
			{14 * time.Minute, rest.ClockReading{Jumped: 90_000_400 * time.Microsecond, Bound: time.Millisecond}, true, "off by 0s within 1ms",
				[]string{"warn clock.jumped clock     the local clock jumped by 1m30s (it was set, or the machine slept); reading the exchange's clock again"}},
		} {
			<-time.After(step.wait)
			c.observe(step.reading)
			checks := board.Checks()
			have := checks[len(checks)-1]
			if have != (ops.Check{Name: "clock", OK: step.ok, Detail: step.detail}) {
				t.Errorf("reading %d: want %v, %q, have %+v", i, step.ok, step.detail, have)
			}
			if have := lines(); !slices.Equal(have, step.lines) {
				t.Errorf("reading %d: want %q, have %q", i, step.lines, have)
			}
		}
		if have := counted(t, c.metrics, "botd_exchange_clock_bound_seconds"); have != 0.001 {
			t.Errorf("want the newest bound measured, have %v", have)
		}
		if have := counted(t, c.metrics, "botd_exchange_clock_jumps_total"); have != 1 {
			t.Errorf("want one jump counted, have %v", have)
		}
		if c.window = 0; !c.check(rest.ClockReading{Bound: time.Hour}).OK {
			t.Error("without a window: want any bound good")
		}
	})
}

func symbolOf(t *testing.T, market exchange.Market, name string) *exchange.Symbol {
	t.Helper()
	symbol, found := exchange.FindSymbol(sim.DefaultSymbols(), market, name)
	if !found {
		t.Fatal(name)
	}
	return symbol
}

// TestEntriesAndChangesAreReported takes positions of BTC-USDT, whose step is 0.001, one after the other.
func TestEntriesAndChangesAreReported(t *testing.T) {
	t.Parallel()
	console, lines := logged(t)
	futures, spot := symbolOf(t, exchange.Futures, "BTC-USDT"), symbolOf(t, exchange.Spot, "BTC-USDT")
	var taken []string
	trades := &trades{positions: map[string]exchange.Quantity{}, log: console, notify: func(trade *notify.Trade) {
		taken = append(taken, fmt.Sprintf("%s %s %s %d", trade.Name, trade.Strategy, trade.Text, trade.At.UnixMilli()))
	}}
	for _, c := range []struct {
		symbol   *exchange.Symbol
		strategy string
		quantity string
		entry    string
		want     string
	}{
		{futures, "a", "0.01", "60000.5", "trade.opened a opened: long 0.01 BTC-USDT at 60000.5"},
		{futures, "a", "0.01", "60000.5", ""},
		{futures, "a", "0.02", "60010", "trade.changed a changed: long 0.02 BTC-USDT at 60010, was 0.01"},
		{futures, "a", "-0.02", "60010", "trade.opened a opened: short 0.02 BTC-USDT at 60010"},
		{futures, "a", "-0.005", "60010", "trade.changed a changed: short 0.005 BTC-USDT at 60010, was 0.02"},
		{futures, "a", "0", "0", ""},
		{futures, "a", "-0.005", "60010", "trade.opened a opened: short 0.005 BTC-USDT at 60010"},
		{spot, "b", "0.01", "0", "trade.opened b opened: long 0.01 BTC-USDT at 50000"}, // the last price, since spot reports none
		{nil, "c", "0.01", "1", ""},
	} {
		note := &engine.Note{AtMS: 7_000, Strategy: c.strategy, Symbol: c.symbol}
		fact := engine.NotePosition{EntryPrice: exchange.MustAmount(c.entry)}
		if c.symbol != nil {
			fact.Quantity, fact.Last = c.symbol.QuantityOf(exchange.MustAmount(c.quantity)), c.symbol.FloorPrice(c.symbol.PriceOf(exchange.MustAmount("50000")))
		}
		note.Fact = fact
		taken = nil
		trades.note(note)
		want, line := []string(nil), []string(nil)
		if c.want != "" {
			name, text, _ := strings.Cut(c.want, " ")
			want, line = []string{name + " " + c.strategy + " " + text + " 7000"}, []string{"info " + name + " trade     " + text}
		}
		if have := lines(); !slices.Equal(taken, want) || !slices.Equal(have, line) {
			t.Errorf("%s %s: want %q, have %q, %q", c.strategy, c.quantity, c.want, taken, have)
		}
	}
	trades.note(&engine.Note{Strategy: "a", Symbol: futures, Fact: engine.NoteRound{}})
	trades.note(&engine.Note{Strategy: "d", Fact: engine.NotePosition{Quantity: 1}})
	if len(lines()) != 0 || trades.positions["a"] == 0 || trades.positions["d"] != 0 {
		t.Errorf("another note, and one without a symbol: want nothing reported and the position remembered, have %v", trades.positions)
	}
}

// TestExitsAreReportedWithTheirResult types the words of three round trips.
func TestExitsAreReportedWithTheirResult(t *testing.T) {
	t.Parallel()
	console, lines := logged(t)
	var taken []*notify.Trade
	trades := &trades{log: console, notify: func(trade *notify.Trade) { taken = append(taken, trade) }}
	amount := exchange.MustAmount
	trip := ledger.RoundTrip{Strategy: "a", Symbol: exchange.SymbolKey{Market: exchange.Futures, Name: "BTC-USDT"}, Asset: "USDT", Side: exchange.Buy,
		Quantity: amount("0.01"), EntryPrice: amount("60000"), ExitPrice: amount("61000"), Realized: amount("10"), Fees: amount("0.605"),
		Funding:   amount("0.1"),
		EnteredMS: 1_000, LeftMS: 91_400, By: placement.Exit, Whole: true}
	short := trip
	short.Side, short.Realized, short.Funding, short.Liquidated, short.Whole, short.LeftMS = exchange.Sell, amount("-10"), amount("-1"), true, false, 500
	manual := trip
	manual.By, manual.EnteredMS = 0, 91_400
	for i, c := range []struct {
		trip ledger.RoundTrip
		want string
		by   string
		net  string
	}{
		{trip, "a closed by exit: long 0.01 BTC-USDT from 60000 to 61000 after 1m30s, net +9.30 USDT (fees and funding 0.71)", "exit", "9.295"},
		{short, "a closed by liquidation: short 0.01 BTC-USDT from 60000 to 61000 after 0s, net -9.61 USDT (fees and funding -0.40)" +
			"; some of the amounts are unknown", "liquidation", "-9.605"},
		{manual, "a closed by manual: long 0.01 BTC-USDT from 60000 to 61000 after 0s, net +9.30 USDT (fees and funding 0.71)", "manual", "9.295"},
	} {
		trades.closed(&c.trip)
		if have := lines(); !slices.Equal(have, []string{"info trade.closed trade     " + c.want}) {
			t.Errorf("want %q, have %q", c.want, have)
		}
		one := taken[i]
		if one.Name != "trade.closed" || one.Strategy != "a" || one.Text != c.want || one.By != c.by || one.Net.String() != c.net || one.Asset != "USDT" ||
			one.At.UnixMilli() != c.trip.LeftMS {
			t.Errorf("want it notified of, have %+v", one)
		}
	}
}

// TestLinesOfTheLogAreEvents covers a line of each level, and one that an incident covers.
func TestLinesOfTheLogAreEvents(t *testing.T) {
	t.Parallel()
	for level, want := range map[string]notify.Severity{"debug": 0, "info": 0, "warn": notify.Warning, "error": notify.Error, "fatal": notify.Error,
		"panic": notify.Error} {
		e := eventOf(&ops.LogLine{Time: "2026-03-01T10:00:00.5Z", Level: level, Event: "exchange.slow", Message: "it is slow"})
		if e.Severity != want || e.Name != "exchange.slow" || e.Text != "it is slow" || e.Covered ||
			!e.At.Equal(time.Date(2026, 3, 1, 10, 0, 0, 500_000_000, time.UTC)) {
			t.Errorf("%s: have %+v", level, e)
		}
	}
	for event := range strings.FieldsSeq(`breaker.tripped breaker.ended exchange.blind exchange.back intent.refused intent.accepted journal.failed journal.low
		journal.lost journal.back ledger.unexplained limit.breached limit.ended market.stale market.fresh paper.stale paper.fresh position.unprotected
		position.protected strategy.failed strategy.hung strategy.answers symbol.contradicted symbol.confirmed symbol.foreign symbol.clear
		symbol.quarantined symbol.resolved trading.halted`) {
		if e := eventOf(&ops.LogLine{Event: event}); !e.Covered {
			t.Errorf("%s: want a line whose state is an incident covered", event)
		}
	}
}

// TestIncidentsAreLoggedByTheirChange types each change's event, and the subject of its mail.
func TestIncidentsAreLoggedByTheirChange(t *testing.T) {
	t.Parallel()
	console, lines := logged(t)
	p := &process{console: console}
	one := incident.Incident{ID: 7, Kind: "rate_limited", Severity: incident.Warning, Scope: account.Scope{Strategy: "grid"}, Cause: "429", Remedy: "wait",
		OpenedMS: 1_000, ClosedMS: 31_600, Times: 1}
	const do = "RATE LIMITED (strategy grid): 429. Runbook: BotdRateLimited. Remedy: wait"
	for change, want := range map[incident.Change][2]string{
		incident.Opened:    {"warn incident.opened incident  7, warning: " + do, ""},
		incident.Reminded:  {"warn incident.reminder incident  7 continues after 0s, warning: " + do, " continues"},
		incident.Returned:  {"warn incident.reminder incident  7 is back, warning: " + do, " is back"},
		incident.Escalated: {"warn incident.escalated incident  7 has become critical after 0s: " + do, " is critical"},
		incident.Closed:    {"info incident.closed incident  7 is over: RATE LIMITED (strategy grid), after 31s", " is over"},
	} {
		report := incident.Report{Change: change, Incident: one}
		p.reportIncident(&report)
		if have := lines(); !slices.Equal(have, []string{want[0]}) {
			t.Errorf("%s: want %q, have %q", change, want[0], have)
		}
		if have := incidentSubject(&report); have != "RATE LIMITED (strategy grid)"+want[1] {
			t.Errorf("%s: have the subject %q", change, have)
		}
	}
	if severityOf(&one) != notify.Warning {
		t.Error("want a warning to be one")
	}
}

// TestQuietHoursOfARunThatWasCutOffBoundItsLostMessages covers quiet hours over midnight, and within a day.
func TestQuietHoursOfARunThatWasCutOffBoundItsLostMessages(t *testing.T) {
	t.Parallel()
	p := &process{unclean: true, config: &configs.Config{}}
	if have := p.heldBack(); have != 0 {
		t.Errorf("no channel: have %s", have)
	}
	p.config.Notify.Channels = []configs.ChannelConfig{{QuietFrom: 13 * 60, QuietUntil: 14*60 + 30}, {QuietFrom: 22 * 60, QuietUntil: 7 * 60}, {}}
	if have := p.heldBack(); have != 9*time.Hour {
		t.Errorf("want the longest quiet hours, from 22:00 to 7:00, have %s", have)
	}
	if p.unclean = false; p.heldBack() != 0 {
		t.Error("a clean stop: want none")
	}
}

// TestTheDeadMansServiceHasAReason covers the board after each time without progress.
func TestTheDeadMansServiceHasAReason(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		p := &process{board: view.NewBoard("demo", "one")}
		want := func(when, text string) {
			t.Helper()
			if have := p.fault(); have != text {
				t.Errorf("%s: want %q, have %q", when, text, have)
			}
		}
		want("before the first beat", "the engine makes no progress")
		p.board.Beat()
		want("without strategies", "")
		p.board.Show(engine.Status{Strategies: make([]engine.StrategyStatus, 1)})
		want("at the start", "")
		<-time.After(2 * time.Minute)
		p.board.Beat()
		want("without a round", "no round has ended for two minutes")
		p.board.Note(&engine.Note{Fact: engine.NoteRound{Complete: true}})
		want("a complete round", "")
		for range 10 {
			<-time.After(time.Minute)
			p.board.Beat()
			p.board.Note(&engine.Note{Fact: engine.NoteRound{}})
		}
		want("ten minutes of incomplete rounds, without a channel", "no round has been complete for five minutes, and there is no channel that reports it")
		p.notifier = notify.New(notify.Config{})
		want("with a channel", "")
		<-time.After(10 * time.Minute)
		want("after a pause", "the engine makes no progress")
	})
}

// TestAnOutageIsDeclared counts tries, and has the news of them a minute apart.
func TestAnOutageIsDeclared(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := &outage{since: time.Now(), cause: "refused", tries: 1}
		want := func(cause string, tries int, due bool) {
			t.Helper()
			if c, n, d := w.dueReport(); c != cause || n != tries || d != due {
				t.Errorf("want %q, %d, %v, have %q, %d, %v", cause, tries, due, c, n, d)
			}
		}
		want("refused", 1, true)
		<-time.After(time.Minute - 1)
		w.failed(errors.Join(errors.New("closed"), errors.New("no spot"))) // of both markets' lists
		want("", 0, false)
		<-time.After(1)
		want("closed; no spot", 2, true)
		one := w.degraded()
		if one.State != "waiting" || one.Cause != "closed; no spot" || one.SinceMS != time.Now().Add(-time.Minute).UnixMilli() || one.Remedy == "" ||
			w.blindText() != "the account cannot be seen: closed; no spot" {
			t.Errorf("have %+v, %s", one, w.blindText())
		}
		shown := outageEngine{outage: w}
		for level, blind := range map[record.HaltLevel]int{record.LevelPause: 0, record.LevelCancel: 1, record.LevelFlatten: 1} {
			if have := shown.HaltBlind(level, account.Scope{}, 0); len(have) != blind {
				t.Errorf("%s: want %d things unseen, have %q", level, blind, have)
			}
		}
	})
	for want, errs := range map[bool][]error{
		true:  {failure.Wrap(failure.Unavailable, errors.New("x")), fmt.Errorf("y: %w", failure.Wrap(failure.Unavailable, errors.New("x")))},
		false: {nil, errors.New("x"), failure.Wrap(failure.Credentials, errors.New("x")), failure.Wrap(failure.Config, errors.New("x"))},
	} {
		for _, err := range errs {
			if waitable(err) != want {
				t.Errorf("%v: want waitable %v", err, want)
			}
		}
	}
}

// TestFailuresHaveTheirExitCodes covers each kind of a run's end.
func TestFailuresHaveTheirExitCodes(t *testing.T) {
	t.Parallel()
	other := errors.New("x")
	for _, c := range []struct {
		err  error
		code int
		hint string
	}{
		{&runtime.InternalError{}, failure.Internal, "this is a bug"},
		{fmt.Errorf("append: %w", journal.ErrBroken), failure.IO, "check the disk"},
		{fmt.Errorf("stop: %w", runtime.ErrNotDurable), failure.IO, "make room on the disk of data_dir"},
	} {
		var coded *failure.Error
		if have := Failure(c.err); !errors.As(have, &coded) || coded.Code != c.code || !strings.Contains(have.Error(), c.hint) {
			t.Errorf("%v: want %d, %q, have %#v", c.err, c.code, c.hint, have)
		}
	}
	if Failure(nil) != nil || Failure(other) != other {
		t.Error("want a clean end, and any other error as it is")
	}
	if a, b := stopTimeout(engine.ShutdownLeave), stopTimeout("flatten"); a != runtime.DefaultStopTimeout || b != 3*a {
		t.Errorf("want three times as long where orders are canceled first, have %s and %s", a, b)
	}
}

// TestTheLogsFormatAndLevelAreChosen covers each choice, at a terminal and without one.
func TestTheLogsFormatAndLevelAreChosen(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		format, level string
		terminal      bool
		json          bool
		fault         string
	}{
		{"auto", "", false, true, ""}, {"auto", "warn", true, false, ""}, {"json", "", true, true, ""}, {"console", "", false, false, ""},
		{"xml", "", false, false, "--log-format xml: auto, console or json"},
		{"auto", "loud", false, false, "--log-level loud: one of " + strings.Join(ops.Levels, ", ")},
	} {
		var out bytes.Buffer
		logs := ops.NewLogs()
		console, err := (&Options{Stderr: &out, Terminal: c.terminal, LogFormat: c.format, LogLevel: c.level}).newConsole(nil, logs)
		if c.fault != "" {
			if err == nil || !strings.Contains(err.Error(), c.fault) {
				t.Errorf("%s %s: want %q, have %v", c.format, c.level, c.fault, err)
			}
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		console.Say("test.info", "information")
		console.Warn("test.warning", "a warning")
		if text := out.String(); strings.HasPrefix(text, "{") != c.json || strings.Contains(text, "information") != (c.level == "") ||
			!strings.Contains(text, "a warning") {
			t.Errorf("%s %s: have %s", c.format, c.level, text)
		}
	}
}

// TestFilesThatCannotBeWrittenAreNamed covers the files of requests, sessions and incidents.
func TestFilesThatCannotBeWrittenAreNamed(t *testing.T) {
	t.Parallel()
	console, lines := logged(t)
	p := &process{console: console}
	full := errors.New("no room")
	p.repeatsFailed(full)
	p.sessionsFailed(full)
	p.incidentsUnsaved(full)
	if have := lines(); !slices.Equal(have, []string{"warn idempotency.failed repeats   no room", "warn sessions.failed sessions  no room",
		"warn incident.save_failed incidents no room"}) {
		t.Errorf("have %q", have)
	}
}

// TestRoomIsDeclaredWhileItIsShort covers a sequence of amounts of free space.
func TestRoomIsDeclaredWhileItIsShort(t *testing.T) {
	t.Parallel()
	r := &diskSpace{directory: "/data"}
	for i, c := range []struct {
		free  int64
		want  string // cause; empty for none
		since int64
	}{{0, "", 0}, {300 << 20, "300 MiB are free on the disk of /data", 1}, {1, "0 MiB are free on the disk of /data", 1}, {0, "", 0},
		{5<<20 - 1, "4 MiB are free on the disk of /data", 4}} {
		r.free.Store(c.free)
		all := r.states(int64(i))
		if len(all) != map[bool]int{false: 1}[c.want == ""] || len(all) == 1 && (all[0].State != "disk" ||
			all[0].Cause != c.want || all[0].SinceMS != c.since ||
			all[0].Remedy == "") {
			t.Errorf("%d: want %q since %d, have %+v", i, c.want, c.since, all)
		}
	}
}

// TestTheFreeRoomIsReadEveryTenSeconds covers a disk that fills, that cannot be read, and that has room again.
func TestTheFreeRoomIsReadEveryTenSeconds(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var free, reads atomic.Int64
		free.Store(incident.LowDiskBytes)
		r := &diskSpace{directory: "/data", measure: func(directory string) (int64, bool) {
			if reads.Add(1); directory != "/data" {
				t.Errorf("want the disk of the data, have that of %q", directory)
			}
			return free.Load(), free.Load() >= 0
		}}
		stop := inBackground(t.Context(), r.run)
		for i, c := range []struct {
			free int64 // below zero is unknown
			want string
		}{{incident.LowDiskBytes, ""}, {incident.LowDiskBytes - 1, "255 MiB are free on the disk of /data"},
			{0, "0 MiB are free on the disk of /data"}, {-1, ""}, {2 << 20, "2 MiB are free on the disk of /data"}, {incident.LowDiskBytes, ""}} {
			free.Store(c.free)
			<-time.After(diskSpaceEvery)
			synctest.Wait()
			have := ""
			if all := r.states(int64(i)); len(all) > 0 {
				have = all[0].Cause
			}
			if have != c.want || reads.Load() != int64(i+2) {
				t.Errorf("%d: want %q after %d reads, have %q after %d", i, c.want, i+2, have, reads.Load())
			}
		}
		free.Store(0)
		stop()
		<-time.After(time.Minute)
		if reads.Load() != 7 {
			t.Errorf("after the end: want nothing read, have %d reads", reads.Load())
		}
	})
}
