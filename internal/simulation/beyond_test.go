package simulation

import (
	"os"
	"strconv"
	"strings"
	"testing"

	"botd/internal/mutant"
)

// beyondSeeds returns the number of seeds of each class; BOTD_BEYOND_SEEDS sets it.
func beyondSeeds(t *testing.T) int {
	t.Helper()
	text := os.Getenv("BOTD_BEYOND_SEEDS")
	if text == "" {
		return 10
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
			for _, name := range strings.Split(fields[0], "+") {
				class, err := ParseClass(name)
				if err != nil {
					t.Fatalf("testdata/beyond.txt:%d: %v", number+1, err)
				}
				options.Beyond.Only = append(options.Beyond.Only, class)
			}
		}
		if result := Run(options); result.Violation != nil {
			t.Errorf("%s: seed %d at %d ms: want %s to hold, have: %s\n%s", fields[0], seed, result.Violation.AtMS, result.Violation.Rule,
				result.Violation.Text, result.Command())
		}
	}
}

// TestEachClassBeyondTheBounds runs each class alone. It must come into force, and a loss of money because of it is
// a failure.
func TestEachClassBeyondTheBounds(t *testing.T) {
	t.Parallel()
	for class := range ClassEnd {
		fleet := Fleet{From: 1, Seeds: beyondSeeds(t), Options: Options{Beyond: &Beyond{Only: []Class{class}}}}
		fleet.Broke = func(f Failure) {
			t.Errorf("%s: seed %d at %d ms: want %s to hold, have: %s\n%s", class, f.Seed, f.Broken.AtMS, f.Broken.Rule, f.Broken.Text, f.Command)
		}
		summary := fleet.Run(t.Context())
		t.Log(summary.Classes[class].Line())
		if summary.Classes[class].Episodes == 0 {
			t.Errorf("%s: want episodes, have none in %d seeds", class, summary.Classes[class].Runs)
		}
	}
}

// TestClassesTogetherBeyondTheBounds runs one to three classes. Together they still fail in one or two seeds
// of a thousand, each of which is printed with the command that shows it: the bound may only shrink.
func TestClassesTogetherBeyondTheBounds(t *testing.T) {
	t.Parallel()
	seeds := 2 * beyondSeeds(t)
	failed, atMost := 0, seeds/300
	for _, base := range []uint64{0, patientFrom, libraryFrom, assortedFrom, calendarFrom} {
		fleet := Fleet{From: base + 1000, Seeds: seeds / 5, Options: Options{Beyond: &Beyond{}}, Broke: func(f Failure) {
			failed++
			t.Logf("seed %d at %d ms: want %s to hold, have: %s\n%s", f.Seed, f.Broken.AtMS, f.Broken.Rule, f.Broken.Text, f.Command)
		}}
		fleet.Run(t.Context())
	}
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

// The class of a mutant in internal/mutant must exist.
func TestMutantClassesExist(t *testing.T) {
	t.Parallel()
	for name, class := range mutant.Beyond {
		if _, err := ParseClass(class); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}
