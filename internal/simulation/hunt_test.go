package simulation

import (
	"cmp"
	"flag"
	"fmt"
	"maps"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

	"botd/internal/mutant"
	"botd/internal/mutant/mutanttest"
)

var update = flag.Bool("update", false, "write the seeds that notice broken rules into testdata/mutants.txt")

// rehearsed plays the rehearsals of a rule. It returns their number and the message of
// the first that failed.
func rehearsed(t *testing.T, rule string) (played int, output string) {
	for _, r := range rehearsals {
		if !slices.Contains(r.rules, rule) {
			continue
		}
		have := mutanttest.Failure(t, r.play)
		if played++; have == "" {
			t.Errorf("%-26s want it caught by %q, which holds", rule, r.name)
		} else {
			output = cmp.Or(output, r.name+": "+have)
		}
	}
	return played, output
}

// TestEveryMutantIsCaught breaks one rule after another. The simulation must fail each time: in the rule's
// rehearsals, in the seed that noticed it last, or in one of BOTD_SEEDS seeds. A few rules show only in tests
// of their own packages.
func TestEveryMutantIsCaught(t *testing.T) {
	if !mutant.Built() {
		t.Skip("this build contains no mutants: .ci/run makes the one with the overlay of internal/mutant")
	}
	most := 4_000
	if text := os.Getenv("BOTD_SEEDS"); text != "" {
		given, err := strconv.Atoi(text)
		if err != nil {
			t.Fatalf("BOTD_SEEDS: %v", err)
		}
		most = given
	}
	defer mutant.Break("")
	known, found := knownSeeds(t), map[string]uint64{}
	for _, row := range mutant.Table {
		mutant.Break(row.Name)
		if played, output := rehearsed(t, row.Name); played > 0 {
			t.Logf("%-26s rehearsal        %s", row.Name, output)
			continue
		} else if row.Shown != "" {
			t.Logf("%-26s elsewhere        %s", row.Name, row.Shown)
			continue
		}
		if seed, ok := known[row.Name]; ok {
			options := Options{Seed: seed, Beyond: beyondOf(row.Name)}
			if result := Run(options); result.Violation != nil && holdsUnbroken(row.Name, options) {
				t.Logf("%-26s %-16s by seed %5d: %s", row.Name, result.Violation.Rule, seed, result.Violation.Text)
				continue
			}
		}
		HuntMutants(t.Context(), []mutant.Row{row}, most, 0, func(hunt *Hunt) {
			if hunt.Caught == "" {
				t.Errorf("%-26s want it caught, %d seeds hold: %s", hunt.Mutant, hunt.Tried, hunt.Does)
				return
			}
			t.Logf("%-26s %-16s by seed %5d, not by %d any more: %s", hunt.Mutant, hunt.Caught, hunt.Seeds, known[row.Name], hunt.Example)
			found[row.Name] = uint64(hunt.Seeds)
		})
	}
	if *update {
		writeSeeds(t, found)
	} else if len(found) > 10 {
		t.Errorf("%d seeds of %s no longer notice their mutant, and searching for others takes minutes: run this test with -update", len(found), seedFile)
	}
}

// seedFile has the seed that last noticed each mutant.
const seedFile = "testdata/mutants.txt"

// writeSeeds replaces the seeds of mutants, and adds those of new ones at the end.
func writeSeeds(t *testing.T, found map[string]uint64) {
	t.Helper()
	text, err := os.ReadFile(seedFile)
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSuffix(string(text), "\n"), "\n")
	for i, line := range lines {
		name, _, _ := strings.Cut(line, " ")
		if seed, ok := found[name]; ok {
			lines[i] = fmt.Sprintf("%-26s %d", name, seed)
			delete(found, name)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(found)) {
		lines = append(lines, fmt.Sprintf("%-26s %d", name, found[name]))
	}
	if err := os.WriteFile(seedFile, []byte(strings.Join(lines, "\n")+"\n"), 0o644); err != nil {
		t.Fatal(err)
	}
}

// knownSeeds reads seedFile.
func knownSeeds(t *testing.T) map[string]uint64 {
	t.Helper()
	text, err := os.ReadFile(seedFile)
	if err != nil {
		t.Fatal(err)
	}
	seeds := map[string]uint64{}
	for number, line := range strings.Split(string(text), "\n") {
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		var name string
		var seed uint64
		if _, err := fmt.Sscan(line, &name, &seed); err != nil {
			t.Fatalf("%s:%d: %v", seedFile, number+1, err)
		}
		if _, err := mutant.Find(name); err != nil {
			t.Errorf("%s:%d: %v", seedFile, number+1, err)
		}
		seeds[name] = seed
	}
	return seeds
}
