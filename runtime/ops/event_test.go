package ops

import (
	"bytes"
	"encoding/json"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"botd/exchange"
	"botd/internal/enginetest"
	"botd/runtime/engine"
)

func eventOf(id string) *Event {
	for i := range Events {
		if Events[i].ID == id {
			return &Events[i]
		}
	}
	return nil
}

// noted writes every kind of note, with and without a strategy and a symbol, at its start and its end.
func noted(t *testing.T) (lines []map[string]any) {
	t.Helper()
	var out bytes.Buffer
	logs := NewLogs()
	if err := logs.SetLevel("debug"); err != nil {
		t.Fatal(err)
	}
	console := NewConsole(&out, Format{JSON: true}, NewMetrics("demo", Build{}), logs)
	for _, n := range enginetest.Notes(t, "trend", bitcoin, "bx-1-9", "max_drawdown") {
		unnamed := n
		unnamed.Strategy, unnamed.Symbol = "", nil
		all := []engine.Note{n, enginetest.Ended(n), unnamed, enginetest.Ended(unnamed)}
		switch fact := n.Fact.(type) {
		case engine.NoteCandle, engine.NoteDecision, engine.NoteIntent, engine.NotePlaced, engine.NoteFill:
			all = all[:2] // never reported without a symbol
		case engine.NoteJournal:
			fact.Err = nil
			n.Fact = fact
			all = append(all, n)
		}
		for _, n := range all {
			before := out.Len()
			if console.Note(&n); out.Len() == before {
				t.Errorf("%T %+v: want a line, have none", n.Fact, n)
			}
		}
	}
	for line := range strings.Lines(out.String()) {
		fields := map[string]any{}
		if err := json.Unmarshal([]byte(line), &fields); err != nil {
			t.Fatalf("%s: %v", line, err)
		}
		lines = append(lines, fields)
	}
	return lines
}

// TestEveryLineHasOneEventOfTheTable has the console write every kind of fact.
func TestEveryLineHasOneEventOfTheTable(t *testing.T) {
	t.Parallel()
	for _, line := range noted(t) {
		id, _ := line["event"].(string)
		e := eventOf(id)
		if e == nil {
			t.Errorf("line %v: its event is not in the table", line)
			continue
		}
		if level, _ := line["level"].(string); !slices.Contains(strings.Split(e.Level, " or "), level) {
			t.Errorf("%s: want level %s, have %s", id, e.Level, level)
		}
		if line["msg"] == "" || line["time"] == nil {
			t.Errorf("%s: want time and msg, have %v", id, line)
		}
	}
}

// TestDebugLinesAreWrittenAtDebugAlone changes the level in both directions while the console runs.
func TestDebugLinesAreWrittenAtDebugAlone(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	logs, metrics := NewLogs(), NewMetrics("demo", Build{})
	console := NewConsole(&out, Format{JSON: true}, metrics, logs)
	for _, c := range []struct {
		level string
		want  int
	}{{"info", 1}, {"debug", 3}, {"warn", 0}, {"info", 1}} {
		if err := logs.SetLevel(c.level); err != nil {
			t.Fatal(err)
		}
		out.Reset()
		for _, fact := range []engine.Fact{engine.NoteTick{}, engine.NoteRound{}, engine.NotePosition{}} {
			console.Note(&engine.Note{Symbol: bitcoin, Strategy: "trend", Fact: fact})
		}
		if have := strings.Count(out.String(), "\n"); have != c.want {
			t.Errorf("level %s: want %d lines, have %d\n%s", c.level, c.want, have, out.String())
		}
	}
	if have := value(t, metrics, "botd_log_events_total", "level=debug"); have != 2 {
		t.Errorf("debug lines counted: want the 2 written, have %v", have)
	}
}

var eventPattern = regexp.MustCompile(`^[a-z]+\.[a-z_]+$`)

// eventFunctions are the functions with an event id as a parameter.
var eventFunctions = []string{"Say", "Warn", "refused", "say", "Offer", "report", "Notify", "debug", "info", "warn", "bad", "log", "Log"}

// TestNoEventIsMadeOutsideTheTable reads every source file: each id passed to such a function is in the
// table, and each id of the table is used.
func TestNoEventIsMadeOutsideTheTable(t *testing.T) {
	t.Parallel()
	found := map[string]string{}
	root := filepath.Join("..", "..")
	err := filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if entry.IsDir() && (strings.HasPrefix(entry.Name(), ".") && path != root || entry.Name() == "testdata") {
			return filepath.SkipDir
		}
		if entry.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return nil
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		ast.Inspect(file, func(node ast.Node) bool {
			if id := eventIn(node); id != "" {
				found[id] = path
			}
			return true
		})
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for id, path := range found {
		if eventOf(id) == nil {
			t.Errorf("%s logs %q, which is not in the table of ops.Events", path, id)
		}
	}
	for _, e := range Events {
		if found[e.ID] == "" {
			t.Errorf("nothing logs %s: remove it from the table", e.ID)
		}
	}
	if !slices.IsSortedFunc(Events, func(a, b Event) int { return strings.Compare(a.ID, b.ID) }) {
		t.Error("the table is not in the order of the ids")
	}
}

// eventIn returns the event id that a call logs, if any.
func eventIn(node ast.Node) string {
	call, is := node.(*ast.CallExpr)
	if !is {
		return ""
	}
	name := ""
	switch f := call.Fun.(type) {
	case *ast.SelectorExpr:
		name = f.Sel.Name
	case *ast.Ident:
		name = f.Name
	}
	if !slices.Contains(eventFunctions, name) {
		return ""
	}
	for _, argument := range call.Args {
		literal, is := argument.(*ast.BasicLit)
		if !is || literal.Kind != token.STRING {
			continue
		}
		if text, err := strconv.Unquote(literal.Value); err == nil && eventPattern.MatchString(text) {
			return text
		}
	}
	return ""
}

// TestTheDocumentOfLogsIsTheTable keeps docs/logs.md equal to the table; -update rewrites it.
func TestTheDocumentOfLogsIsTheTable(t *testing.T) {
	t.Parallel()
	const path = "../../docs/logs.md"
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var rows strings.Builder
	for _, e := range Events {
		fmt.Fprintf(&rows, "| `%s` | %s | %s |\n", e.ID, e.Level, e.Means)
	}
	const head = "| event | level | meaning |\n|---|---|---|\n"
	before, after, found := strings.Cut(string(text), head)
	if !found {
		t.Fatalf("%s: want a table that begins %q", path, head)
	}
	rest := after
	for strings.HasPrefix(rest, "| ") {
		_, rest, _ = strings.Cut(rest, "\n")
	}
	want := before + head + rows.String() + rest
	if *update && want != string(text) {
		if err := os.WriteFile(path, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if want != string(text) {
		t.Errorf("%s is not the table of ops.Events\nhint: go test ./runtime/ops -run Document -update", path)
	}
}

// The log for people shows no fields, so the text names the strategy, its symbol or its order.
func TestEveryLineOfAStrategyNamesIt(t *testing.T) {
	t.Parallel()
	named := 0
	worded := regexp.MustCompile( // texts of the engine
		`^(breaker|exchange|journal|ledger|limit|reconcile|trading|market\.(fresh|stale)|position\.liquidated)`)
	for _, line := range noted(t) {
		text, _ := line["msg"].(string)
		if event, _ := line["event"].(string); worded.MatchString(event) {
			continue
		}
		for _, field := range []string{"strategy", "symbol"} {
			if line[field] == nil {
				continue
			}
			named++
			if !slices.ContainsFunc([]string{"strategy", "symbol", "client_order_id"}, func(name string) bool {
				value, is := line[name].(string)
				return is && strings.Contains(text, value)
			}) {
				t.Errorf("%s: want its %s named in %q", line["event"], field, text)
			}
		}
	}
	if named < 50 {
		t.Errorf("want lines of strategies and symbols, have %d", named)
	}
}

// A line that is not a note of the engine is also found by strategy and symbol.
func TestLinesOfTheDaemonHaveTheirScope(t *testing.T) {
	t.Parallel()
	logs := NewLogs()
	console := NewConsole(io.Discard, Format{JSON: true}, nil, logs)
	console.Of("trend", exchange.SymbolKey{Market: exchange.Spot, Name: "BTC-USDT"}).Say("trade.opened", "one")
	console.Of("", exchange.SymbolKey{}).Warn("incident.opened", "two")
	logs.Lines(func(all []LogLine) {
		if len(all) != 2 || all[0].Strategy != "trend" || all[0].Market != "spot" || all[0].Symbol != "BTC-USDT" ||
			all[1].Strategy+all[1].Market+all[1].Symbol != "" {
			t.Errorf("want the scope of each line, have %+v", all)
		}
	})
}
