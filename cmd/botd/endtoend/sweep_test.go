package endtoend

import (
	"encoding/json"
	"maps"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/rogpeppe/go-internal/testscript"
)

// sameSweep expects two sweeps, printed as JSON, to have the same hash and the same rows.
func sameSweep(ts *testscript.TestScript, negative bool, args []string) {
	if negative || len(args) != 2 {
		ts.Fatalf("usage: same-sweep FILE FILE")
	}
	type sweep struct {
		SHA256 string `json:"sweep_sha256"`
		Trials []struct {
			Job string `json:"job_sha256"`
		} `json:"trials"`
	}
	var read [2]sweep
	for i, name := range args {
		ts.Check(json.Unmarshal([]byte(ts.ReadFile(name)), &read[i]))
		if len(read[i].SHA256) != 64 || len(read[i].Trials) == 0 {
			ts.Fatalf("%s is no sweep", name)
		}
	}
	if read[0].SHA256 != read[1].SHA256 || !slices.Equal(read[0].Trials, read[1].Trials) {
		ts.Fatalf("want %s with %d trials, have %s with %d", read[1].SHA256, len(read[1].Trials), read[0].SHA256, len(read[0].Trials))
	}
}

// cutRows leaves the first rows of a sweep, in a random order, and half of the next one, as a kill would.
func cutRows(ts *testscript.TestScript, negative bool, args []string) {
	if negative || len(args) != 2 {
		ts.Fatalf("usage: cut-rows FILE ROWS")
	}
	n, err := strconv.Atoi(args[1])
	ts.Check(err)
	lines := strings.SplitAfter(ts.ReadFile(args[0]), "\n")
	if len(lines) <= n {
		ts.Fatalf("%s has %d rows", args[0], len(lines))
	}
	shuffled := map[string]bool{}
	for _, line := range lines[:n] {
		shuffled[line] = true
	}
	rows := slices.Collect(maps.Keys(shuffled))
	rows = append(rows, lines[n][:len(lines[n])/2])
	ts.Check(os.WriteFile(ts.MkAbs(args[0]), []byte(strings.Join(rows, "")), 0o600))
}
