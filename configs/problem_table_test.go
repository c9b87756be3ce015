package configs_test

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"
	"testing/fstest"

	"botd/configs"
	"botd/strategy"
	"botd/strategy/library"
	"botd/strategy/script"
)

// The report has a hint, and correct lines next to the mistake are not reported. testdata/mistakes.txt has the lines added to a botd.yaml
// and to a strategy's file, and the complete report.
func TestEachMistakeIsNamedWhereItIs(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("testdata/mistakes.txt")
	if err != nil {
		t.Fatal(err)
	}
	check := configs.Options{Symbols: symbols(t), Registry: strategy.NewRegistry(append(library.All(), script.Rules(), script.Files(),
		strategy.Definition{Name: "process"})...)}
	check.Script = func(source *strategy.Source) (strategy.Definition, error) {
		s, err := script.Compile(source.File, source.Text, source.Libraries...)
		if err != nil {
			return strategy.Definition{}, err
		}
		return s.Definition(), nil
	}
	check.Process = func([]string, string) (strategy.Definition, error) {
		return strategy.Definition{}, errors.New("it does not answer")
	}
	long := strings.Repeat("#", 1<<20+1)
	rows := strings.Split(strings.TrimSpace(string(text)), "\n\n")
	if len(rows) < 200 {
		t.Fatalf("want at least 200 files, have %d", len(rows))
	}
	for _, row := range rows {
		parts := map[string]string{}
		for line := range strings.Lines(row + "\n") {
			name, rest, _ := strings.Cut(line, "| ")
			parts[name] += rest
		}
		file := parts["file"]
		for _, key := range []string{"strategy: buy_and_hold\n", "market: futures\n", "symbol: BTC-USDT\n", "interval: 1m\n"} {
			if name, _, _ := strings.Cut(key, " "); !strings.Contains(file, name) {
				file = key + file
			}
		}
		files := tree("botd.yaml", parts["botd"]+"mode: demo\n", "strategies/a.yaml", file+"name: a\n",
			"strategies/good.star", "def decide(view):\n    return hold(\"long\")\n")
		if strings.Contains(file, "long.star") {
			files["strategies/long.star"] = &fstest.MapFile{Data: []byte(long)}
		}
		config, problems := configs.Load(files, "", check)
		if have := inLines(problems); have != parts["want"] {
			t.Errorf("%s\nhave:\n%s", row, have)
		}
		if (config != nil) != (problems.Errors() == 0) {
			t.Errorf("%s\nwant a configuration where there is no error, have %v", row, config != nil)
		}
	}
}

// inLines formats problems, one per line: where, what, and the hint.
func inLines(problems configs.Problems) string {
	var all strings.Builder
	for _, p := range problems {
		where := fmt.Sprintf("%s:%d", strings.TrimPrefix(p.File, "strategies/"), p.Line)
		if p.Column != 0 {
			where += fmt.Sprint(":", p.Column)
		}
		if p.Severity == configs.Warning {
			where += ": warning"
		}
		all.WriteString(where + ": " + p.What)
		if p.Hint != "" {
			all.WriteString(" | " + p.Hint)
		}
		all.WriteString("\n")
	}
	return all.String()
}
