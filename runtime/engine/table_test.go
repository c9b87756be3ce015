package engine

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// The constants count the cases of the protocol. The first ones must have a row each; later ones get a row,
// and its tests, once botd handles them.
const (
	firstCases = 38
	maxCases   = 53
)

// TestTheTableOfCasesAndTheTestsAgree reads docs/exactly-once.md: each case of the protocol has a row, each
// row names existing tests, and no test is missing from it.
func TestTheTableOfCasesAndTheTestsAgree(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("../../docs/exactly-once.md")
	if err != nil {
		t.Fatal(err)
	}
	_, table, found := strings.Cut(string(text), "\n## Cases\n")
	if !found {
		t.Fatal("docs/exactly-once.md: want a section Cases")
	}
	table, _, _ = strings.Cut(table, "\n## ")
	rows := map[string][]string{}
	named := regexp.MustCompile("`([^`]+)`")
	for _, row := range regexp.MustCompile(`(?m)^\| (\d+) \| .* \| (.*) \|$`).FindAllStringSubmatch(table, -1) {
		number := fmt.Sprintf("%02s", row[1])
		rows[number] = []string{}
		for _, name := range named.FindAllStringSubmatch(row[2], -1) {
			rows[number] = append(rows[number], name[1])
		}
	}
	tests := map[string][]string{}
	for _, c := range allCases() {
		number, name, _ := strings.Cut(c.name, " ")
		tests[number] = append(tests[number], name)
	}
	for n := 1; n <= maxCases; n++ {
		number := fmt.Sprintf("%02d", n)
		row, listed := rows[number]
		switch {
		case !listed && n > firstCases && len(tests[number]) == 0:
			continue // its row comes with its tests
		case !listed:
			t.Errorf("case %s: want a row", number)
		case n == 30:
			continue // the protocol has no such case
		case len(row) == 0:
			t.Errorf("case %s: want a test that shows it", number)
		}
		for _, name := range row {
			if folder, function, elsewhere := strings.Cut(name, " Test"); elsewhere {
				wantTest(t, number, folder, "Test"+function)
			} else if !slices.Contains(tests[number], name) {
				t.Errorf("case %s: the table names %q, which is no test of it", number, name)
			}
		}
		for _, name := range tests[number] {
			if !slices.Contains(row, name) {
				t.Errorf("case %s: the table does not name its test %q", number, name)
			}
		}
	}
	for number := range rows {
		if n, err := strconv.Atoi(number); err != nil || n < 1 || n > maxCases {
			t.Errorf("case %s: the protocol has the cases 1 to %d", number, maxCases)
		}
	}
}

// wantTest searches another folder for a test function.
func wantTest(t *testing.T, number, folder, function string) {
	t.Helper()
	files, err := filepath.Glob(filepath.Join("../..", folder, "*_test.go"))
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if strings.Contains(string(text), "func "+function+"(") {
			return
		}
	}
	t.Errorf("case %s: there is no %s in %s", number, function, folder)
}
