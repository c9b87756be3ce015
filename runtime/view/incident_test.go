package view

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"botd/exchange"
	"botd/reconcile/account"
	"botd/runtime/engine"
	"botd/runtime/incident"
	"botd/runtime/ops"
)

// tracked is a board that tracks incidents of a directory, together with a person's notifications.
func tracked(t *testing.T, directory string) (board *Board, heard *[]string, stop func()) {
	t.Helper()
	board, heard = NewBoard("demo", "main"), &[]string{}
	stop = board.TrackIncidents(directory, 0, func(int64) []engine.Degraded { return nil },
		func(report *incident.Report) { *heard = append(*heard, string(report.Change)+" "+report.Incident.Kind) },
		func(err error) { *heard = append(*heard, err.Error()) })
	board.Note(&engine.Note{Fact: engine.NoteRound{Complete: true}})
	return board, heard, stop
}

func TestStatusAndListShowTheSameIncidentsOverARestart(t *testing.T) {
	t.Parallel()
	directory := t.TempDir()
	blind := engine.Degraded{State: "blind", Scope: account.Scope{Symbol: bitcoin.Key()}, Cause: "no list", Remedy: "wait", SinceMS: 900}
	board, heard, stop := tracked(t, directory)
	board.Show(engine.Status{NowMS: 1_000, Degraded: []engine.Degraded{blind}})
	board.Note(&engine.Note{AtMS: 1_500, Fact: engine.NoteUnexplained{Market: exchange.Futures, Asset: "USDT", Text: "5 USDT are unexplained"}})
	board.Report(ops.Check{Name: "clock", Detail: "3 s off"})
	board.Show(engine.Status{NowMS: 2_000, Degraded: []engine.Degraded{blind}})
	board.Show(engine.Status{NowMS: 62_001, Degraded: []engine.Degraded{blind}})
	if want, have := "opened blind, opened ledger, opened clock", strings.Join(*heard, ", "); have != want {
		t.Errorf("want %s\nhave %s", want, have)
	}
	listed, _ := board.Incidents(Page{Limit: 10}, func(*Incident) bool { return true })
	shown := board.Status().Incidents
	if len(listed) != 3 || len(shown) != 3 || listed[0].ID != shown[0].ID || shown[2].Kind != "blind" || shown[2].Symbol != "BTC-USDT" ||
		shown[2].Severity != incident.Critical || shown[2].Runbook == "" || shown[2].State != "open" || !shown[2].InForce {
		t.Errorf("want three, the oldest blind, have %+v and %+v", listed, shown)
	}
	stop()

	board, heard, stop = tracked(t, directory)
	board.Show(engine.Status{NowMS: 70_000})
	board.Show(engine.Status{NowMS: 100_001})
	// The message about an ongoing incident may have been in flight when the previous run ended.
	if want, have := "reminder ledger, closed blind, closed clock", strings.Join(*heard, ", "); have != want {
		t.Errorf("want ongoing ones reported again, and ended ones closed once, %s\nhave %s", want, have)
	}
	board.Note(&engine.Note{AtMS: 100_002, Fact: engine.NoteTransfer{Market: exchange.Futures, Asset: "USDT", Text: "5 USDT"}})
	board.Show(engine.Status{NowMS: 100_003})
	board.Show(engine.Status{NowMS: 130_004})
	if have := strings.Join(*heard, ", "); !strings.HasSuffix(have, "closed ledger") {
		t.Errorf("want the difference closed by the transfer, have %s", have)
	}
	if open := board.Status().Incidents; len(open) != 0 {
		t.Errorf("want none open, have %+v", open)
	}
	closed, _ := board.Incidents(Page{Limit: 10}, func(i *Incident) bool { return i.State == "closed" })
	if len(closed) != 3 || closed[2].Closed == nil {
		t.Errorf("want three that have ended, have %+v", closed)
	}
	stop()
}

func TestUnreadableIncidentsAreReportedAndReset(t *testing.T) {
	t.Parallel()
	directory := t.TempDir()
	if err := os.WriteFile(filepath.Join(directory, IncidentsFile), []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	board, heard, stop := tracked(t, directory)
	board.Show(engine.Status{NowMS: 1_000, Degraded: []engine.Degraded{{State: "hung", SinceMS: 1}}})
	stop()
	if len(*heard) != 2 || !strings.Contains((*heard)[0], "cannot be read") || (*heard)[1] != "opened hung" {
		t.Errorf("want the fault and a new incident, have %v", *heard)
	}
}
