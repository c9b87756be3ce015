package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"net/http/httptest"
	"strings"
	"testing"

	"botd/exchange/sim"
	"botd/exchange/sim/server"
	"botd/internal/conformance"
	"botd/internal/failure"
)

// ran runs a command line of botd-sim, and returns its exit code and output.
func ran(arguments ...string) (code int, stdout, stderr string) {
	var out, err bytes.Buffer
	code = run(arguments, &out, &err)
	return code, out.String(), err.String()
}

func TestCasesRunOnTheChosenMachines(t *testing.T) {
	t.Parallel()
	code, out, stderr := ran("conformance", "--subject", "authentication", "--subject", "spot-wallet", "--on", "served", "--on", "simulated", "-o", "json")
	var have struct{ Items []subjectResult }
	if err := json.Unmarshal([]byte(out), &have); err != nil || code != failure.OK {
		t.Fatalf("want exit code 0 and a document, have %d: %v\n%s%s", code, err, out, stderr)
	}
	if len(have.Items) != 2 || have.Items[0].Subject != "spot-wallet" || have.Items[1].Subject != "authentication" || have.Items[1].Runs == 0 ||
		have.Items[0].Runs%2 != 0 {
		t.Errorf("want two subjects in the interface's order, the wallet's cases on both machines, have %+v", have.Items)
	}
	if code, out, _ := ran("conformance", "--subject", "spot-wallet", "--on", "restarted"); code != failure.OK || !strings.Contains(out, "runs passed") {
		t.Errorf("want a table, have %d: %s", code, out)
	}
	for _, wrong := range [][]string{{"--on", "steam"}, {"--subject", "weather"}, {"--url", "nowhere"}, {"--url", "http://x", "--matrix"}} {
		if code, _, stderr := ran(append([]string{"conformance"}, wrong...)...); code != failure.Usage || !strings.Contains(stderr, "hint: ") {
			t.Errorf("%v: want exit code %d and a hint, have %d: %s", wrong, failure.Usage, code, stderr)
		}
	}
}

func TestAFailedCaseIsShownWithItsMachine(t *testing.T) {
	t.Parallel()
	cases, err := conformance.Cases()
	if err != nil {
		t.Fatal(err)
	}
	machine, err := conformance.MachineOf("served")
	if err != nil {
		t.Fatal(err)
	}
	results := subjectsOf([]caseResult{{machine: machine, of: &cases[0], err: errors.New("want 1, have 2")}, {machine: machine, of: &cases[0]}})
	if len(results) != 1 || results[0].Runs != 2 || len(results[0].Failures) != 1 {
		t.Fatalf("want one of two runs failed, have %+v", results)
	}
	var out strings.Builder
	subjectTable(&out, results, 2)
	for _, want := range []string{cases[0].String() + ", served: want 1, have 2\n", "1 of 2 runs passed\n"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("want %q, have\n%s", want, out.String())
		}
	}
	if code := failure.CodeOf(failedIf(nil, true)); code != failure.Negative {
		t.Errorf("want exit code %d, have %d", failure.Negative, code)
	}
}

func TestTheMatrixIsATable(t *testing.T) {
	t.Parallel()
	code, out, stderr := ran("conformance", "--matrix", "-o", "csv")
	if lines := strings.Split(out, "\n"); code != failure.OK || lines[0] != "what,name,cases,http_only,checks,text" || len(lines) < 300 {
		t.Errorf("want at least 300 rows, have %d and %d: %.200s %s", code, len(lines), out, stderr)
	}
	if _, out, _ := ran("conformance", "--matrix"); !strings.Contains(out, "futures_place") {
		t.Errorf("want a row of placing, have %.300s", out)
	}
}

func TestAnExchangeIsReadAtItsAddress(t *testing.T) {
	t.Parallel()
	x, err := sim.New(sim.Config{Symbols: sim.DefaultSymbols(), StartMS: conformance.StartMS + 3_600_000, Seed: 1})
	if err != nil {
		t.Fatal(err)
	}
	s, err := server.New(server.Config{Exchange: x, Clock: server.Clock{Manual: true, StartMS: conformance.StartMS + 3_600_000}})
	if err != nil {
		t.Fatal(err)
	}
	venue := httptest.NewServer(s.Handler())
	t.Cleanup(venue.Close)
	code, out, stderr := ran("conformance", "--url", venue.URL)
	if code != failure.OK || !strings.Contains(out, " checks passed") {
		t.Errorf("want the simulated exchange consistent, have %d: %s%s", code, out, stderr)
	}
	none := httptest.NewServer(nil)
	t.Cleanup(none.Close)
	code, out, _ = ran("conformance", "--url", none.URL, "-o", "json")
	if code != failure.Negative || !strings.Contains(out, `"fault": `) {
		t.Errorf("want a server of nothing to fail, have %d: %.300s", code, out)
	}
}
