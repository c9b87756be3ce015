package simulation

import (
	"os"
	"strconv"
	"strings"
	"testing"

	"botd/internal/mutant"
)

// notYet lists what botd does not withstand yet. Each row goes when its rule is in
// force; a row whose class holds is printed.
var notYet = []struct {
	class         Class
	futures, spot bool
	why           string
}{
	{SecondEngine, false, true, "in one of some thousand fresh seeds"},
	{Garbage, true, true, "in nine of 2,000 fresh seeds: a stop on spot that is refused, since the asset is freed later than the cancel is answered, " +
		"is not sent again for 30 s while the open list cannot be read; on futures in one of some thousand, where neither the entry nor the rows " +
		"of its position can be read in three rounds, 5.03 s after it was shown"},
	{HungReads, true, true, "in one of some thousand fresh seeds"},
}

// beyondSeeds returns the number of seeds of each class; BOTD_BEYOND_SEEDS sets it.
func beyondSeeds(t *testing.T) int {
	t.Helper()
	text := os.Getenv("BOTD_BEYOND_SEEDS")
	if text == "" {
		return 20
	}
	seeds, err := strconv.Atoi(text)
	if err != nil {
		t.Fatalf("BOTD_BEYOND_SEEDS: %v", err)
	}
	return seeds
}

// TestSeedsBeyondTheBoundsThatOnceFailedHold runs the corpus.
func TestSeedsBeyondTheBoundsThatOnceFailedHold(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("testdata/beyond.txt")
	if err != nil {
		t.Fatal(err)
	}
	for number, line := range strings.Split(string(text), "\n") {
		fields := strings.Fields(line)
		if len(fields) < 3 || strings.HasPrefix(line, "#") {
			continue
		}
		seed, err := strconv.ParseUint(fields[1], 10, 64)
		if err != nil {
			t.Fatalf("testdata/beyond.txt:%d: %v", number+1, err)
		}
		options := Options{Seed: seed, Beyond: &Beyond{}}
		if fields[0] != "together" {
			class, err := ParseClass(fields[0])
			if err != nil {
				t.Fatalf("testdata/beyond.txt:%d: %v", number+1, err)
			}
			options.Beyond.Only = []Class{class}
		}
		if result := Run(options); result.Violation != nil {
			t.Errorf("%s: seed %d at %d ms: want %s to hold, have: %s\n%s", fields[0], seed, result.Violation.AtMS, result.Violation.Rule,
				result.Violation.Text, result.Command())
		}
	}
}

// TestEachClassBeyondTheBounds runs each class alone. What money loses by it is a
// failure, unless the table says that botd does not withstand it yet.
func TestEachClassBeyondTheBounds(t *testing.T) {
	t.Parallel()
	for class := range ClassEnd {
		futures, spot, why := false, false, ""
		for _, row := range notYet {
			if row.class == class {
				futures, spot, why = row.futures, row.spot, row.why
			}
		}
		fleet := Fleet{From: 1, Seeds: beyondSeeds(t), Options: Options{Beyond: &Beyond{Only: []Class{class}}}}
		failed := 0
		fleet.Broke = func(f Failure) {
			if f.Broken.Spot && spot || !f.Broken.Spot && futures {
				failed++
				return
			}
			t.Errorf("%s: seed %d at %d ms: want %s to hold, have: %s\n%s", class, f.Seed, f.Broken.AtMS, f.Broken.Rule, f.Broken.Text, f.Command)
		}
		summary := fleet.Run(t.Context())
		t.Log(summary.Classes[class].Line())
		if failed > 0 {
			t.Logf("%s: %d of %d seeds fail as known: %s", class, failed, summary.Runs, why)
		} else if spot || futures {
			t.Logf("%s: every seed holds, though the table says: %s", class, why)
		}
	}
}

// TestClassesTogetherBeyondTheBounds runs one to three classes of those that hold alone. Together they
// still fail in one or two seeds of a hundred, each of which is printed with the command that shows it:
// the bound is what botd reaches now, and may only shrink.
func TestClassesTogetherBeyondTheBounds(t *testing.T) {
	t.Parallel()
	beyond := &Beyond{}
	for _, row := range notYet {
		beyond.Except = append(beyond.Except, row.class)
	}
	if len(beyond.Except) == int(ClassEnd) {
		t.Skip("no class holds alone")
	}
	seeds := 2 * beyondSeeds(t)
	failed, atMost := 0, 2+seeds/70
	fleet := Fleet{From: 1000, Seeds: seeds, Options: Options{Beyond: beyond}, Broke: func(f Failure) {
		failed++
		t.Logf("seed %d at %d ms: want %s to hold, have: %s\n%s", f.Seed, f.Broken.AtMS, f.Broken.Rule, f.Broken.Text, f.Command)
	}}
	fleet.Run(t.Context())
	if failed > atMost {
		t.Errorf("want at most %d of %d seeds to fail, have %d", atMost, seeds, failed)
	}
}

func TestTheSameSeedBeyondTheBoundsGivesTheSameHash(t *testing.T) {
	t.Parallel()
	for seed := uint64(1); seed <= 30; seed++ {
		options := Options{Seed: seed, Beyond: &Beyond{}}
		if one, two := Run(options), Run(options); one.Hash != two.Hash || one.Stats != two.Stats {
			t.Errorf("seed %d: want %x, have %x", seed, one.Hash, two.Hash)
		}
	}
}

// TestEachClassHasEpisodes: a class that is switched on comes into force.
func TestEachClassHasEpisodes(t *testing.T) {
	t.Parallel()
	for class := range ClassEnd {
		episodes := int64(0)
		for seed := uint64(1); seed <= 10; seed++ {
			result := Run(Options{Seed: seed, Beyond: &Beyond{Only: []Class{class}}})
			episodes += max(0, result.Classes[class])
		}
		if episodes == 0 {
			t.Errorf("%s: want episodes, have none in ten seeds", class)
		}
	}
}

func TestEachClassHasItsName(t *testing.T) {
	t.Parallel()
	for class := range ClassEnd {
		if found, err := ParseClass(class.String()); err != nil || found != class {
			t.Errorf("%d: want the class by its name %q, have %d, %v", class, class, found, err)
		}
	}
	if _, err := ParseClass("lies"); err == nil {
		t.Error("want an unknown class refused")
	}
}

// TestAMutantIsHuntedInAClassThereIs: what internal/mutant names is a class.
func TestAMutantIsHuntedInAClassThereIs(t *testing.T) {
	t.Parallel()
	for name, class := range mutant.Beyond {
		if _, err := ParseClass(class); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}
