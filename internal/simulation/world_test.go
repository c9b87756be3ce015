package simulation

import (
	"os"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// TestMain sets a rare garbage collection: a run is small and short-lived.
func TestMain(m *testing.M) {
	debug.SetGCPercent(800)
	m.Run()
}

// seedsToRun returns the number of seeds; BOTD_SEEDS sets it. CI runs thousands of fresh ones.
func seedsToRun(t *testing.T) int {
	t.Helper()
	seeds := 150
	if text := os.Getenv("BOTD_SEEDS"); text != "" {
		given, err := strconv.Atoi(text)
		if err != nil {
			t.Fatalf("BOTD_SEEDS: %v", err)
		}
		seeds = given
	}
	return seeds
}

func TestSeedsHoldTheInvariants(t *testing.T) {
	t.Parallel()
	fleet := Fleet{From: 1, Seeds: seedsToRun(t)}
	expectNone(t, fleet)
}

func expectNone(t *testing.T, fleet Fleet) {
	t.Helper()
	summary := fleet.Run(t.Context())
	for _, failure := range summary.Failures {
		t.Errorf("seed %d at %d ms: want %s to hold, have: %s\n%s", failure.Seed, failure.Broken.AtMS, failure.Broken.Rule, failure.Broken.Text,
			failure.Command)
	}
	t.Logf("%d runs, %.0f a second, %.0f virtual hours", summary.Runs, summary.Rate(), float64(summary.Stats.VirtualMS)/3_600_000)
}

// TestSeedsThatOnceFailedHoldTheInvariants runs the corpus.
func TestSeedsThatOnceFailedHoldTheInvariants(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("testdata/corpus.txt")
	if err != nil {
		t.Fatal(err)
	}
	ran := 0
	for number, line := range strings.Split(string(text), "\n") {
		fields := strings.Fields(line)
		if len(fields) == 0 || strings.HasPrefix(line, "#") {
			continue
		}
		seed, err := strconv.ParseUint(fields[0], 10, 64)
		if err != nil {
			t.Fatalf("testdata/corpus.txt:%d: %v", number+1, err)
		}
		options := Options{Seed: seed}
		if at, err := strconv.Atoi(fields[1]); err == nil {
			options.CrashAt = at
		}
		if result := Run(options); result.Violation != nil {
			t.Errorf("seed %d at %d ms: want %s to hold, have: %s\n%s", seed, result.Violation.AtMS, result.Violation.Rule, result.Violation.Text,
				result.Command())
		}
		ran++
	}
	if ran < 20 {
		t.Errorf("want 20 seeds or more, have %d", ran)
	}
}

func TestFaultlessSeedsHoldTheInvariants(t *testing.T) {
	t.Parallel()
	expectNone(t, Fleet{From: 1, Seeds: 100, Options: Options{Weather: &Weather{}}})
}

// Patient strategies enter by resting orders that follow the price, and leave by time and age.
func TestPatientSeedsHoldTheInvariants(t *testing.T) {
	t.Parallel()
	expectNone(t, Fleet{From: patientFrom, Seeds: 100})
}

// The strategies are the library's, with exit rules.
func TestSeedsOfTheLibraryHoldTheInvariants(t *testing.T) {
	t.Parallel()
	expectNone(t, Fleet{From: libraryFrom, Seeds: 100})
}

// The strategies are grids, scheduled buyers, market makers and scripts.
func TestAssortedSeedsHoldTheInvariants(t *testing.T) {
	t.Parallel()
	expectNone(t, Fleet{From: assortedFrom, Seeds: 40})
}

// Every strategy of the assortment is drawn, and some of its orders fill.
func TestEachOfTheAssortmentTrades(t *testing.T) {
	t.Parallel()
	fills := make([]int, len(assortment))
	for seed := uint64(assortedFrom); seed < assortedFrom+60 && slices.Contains(fills, 0); seed++ {
		w := newWorld(Options{Seed: seed, Weather: &Weather{}})
		w.loop()
		for i := range w.disk.records {
			if filled, _, _ := w.disk.records[i].Filled(); filled == 0 {
				continue
			}
			for _, r := range w.portfolio.roles {
				if r.kind == "assorted" && r.name == w.disk.records[i].Strategy {
					fills[r.follower]++
				}
			}
		}
	}
	for i, one := range assortment {
		if fills[i] == 0 {
			t.Errorf("want %s (%d) to trade", one.definition.Name, i)
		}
	}
}

func TestEachStrongFaultKeepsInvariants(t *testing.T) {
	t.Parallel()
	for fault := range FaultEnd {
		weather := Weather{}
		weather[fault] = strongest[fault]
		expectNone(t, Fleet{From: 1000, Seeds: 10, Options: Options{Weather: &weather}})
	}
}

func TestEveryCrashPointOfSeedKeepsInvariants(t *testing.T) {
	t.Parallel()
	fleet := Fleet{From: 8, Seeds: 1, Crashes: true}
	if testing.Short() {
		t.Skip("not with -short: a thousand runs")
	}
	expectNone(t, fleet)
}

func TestTheSameSeedGivesTheSameHash(t *testing.T) {
	t.Parallel()
	for seed := uint64(1); seed <= 50; seed++ {
		if one, two := Run(Options{Seed: seed}), Run(Options{Seed: seed}); one.Hash != two.Hash || one.Stats != two.Stats {
			t.Errorf("seed %d: want %x, have %x", seed, one.Hash, two.Hash)
		}
	}
}

func BenchmarkSeeds(b *testing.B) {
	seed := uint64(0)
	for b.Loop() {
		seed++
		Run(Options{Seed: seed})
	}
}

func TestACrashInTheLastMomentHasItsTimeToComeRight(t *testing.T) {
	t.Parallel()
	for _, seed := range []uint64{2, 8} {
		points := Run(Options{Seed: seed}).Points
		for _, at := range []int{points - 1, points - 4} {
			if result := Run(Options{Seed: seed, CrashAt: at}); result.Violation != nil {
				t.Errorf("seed %d, the process dies at point %d of %d: want all to come right, have %s: %s", seed, at, points, result.Violation.Rule,
					result.Violation.Text)
			}
		}
	}
}
