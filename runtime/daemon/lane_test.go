package daemon

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"botd/configs"
	"botd/exchange"
	"botd/exchange/rest"
	"botd/internal/failure"
	"botd/reconcile"
	"botd/reconcile/placement"
	"botd/reconcile/record"
	"botd/runtime/api"
	"botd/runtime/engine"
	"botd/runtime/gateway"
	"botd/runtime/lane"
	"botd/runtime/ops"
	"botd/runtime/reload"
	"botd/runtime/view"
)

// TestActionsOfTheLaneBeforeACrashAreJournalled covers a halt of the kill switch whose run ended before the journal took it, and the next start
// once more when the journal cannot take it.
func TestActionsOfTheLaneBeforeACrashAreJournalled(t *testing.T) {
	t.Parallel()
	client, err := rest.New(rest.Config{BaseURL: "https://venue.example", Key: "key", Secret: []byte("secret")})
	if err != nil {
		t.Fatal(err)
	}
	start := func(t *testing.T, directory string) (*process, *reconcile.Tracker, func() error) {
		p := &process{directory: directory, store: opened(t, directory, "one"), history: view.NewHistory(), venue: &gateway.Exchange{Client: client}}
		tracker := reconcile.NewTracker(placement.Bounds{})
		return p, tracker, func() error { return p.openLane(t.Context(), &engine.Config{Epoch: 7, Lane: "00abc"}, tracker) }
	}
	left := func(t *testing.T, directory string) {
		t.Helper()
		var text []byte
		for _, r := range []record.Record{{AtMS: 4_000, Body: record.Audit{Actor: "ann", Role: "operator", Action: "POST /x"}},
			{AtMS: 4_000, Body: record.Halt{Level: record.LevelFlatten, Reason: "the news"}}} {
			line, err := json.Marshal(r)
			if err != nil {
				t.Fatal(err)
			}
			text = append(append(text, line...), '\n')
		}
		if err := os.WriteFile(filepath.Join(directory, lane.FileName), text, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	found := func(t *testing.T, directory string) int {
		t.Helper()
		file, records, err := lane.OpenFile(filepath.Join(directory, lane.FileName), nil)
		if err != nil {
			t.Fatal(err)
		}
		defer file.Close()
		return len(records)
	}
	directory := t.TempDir()
	left(t, directory)
	p, tracker, open := start(t, directory)
	if err := open(); err != nil {
		t.Fatal(err)
	}
	if p.store.Records() != 3 || tracker.Halted().Level != record.LevelFlatten || !slices.Equal(actors(p.history), []string{"ann", "botd"}) {
		t.Errorf("want the halt in the journal, in force and shown, have %d records, %+v, %q", p.store.Records(), tracker.Halted(), actors(p.history))
	}
	if want := (placement.Start{Epoch: 7, Random: "00abc"}); p.laneStart != want {
		t.Errorf("want %+v, have %+v", want, p.laneStart)
	}
	if err := p.laneFile.Close(); err != nil || found(t, directory) != 0 {
		t.Errorf("want the file empty, have %d records, %v", found(t, directory), err)
	}
	directory = t.TempDir()
	left(t, directory)
	p, _, open = start(t, directory)
	if err := p.store.Close(); err != nil {
		t.Fatal(err)
	}
	if err := open(); failure.CodeOf(err) != failure.IO || found(t, directory) != 2 || p.laneFile != nil {
		t.Errorf("a journal that fails: want an error of I/O and the file as it was, have %v and %d records", err, found(t, directory))
	}
	directory = t.TempDir()
	if err := os.Mkdir(filepath.Join(directory, lane.FileName), 0o700); err != nil {
		t.Fatal(err)
	}
	if _, _, open := start(t, directory); failure.CodeOf(open()) != failure.IO {
		t.Errorf("no file: want an error of I/O, have %v", open())
	}
}

// TestTheBoardIsDrawnFourTimesASecond covers beats of the loop around the interval. Those in between show that the loop is alive, and what the kill
// switch must know.
func TestTheBoardIsDrawnFourTimesASecond(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		p := &process{metrics: ops.NewMetrics("demo", ops.Build{}), board: view.NewBoard("demo", "one"), machine: idle(t, record.LevelPause),
			venue: &gateway.Exchange{}, reloads: reload.New(&configs.Config{}, "", nil), lane: lane.New(lane.Config{}),
			outage: &outage{since: time.Now(), cause: "refused"}, limited: pauses{until: func(exchange.Market) (none time.Time) { return none }}}
		began := time.Now()
		p.redraw(0)
		states := func() (all []string) {
			for _, d := range p.board.Status().Degraded {
				all = append(all, d.State)
			}
			return all
		}
		if have := states(); !slices.Contains(have, "halted") || !slices.Contains(have, "waiting") || !p.board.Alive() {
			t.Errorf("want the halt and the outage shown, have %q", have)
		}
		<-time.After(statusEvery - 1)
		p.outage, p.listed = nil, 1<<40
		if p.redraw(0); !p.drawn.Equal(began) || !slices.Contains(states(), "waiting") || p.listed != p.machine.Tracker().Version() {
			t.Errorf("within a quarter of a second: want the list shown to the lane, and the board as it was, have %s, %q", p.drawn, states())
		}
		<-time.After(1)
		if p.redraw(0); !p.drawn.Equal(began.Add(statusEvery)) || slices.Contains(states(), "waiting") {
			t.Errorf("after a quarter of a second: want it drawn, have %s, %q", p.drawn, states())
		}
		<-time.After(time.Minute)
		if p.drawn = time.Now(); p.board.Alive() {
			t.Error("want a loop without a beat for a minute not alive")
		}
		if p.redraw(0); !p.board.Alive() {
			t.Error("want a beat between two drawings to count")
		}
		p.lane, p.listed = nil, 1<<40
		if p.redraw(0); p.listed != 1<<40 {
			t.Error("without a lane: want nothing listed")
		}
	})
}

// TestHaltsPassTheLaneWhereThereIsOne covers a daemon that trades, and one that waits for its exchange.
func TestHaltsPassTheLaneWhereThereIsOne(t *testing.T) {
	t.Parallel()
	p := &process{lane: lane.New(lane.Config{})}
	served := api.Config{}
	if p.serveLane(&served); served.Driver != api.Driver(p.lane) || served.Lane == nil || served.LaneUse == nil {
		t.Errorf("want halts to pass the lane, have %+v", served)
	}
	served = api.Config{}
	if (&process{}).serveLane(&served); served.Driver != nil || served.Lane != nil || served.LaneUse != nil {
		t.Errorf("without a lane: want none, have %+v", served)
	}
}
