package main

import (
	"os"
	"testing"
	"time"

	"botd/internal/chaos"
)

// TestTheSoakMeasuresADaemonThatTrades runs a soak, of seconds unless BOTD_SOAK sets its duration. From an hour on
// the slope is bounded: less than a megabyte an hour after the first half hour.
func TestTheSoakMeasuresADaemonThatTrades(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("it trades for ten seconds")
	}
	lasts, warm := 10*time.Second, 4*time.Second
	if text := os.Getenv("BOTD_SOAK"); text != "" {
		var err error
		if lasts, err = time.ParseDuration(text); err != nil {
			t.Fatal(err)
		}
		warm = min(lasts/4, 30*time.Minute)
	}
	binary := build(t)
	every := min(20*time.Second, lasts/10)
	r, err := chaos.Soak{Binary: binary, Directory: t.TempDir(), For: lasts, Every: every, Warm: warm}.Run(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("%d orders, %.2f a second; %+.2f MB an hour", r.Orders, r.Rate, r.SlopeMB)
	if last := r.All[len(r.All)-1]; r.Orders < 5 || last.RSSMB < 10 || last.HeapMB < 1 || last.Goroutines < 5 || last.CPUS <= 0 {
		t.Errorf("want orders and what they took, have %+v", last)
	}
	if lasts >= time.Hour && r.SlopeMB > 1 {
		t.Errorf("want 1 MB an hour at most after %s, have %.2f", warm, r.SlopeMB)
	}
}
