package risk

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write the table of limits into docs/risk.md")

const document = "../docs/risk.md"

// TestDocumentListsExactlyTheRules fails if docs/risk.md lacks a rule or has one that does not exist.
func TestDocumentListsExactlyTheRules(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile(document)
	if err != nil {
		t.Fatal(err)
	}
	var have []string
	for _, row := range regexp.MustCompile("(?m)^\\| `([a-z_]+)` \\|").FindAllSubmatch(text, -1) {
		if limit := LimitNamed(string(row[1])); limit == nil || limit.Of == "" {
			have = append(have, string(row[1]))
		}
	}
	want := Rules()
	slices.Sort(want)
	slices.Sort(have)
	if !slices.Equal(want, have) {
		t.Errorf("rules that docs/risk.md has a row of:\nwant %v\nhave %v", want, have)
	}
}

// TestDocumentTableIsGeneratedFromLimits compares the rows of limits in docs/risk.md; go test
// ./risk -run Document -update writes them.
func TestDocumentTableIsGeneratedFromLimits(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile(document)
	if err != nil {
		t.Fatal(err)
	}
	const head = "| key | scope | default | what it counts | what happens | how it ends |\n|---|---|---|---|---|---|\n"
	before, rest, found := bytes.Cut(text, []byte(head))
	from, _, ended := bytes.Cut(rest, []byte("\n\n"))
	if !found || !ended {
		t.Fatal("docs/risk.md has no table of limits")
	}
	var rows []string
	for _, l := range Table() {
		rows = append(rows, fmt.Sprintf("| `%s` | %s | %s | %s | %s | %s |", l.Name, scopes[l.Scope], defaultOf(&l), l.Counts, l.Effect, l.Ends))
	}
	want := strings.Join(rows, "\n")
	if *update {
		after := rest[len(from):]
		if err := os.WriteFile(document, slices.Concat(before, []byte(head+want), after), 0o600); err != nil {
			t.Fatal(err)
		}
	} else if want != string(from) {
		t.Errorf("docs/risk.md (go test ./risk -run Document -update writes it):\nwant %s\nhave %s", want, from)
	}
}

var scopes = map[MeasuredOn]string{
	OfAccount: "account, strategy", OfStrategy: "strategy",
	OfMarket: "account: each market; strategy: its symbol", OfSymbol: "account: each symbol; strategy: its symbol",
}

func defaultOf(l *Limit) string {
	if l.Default == "" {
		return "none"
	}
	return l.Default
}
