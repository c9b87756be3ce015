package endtoend

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"botd/internal/failure"
)

// TestThePythonPackage runs the package's own tests with a real botd and a running demo.
func TestThePythonPackage(t *testing.T) {
	t.Parallel()
	python(t)
	binary, directory := build(t), t.TempDir()
	command := exec.Command("python3", "-B", "-m", "unittest", "discover", "-s", "../../../clients/python/tests")
	command.Env = append(os.Environ(), "BOTD="+binary, "BOTD_DEMO="+directory, "BOTD_ADDRESS="+demoListening(t, binary, directory))
	if output, err := command.CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, output)
	}
}

// TestDecisionsThatAreMadeAtOnceAreTheSame backtests a program of the package botd with decisions requested in
// batches, and one at a time.
func TestDecisionsThatAreMadeAtOnceAreTheSame(t *testing.T) {
	t.Parallel()
	python(t)
	p := newPlace(t)
	if err := os.CopyFS(filepath.Join(p.directory, "botd"), os.DirFS("../../../clients/python/botd")); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile("../../../clients/python/tests/cross.py")
	if err != nil {
		t.Fatal(err)
	}
	program := string(text)
	p.run(failure.OK, "data", "generate", "--symbol", "BTC-USDT", "--interval", "1h", "--candles", "240", "--out", "candles.csv")
	result := regexp.MustCompile(`(?s)"fills": ([0-9]+),.*"result_sha256": "([0-9a-f]+)"`)
	for _, c := range []struct{ name, program, more string }{
		{"stopped", strings.Replace(program, "reason=\"fast above slow\"", "reason=f\"above {view.last}, {view.equity}\", memory={\"n\": len(closes)}", 1),
			"market: futures\nprotect: {stop_loss: 1%, take_profit: 1%}\nreentry: signal\n"},
		{"trailing", program, "market: spot\nprotect: {trailing: {distance: 1%}}\n"},
		{"notifying", strings.Replace(program, "reason=\"fast below slow\"", "reason=\"below\", notify=[f\"below {view.last}\"]", 1), "market: futures\n"},
		{"silent", strings.Replace(program, "return botd.Plan(target=0, reason=\"fast below slow\")",
			"return None if int(view.now_ms) // 3600000 % 3 else botd.Plan(target=0)", 1), "market: spot\n"},
	} {
		alone := strings.Replace(c.program, "    fast = botd", "    batches = False\n    fast = botd", 1)
		p.file("cross.yaml", "name: cross\nstrategy: process\ncommand: [python3, cross.py]\nsymbol: BTC-USDT\ninterval: 1h\n"+
			"size: {equity: 50%}\nparams: {fast: 5, slow: 20}\n"+c.more, 0o600)
		prices := strings.Replace(c.program, "    fast = botd", "    prices_only = True\n    fast = botd", 1)
		var found [3][]string
		for i, program := range []string{c.program, alone, prices} {
			p.file("cross.py", program, 0o600)
			answer := p.run(failure.OK, "backtest", "run", "-s", "cross.yaml", "--data", "candles.csv", "-o", "json", "-q")
			if found[i] = result.FindStringSubmatch(answer); found[i] == nil {
				t.Fatalf("%s: want the number of fills and the result's hash, have %s", c.name, answer)
			}
			found[i] = found[i][1:]
		}
		if found[0][0] == "0" || !slices.Equal(found[0], found[1]) || !slices.Equal(found[0], found[2]) {
			t.Errorf("%s: want fills, and the same result, have %q, %q and %q", c.name, found[0], found[1], found[2])
		}
	}
}
