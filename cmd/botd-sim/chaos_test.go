package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	"github.com/shopspring/decimal"

	"botd/internal/chaos"
	"botd/internal/chaos/crash"
	"botd/internal/startclock"
)

// killsEnvironment names the variable with the total number of kills, 6 by default.
const killsEnvironment = "BOTD_KILLS"

func killsAsked(t *testing.T) int {
	t.Helper()
	text, given := os.LookupEnv(killsEnvironment)
	if !given || text == "" {
		return 6
	}
	kills, err := strconv.Atoi(text)
	if err != nil || kills < 0 {
		t.Fatalf("%s=%s is not a number of kills", killsEnvironment, text)
	}
	return kills
}

// targets returns a long and a short position with stops on futures, and a holding on spot.
func targets(slices int) []chaos.Target {
	quantity := decimal.RequireFromString
	return []chaos.Target{
		{Name: "long", Market: "futures", Symbol: "BTC-USDT", Side: "buy", Quantity: quantity("0.3"), Slices: slices, EveryMS: 1_000, Stop: true},
		{Name: "short", Market: "futures", Symbol: "ETH-USDT", Side: "sell", Quantity: quantity("3"), Slices: slices, EveryMS: 1_000, Stop: true},
		{Name: "spot", Market: "spot", Symbol: "SOL-USDT", Side: "buy", Quantity: quantity("30"), Slack: quantity("0.05"), Slices: slices, EveryMS: 1_000},
	}
}

// TestTheRealBinaryIsKilledAtRandom runs concurrent trials, half of them over a failing exchange.
func TestTheRealBinaryIsKilledAtRandom(t *testing.T) {
	t.Parallel()
	kills := killsAsked(t)
	if testing.Short() || kills == 0 {
		t.Skip("real kills take a minute")
	}
	binary := build(t)
	trials := 2 * min(6, max(1, kills/40))
	for i := range trials {
		harsh := i%2 == 1
		t.Run(fmt.Sprintf("trial %d harsh=%t", i, harsh), func(t *testing.T) {
			t.Parallel()
			trial := chaos.Trial{Binary: binary, Directory: t.TempDir(), Kills: 4 * kills / trials / 3, Every: 1500 * time.Millisecond,
				Seed: uint64(i) + 1, Patience: 4 * time.Minute}
			if harsh { // half as many: a start takes longer there
				trial.Kills, trial.Every, trial.Faults = 2*kills/trials-trial.Kills, 3*time.Second, chaos.Harsh(uint64(i))
			}
			trial.Pauses = 1 + trial.Kills/20
			trial.Targets = targets(min(100, 10+trial.Kills))
			undergo(t, trial)
		})
	}
}

// TestTheRealBinaryIsKilledAtNamedPoints has a binary built for it kill itself around commits and requests.
func TestTheRealBinaryIsKilledAtNamedPoints(t *testing.T) {
	t.Parallel()
	if testing.Short() || killsAsked(t) == 0 {
		t.Skip("real kills take a minute")
	}
	groups := crash.Points
	if killsAsked(t) < 100 {
		groups = [][]string{{"after journal sending 1", "after call futures_place 1"}}
	}
	root, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	overlay, err := chaos.CrashOverlay(root, t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	binary, err := chaos.Build(t.Context(), t.TempDir(), "-overlay", overlay)
	if err != nil {
		t.Fatal(err)
	}
	for i, points := range groups {
		t.Run(fmt.Sprintf("group %d", i), func(t *testing.T) {
			t.Parallel()
			report := undergo(t, chaos.Trial{Binary: binary, Directory: t.TempDir(), Points: points, Seed: 1, Patience: 4 * time.Minute,
				Targets: targets(8 * len(points))})
			if len(report.Missed) > 0 {
				t.Errorf("points never reached: %q", report.Missed)
			}
		})
	}
}

// undergo runs a trial and prints its measurements.
func undergo(t *testing.T, trial chaos.Trial) *chaos.Report {
	t.Helper()
	trial.Start = startclock.Time()
	trial.Progress = func(e chaos.Event) { t.Logf("%7.1fs  %-8s  %s", e.At.Seconds(), e.What, e.Text) }
	r, err := trial.Run(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, problem := range r.Problems {
		t.Error(problem)
	}
	fmt.Printf("%s: %d kills at random (%d in flight), %d at points, %d pauses, %d starts in %.0f s; start to safe p50 %.2f s, p99 %.2f s (%d killed before); "+
		"%d placements sent, %d lost, %d uncertain; %d fills, %d goroutines, targets reached: %t\n",
		t.Name(), r.Kills, r.InFlight, r.PointKills, r.Pauses, r.Starts, r.ElapsedS, r.SafeP50S, r.SafeP99S, r.BeforeSafe, r.Sent, r.Lost, r.Uncertain,
		r.Fills, r.Goroutines, r.OK)
	return r
}
