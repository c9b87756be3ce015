// Package mutant holds the mutants: rules of the protocol, each with the edit of the source that breaks it.
//
// The simulation proves only what it can detect. So every rule is broken once, in the
// code that ships, and a test must fail. The binary that trades contains no mutant: a
// mutant is data (table.go). Overlay writes an overlay for the go command that builds all
// mutants into one binary, each behind a switch:
//
//	go test -overlay "$(go run ./cmd/botd-sim overlay)" -run 'EveryMutant|WhenTheyAreBroken' \
//		./internal/simulation ./reconcile ./reconcile/ledger ./runtime/engine ./runtime/reload ./strategy/library ./reconcile/journal \
//		./exchange/rest ./internal/inbound ./internal/privatefile ./runtime/api/auth ./runtime/signals ./runtime/telegram ./runtime/worker/...
//
// # When you move or rewrite code that a mutant edits
//
// TestEveryEditFindsItsCode (internal/tidy) fails, names the mutant, and reports where its
// code is now. Update the mutant's row: find it by its name, and change its Edit so that
//
//   - In names the function, as package.Function or package.Receiver.Method;
//   - Code is a snippet found exactly once in that function (white space and comments
//     are ignored; if a part is in «guillemets», only that part is replaced, and the
//     rest determines the position);
//   - Wrong is the replacement, and the row's Does still describes its effect.
//
// Code and Wrong must both be expressions, or both be statements. A condition becomes
// (broken && (Wrong) || !broken && (Code)). Any other expression becomes a choice between
// two values, both of which are computed. Statements become an if with two branches; an
// empty Wrong omits them. Keep snippets short: one condition, or one call.
//
// A rule of the simulated client, journal or start has no Edit: internal/simulation
// checks mutant.Is("name") instead.
package mutant

import "fmt"

// Row is a rule of the protocol that can be broken.
type Row struct {
	Name  string
	Does  string // the behavior while the rule is broken
	Where string // the rule: a case of docs/exactly-once.md, or its section
	Shown string // the test that shows it if seeds seldom or never do
	Edits []Edit // none for a rule of the simulation's own parts
}

// Beyond names the simulation class that must notice a rule, for rules that only an exchange beyond the bounds tests.
var Beyond = map[string]string{
	"wallet_unseen":      "history",
	"listed_is_open":     "orders",
	"older_stop_taken":   "refused_orders",
	"same_random":        "second_engine",
	"sales_unclipped":    "transfers",
	"witness_ignored":    "positions",
	"earlier_sweep":      "positions",
	"stop_stripped":      "positions",
	"no_back_off":        "refused_orders",
	"rounds_wait":        "hung_reads",
	"unread_waits":       "hung_reads",
	"lost_journal_opens": "lost_journal",
	"release_ignored":    "garbage",
}

// Edit is one change of the source.
type Edit struct {
	In    string // the function: reconcile.derivation.enter, risk.working
	Code  string // the present code, found exactly once; «» around the part that is replaced
	Wrong string // the code that replaces it
}

// edit is the list of a row with one Edit.
func edit(in, code, wrong string) []Edit { return []Edit{{in, code, wrong}} }

// Find returns the row with a name.
func Find(name string) (*Row, error) {
	for i := range Table {
		if Table[i].Name == name {
			return &Table[i], nil
		}
	}
	return nil, fmt.Errorf("unknown mutant %q", name)
}
