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

const (
	maxCases   = 53
	unusedCase = 30 // the protocol has no such case
)

// TestTheCasesOfTheDocumentAndTheTestsAgree reads docs/exactly-once.md: each case of the protocol has a section, each
// section describes what happens and names existing tests, and no row of TestCase is missing from it.
func TestTheCasesOfTheDocumentAndTheTestsAgree(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("../../docs/exactly-once.md")
	if err != nil {
		t.Fatal(err)
	}
	tests := map[int][]string{}
	for _, c := range allCases() {
		number, name, _ := strings.Cut(c.name, " ")
		n, err := strconv.Atoi(number)
		if err != nil {
			t.Fatal(err)
		}
		tests[n] = append(tests[n], name)
	}
	sections, wrong := caseSections(string(text))
	for _, problem := range append(wrong, wrongCases(sections, tests, func(folder, function string) bool { return hasTest(t, folder, function) })...) {
		t.Errorf("docs/exactly-once.md: %s", problem)
	}
}

// caseSection is the description of one case.
type caseSection struct {
	number  int
	happens bool     // there is a text before the tests
	tests   []string // the names, in the document's order
	listing bool     // "Tests:" has been read
}

var (
	caseHeading = regexp.MustCompile(`^### Case (\d+): .+$`)
	caseListed  = regexp.MustCompile("^- `([^`]+)`$")
)

// caseSections reads the cases of the document, and returns what is wrong with their form: the numbers ascend, and after "Tests:" each line names
// one test.
func caseSections(text string) (sections []caseSection, wrong []string) {
	_, text, found := strings.Cut(text, "\n## Cases\n")
	if !found {
		return nil, []string{"want a section Cases"}
	}
	text, _, _ = strings.Cut(text, "\n## ")
	current := &caseSection{happens: true} // the introduction
	for line := range strings.SplitSeq(text, "\n") {
		heading, test := caseHeading.FindStringSubmatch(line), caseListed.FindStringSubmatch(line)
		switch {
		case heading != nil:
			n, _ := strconv.Atoi(heading[1]) // its digits are few, and a number beyond the cases is found
			if n <= current.number {
				wrong = append(wrong, fmt.Sprintf("case %d follows case %d", n, current.number))
			}
			sections = append(sections, caseSection{number: n})
			current = &sections[len(sections)-1]
		case strings.HasPrefix(line, "#"):
			wrong = append(wrong, fmt.Sprintf("the heading %q: want \"### Case N: title\"", line))
		case line == "Tests:":
			current.listing = true
		case line == "":
		case !current.listing:
			current.happens = true
		case test == nil:
			wrong = append(wrong, fmt.Sprintf("case %d: the line %q: want one test, as an item of the list", current.number, line))
		default:
			current.tests = append(current.tests, test[1])
		}
	}
	return sections, wrong
}

// wrongCases compares the sections with the rows of TestCase, by number, and with the test functions of other folders.
func wrongCases(sections []caseSection, tests map[int][]string, exists func(folder, function string) bool) (wrong []string) {
	add := func(n int, format string, values ...any) {
		wrong = append(wrong, fmt.Sprintf("case %d: ", n)+fmt.Sprintf(format, values...))
	}
	described := map[int]*caseSection{}
	for i, s := range sections {
		described[s.number] = &sections[i]
		if s.number < 1 || s.number > maxCases {
			add(s.number, "the protocol has the cases 1 to %d", maxCases)
		}
		for _, name := range s.tests {
			if folder, function, elsewhere := strings.Cut(name, " Test"); elsewhere {
				if !exists(folder, "Test"+function) {
					add(s.number, "there is no Test%s in %s", function, folder)
				}
			} else if !slices.Contains(tests[s.number], name) {
				add(s.number, "the document names %q, which is no test of it", name)
			}
		}
	}
	for n := 1; n <= maxCases; n++ {
		switch s := described[n]; {
		case s == nil:
			add(n, "want a section")
		case n == unusedCase:
		case !s.happens:
			add(n, "want a text that describes what happens")
		case len(s.tests) == 0:
			add(n, "want a test that proves it")
		}
		for _, name := range tests[n] {
			if s := described[n]; s != nil && !slices.Contains(s.tests, name) {
				add(n, "the document does not name its test %q", name)
			}
		}
	}
	return wrong
}

// hasTest searches a folder for a test function.
func hasTest(t *testing.T, folder, function string) bool {
	t.Helper()
	files, err := filepath.Glob(filepath.Join("../..", folder, "*_test.go"))
	if err != nil {
		t.Fatal(err)
	}
	return slices.ContainsFunc(files, func(file string) bool {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		return strings.Contains(string(text), "func "+function+"(")
	})
}

// TestAWrongCaseOfTheDocumentIsFound changes a document that is right, one place at a time.
func TestAWrongCaseOfTheDocumentIsFound(t *testing.T) {
	t.Parallel()
	var right strings.Builder
	tests := map[int][]string{}
	right.WriteString("# A\n\n## Cases\n\nEach describes what happens.\n\n")
	for n := 1; n <= maxCases; n++ {
		fmt.Fprintf(&right, "### Case %d: title\n\n", n)
		if n != unusedCase {
			fmt.Fprintf(&right, "What happens in %d.\n\nTests:\n\n- `row %d`\n- `reconcile TestIt`\n\n", n, n)
			tests[n] = []string{fmt.Sprintf("row %d", n)}
		}
	}
	right.WriteString("## The next\n\n- nothing of it\n")
	for _, c := range []struct{ old, with, want string }{
		{"", "", ""},
		{"\n## Cases\n", "\n## Cases of it\n", "want a section Cases"},
		{"### Case 7: title", "### 7: title", `the heading "### 7: title"`},
		{"### Case 7: title", "### Case 6: title", "case 6 follows case 6"},
		{"### Case 7: title", "Case 7", "case 7: want a section"},
		{"### Case 50: title", "Case 50", "case 50: want a section"},
		{"### Case 53: title", "### Case 54: title", "case 54: the protocol has the cases 1 to 53"},
		{"What happens in 7.\n", "", "case 7: want a text that describes what happens"},
		{"- `row 7`\n", "", `case 7: the document does not name its test "row 7"`},
		{"- `row 7`\n", "- `row 8`\n", `case 7: the document names "row 8", which is no test of it`},
		{"- `row 7`\n", "- `row 7`, and more\n", "case 7: the line \"- `row 7`, and more\""},
		{"- `row 7`\n- `reconcile TestIt`\n", "", "case 7: want a test that proves it"},
		{"- `row 7`\n- `reconcile TestIt`", "- `row 7`\n- `reconcile TestThat`", "case 7: there is no TestThat in reconcile"},
	} {
		text := right.String()
		if c.old != "" && !strings.Contains(text, c.old) {
			t.Fatalf("%q: want it in the right document", c.old)
		}
		sections, wrong := caseSections(strings.Replace(text, c.old, c.with, 1))
		wrong = append(wrong, wrongCases(sections, tests, func(folder, function string) bool { return folder+function == "reconcileTestIt" })...)
		if have := strings.Join(wrong, "\n"); !strings.Contains(have, c.want) || (c.want == "") != (have == "") {
			t.Errorf("%q instead of %q: want %q, have %q", c.with, c.old, c.want, have)
		}
	}
}
