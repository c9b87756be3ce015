package shell

import (
	"bytes"
	"testing"
	"testing/synctest"
	"time"

	"github.com/spf13/cobra"
)

// TestProgressWithoutATerminal runs on virtual time: a line each ten seconds, with the time left at the rate since the start.
func TestProgressWithoutATerminal(t *testing.T) {
	t.Parallel()
	type step struct {
		after       time.Duration // since the step before
		done, total int
		want        string
	}
	for _, c := range []struct {
		name  string
		steps []step
	}{
		{"from the beginning", []step{{0, 0, 100, ""}, {9999 * time.Millisecond, 10, 100, ""},
			{time.Millisecond, 20, 100, "candles: 20 of 100 (20 %), 40s left\n"},
			{9999 * time.Millisecond, 30, 100, ""}, {time.Millisecond, 50, 100, "candles: 50 of 100 (50 %), 20s left\n"},
			{time.Minute, 100, 100, "candles: 100 of 100 (100 %), 0s left\n"}}},
		{"continued", []step{{0, 50, 200, ""}, {10 * time.Second, 50, 200, "candles: 50 of 200 (25 %)\n"},
			{10 * time.Second, 150, 200, "candles: 150 of 200 (75 %), 10s left\n"}}},
		{"of an unknown total", []step{{0, 0, 0, ""}, {time.Minute, 10, 0, ""}, {0, 10, 40, "candles: 10 of 40 (25 %), 3m0s left\n"}}},
		{"of one", []step{{0, 0, 1, ""}, {time.Minute, 1, 1, "candles: 1 of 1 (100 %), 0s left\n"}}},
		{"bytes of a file of 4 GB", []step{{0, 0, 4e9, ""},
			{10 * time.Second, 1e9, 4e9, "candles: 1000000000 of 4000000000 (25 %), 30s left\n"}}},
		{"for ten days", []step{{0, 0, 4e9, ""}, {240 * time.Hour, 2e9, 4e9, "candles: 2000000000 of 4000000000 (50 %), 240h0m0s left\n"}}},
	} {
		synctest.Test(t, func(t *testing.T) {
			var out bytes.Buffer
			command := &cobra.Command{}
			command.SetErr(&out)
			b := NewProgress(command, 0, "candles")
			for i, s := range c.steps {
				time.Sleep(s.after) // virtual time
				out.Reset()
				b.SetTotal(s.total)
				if b.Set(s.done, s.total); out.String() != s.want {
					t.Errorf("%s, step %d: want %q, have %q", c.name, i+1, s.want, out.String())
				}
			}
			b.End()
		})
	}
}

func TestProgressHasNotes(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var out bytes.Buffer
		command := &cobra.Command{}
		command.SetErr(&out)
		b := NewProgress(command, 10, "trials")
		b.Log("a line")
		b.Set(0, 10)
		time.Sleep(10 * time.Second) // virtual time
		b.Note("best 1.5")
		b.Set(5, 10)
		if want := "a line\ntrials: 5 of 10 (50 %), best 1.5, 10s left\n"; out.String() != want {
			t.Errorf("want %q, have %q", want, out.String())
		}
	})
}
