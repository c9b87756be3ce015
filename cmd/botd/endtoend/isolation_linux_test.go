package endtoend

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"botd/internal/failure"
	"botd/strategy"
)

// beyondRehearsal is true live and false while a script is checked: there the time starts at zero.
const beyondRehearsal = "view.now_ms > 1000000000000"

// misbehaves are scripts whose faults no check of a configuration finds. Each takes a position first, if it
// can.
var misbehaves = []struct {
	name, script, cause string
	opens               bool
	more                string
}{
	{"sorts without end in decide", `
def decide(view):
    if view.position > 0 and ` + beyondRehearsal + `:
        for i in range(100000):
            sorted(range(3000000))
    return plan(target = quantity(0.01))
`, "has not answered", true, ""},
	{"sorts without end in candle", `
def candle(view):
    if ` + beyondRehearsal + `:
        for i in range(100000):
            sorted(range(3000000))

def decide(view):
    return plan(target = quantity(0.01))
`, "has not answered", false, ""},
	{"doubles a text forty times", `
def decide(view):
    if view.position > 0 and ` + beyondRehearsal + `:
        text = "a text"
        for i in range(40):
            text = text + text
    return plan(target = quantity(0.01))
`, "out of memory", true, "deadline: 60s\n"},
}

// isolation starts a daemon with a strategy that grows, and the strategy under test.
func isolation(t *testing.T, files map[string]string) (p *place, daemon *exec.Cmd, log *Trace) {
	t.Helper()
	return isolationOf(t, self(t), files)
}

func isolationOf(t *testing.T, binary string, files map[string]string) (p *place, daemon *exec.Cmd, log *Trace) {
	t.Helper()
	p = newPlace(t)
	p.file("configs/botd.yaml", fmt.Sprintf("mode: demo\ndata_dir: ./data\nlisten: %s\n", p.free()), 0o600)
	p.file("configs/strategies/grow.yaml", grows, 0o600)
	for name, text := range files {
		p.file("configs/strategies/"+name, text, 0o600)
	}
	daemon, log = p.startAs(binary, "daemon", "run", "--log-format", "json")
	return p, daemon, log
}

// examined is the configuration of the strategy under test.
const examined = "name: tested\nstrategy: %s\nmarket: futures\nsymbol: ETH-USDT\ninterval: 1m\nschedule: '@every 1s'\nleverage: 10\n" +
	"protect: {stop_loss: 5%%}\n%s"

// wantIsolated expects that a strategy which does not answer affects nobody else: its position stays
// protected, the other strategy trades, everything can be flattened, and the daemon stops on request. The
// time until it is flat is checked if no other work of the test runs; 0 for no check.
func wantIsolated(t *testing.T, p *place, daemon *exec.Cmd, log *Trace, cause string, opens bool, within time.Duration) {
	t.Helper()
	wantHung(t, p, log, cause, opens, within)
	wantStop(t, daemon, log)
}

// wantHung is wantIsolated without the stop.
func wantHung(t *testing.T, p *place, log *Trace, cause string, opens bool, within time.Duration) {
	t.Helper()
	log.wait(t, `"strategy.hung"`)
	status := p.run(failure.OK, "status")
	if !strings.Contains(status, "HUNG (tested)") || !strings.Contains(status, cause) {
		t.Errorf("want it declared hung because %q, have %s", cause, status)
	}
	if explained := p.run(failure.OK, "explain", "tested"); !strings.Contains(explained, "hangs") {
		t.Errorf("want explain to say that it hangs, have %s", explained)
	}
	if opens {
		eventually(t, "its stop on the exchange", func() bool { return strings.Contains(p.run(failure.OK, "orders"), "STOP_MARKET") })
	}
	fills := func() int { return strings.Count(log.String(), `"event":"order.fill","strategy":"grow"`) }
	before := fills()
	eventually(t, "the other strategy trades", func() bool { return fills() > before })
	watch := startStopwatch(t)
	p.run(failure.OK, "halt", "--level", "flatten", "--reason", "a test", "--yes")
	eventually(t, "flat", func() bool { return !strings.Contains(p.run(failure.OK, "positions", "-o", "json"), `"quantity"`) })
	if within > 0 {
		watch.wantWithin(t, "from the command to flat", within)
	}
}

// wantStop expects a daemon to stop cleanly on request.
func wantStop(t *testing.T, daemon *exec.Cmd, log *Trace) {
	t.Helper()
	if err := daemon.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	log.wait(t, `"daemon.stopped"`)
	if err := daemon.Wait(); err != nil {
		t.Errorf("want a clean stop, have %v", err)
	}
}

// hang is a strategy in Go that takes a position and then never returns.
type hang struct{}

func (hang) Warmup() int { return 0 }

func (hang) Candle(*strategy.View) {}

func (hang) Decide(view *strategy.View, plan *strategy.Plan) {
	for view.Position.Quantity != 0 {
		runtime.Gosched()
	}
	plan.Hold(strategy.Target{Kind: strategy.ByQuantity, Quantity: 10 * view.Symbol.QuantityTick}, "a test")
}

func hangDefinition() strategy.Definition {
	return strategy.Define("hang", "takes a position and never returns", func(strategy.Setting, struct{}) (strategy.Strategy, error) { return hang{}, nil })
}

// TestTheKillSwitchWorksWhileAStrategyHangs is not parallel: it measures.
func TestTheKillSwitchWorksWhileAStrategyHangs(t *testing.T) {
	withHang, err := exec.LookPath("botd-with-hang")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name, binary string
		files        map[string]string
	}{
		{"a script", self(t), map[string]string{"tested.star": misbehaves[0].script,
			"tested.yaml": fmt.Sprintf(examined, "script", "file: tested.star\n")}},
		{"a strategy in Go", withHang, map[string]string{"tested.yaml": fmt.Sprintf(examined, "hang", "")}},
	} {
		t.Run(c.name, func(t *testing.T) {
			p, daemon, log := isolationOf(t, c.binary, c.files)
			wantIsolated(t, p, daemon, log, "has not answered", true, flattenWithin)
		})
	}
}

func TestMisbehavingScriptAffectsOnlyItself(t *testing.T) {
	t.Parallel()
	for _, c := range misbehaves {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			p, daemon, log := isolation(t, map[string]string{"tested.star": c.script,
				"tested.yaml": fmt.Sprintf(examined, "script", "file: tested.star\n"+c.more)})
			wantIsolated(t, p, daemon, log, c.cause, c.opens, 0)
		})
	}
}

// processOf returns a strategy's process: a child of the daemon.
func processOf(t *testing.T, daemon *exec.Cmd) (id int, found bool) {
	t.Helper()
	status, err := filepath.Glob("/proc/[0-9]*/stat")
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range status {
		text, err := os.ReadFile(file)
		if err != nil {
			continue // it has ended
		}
		_, after, _ := strings.Cut(string(text), ") ")
		fields := strings.Fields(after)
		if len(fields) > 1 && fields[1] == strconv.Itoa(daemon.Process.Pid) {
			id, err = strconv.Atoi(filepath.Base(filepath.Dir(file)))
			return id, err == nil
		}
	}
	return 0, false
}

func TestAScriptWhoseProcessIsKilledStartsOver(t *testing.T) {
	t.Parallel()
	_, daemon, log := isolation(t, map[string]string{"tested.yaml": fmt.Sprintf(examined, "script", "file: tested.star\n"), "tested.star": `
def decide(view):
    return plan(target = quantity(0.01))
`})
	log.wait(t, `"event":"position.changed","strategy":"tested"`)
	id, found := processOf(t, daemon)
	if !found {
		t.Fatal("want the script in a process of its own, have none")
	}
	if err := syscall.Kill(id, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	log.wait(t, "signal: killed")
	log.wait(t, `"strategy.answers"`)
	again := 0
	eventually(t, "another process", func() bool { // on a busy machine that one may miss its deadline and be replaced, too
		again, found = processOf(t, daemon)
		return found && again != id
	})
	if err := daemon.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	eventually(t, "its process ends with the daemon", func() bool { return syscall.Kill(again, 0) != nil })
}

// python skips a test where Python is missing; with python in BOTD_REQUIRE that fails.
func python(t *testing.T) {
	t.Helper()
	if _, err := exec.LookPath("python3"); err != nil {
		if strings.Contains(os.Getenv("BOTD_REQUIRE"), "python") {
			t.Fatal("python3 is not installed, and BOTD_REQUIRE wants it: apt-get install python3")
		}
		t.Skip("python3 is not installed (Debian: python3); BOTD_REQUIRE=python makes this fail")
	}
}

// pythonStarts is a deadline within which Python can start, however busy the machine is.
const pythonStarts = "deadline: 60s\n"

// program returns the path of a test program.
func program(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("../../../strategy/process/testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func TestMisbehavingProgramAffectsOnlyItself(t *testing.T) {
	t.Parallel()
	python(t)
	text := program(t, "misbehave.py")
	for _, c := range []struct{ how, cause, more string }{
		{"hang", "has not answered", "deadline: 6s\n"},
		{"late", "has not answered", "deadline: 6s\n"},
		{"memory", "MemoryError", pythonStarts + "memory_limit: 64MB\n"},
		{"garbage", "cannot be read", pythonStarts},
		{"stdout", "cannot be read", pythonStarts},
		{"stderr", "stderr", pythonStarts},
		{"exit", "it has had enough", pythonStarts},
	} {
		t.Run(c.how, func(t *testing.T) {
			t.Parallel()
			p, daemon, log := isolation(t, map[string]string{"misbehave.py": text,
				"tested.yaml": fmt.Sprintf(examined, "process", "command: [python3, misbehave.py, "+c.how+"]\n"+c.more)})
			wantIsolated(t, p, daemon, log, c.cause, true, 0)
		})
	}
}

func TestAProgramThatFailsIsStoppedWithItsTrace(t *testing.T) {
	t.Parallel()
	python(t)
	p, _, log := isolation(t, map[string]string{"misbehave.py": program(t, "misbehave.py"),
		"tested.yaml": fmt.Sprintf(examined, "process", "command: [python3, misbehave.py, raise]\n"+pythonStarts)})
	log.wait(t, `"strategy.failed"`)
	explained := p.run(failure.OK, "explain", "tested")
	if !strings.Contains(explained, "division by zero") || !strings.Contains(explained, "line 3 in decide") {
		t.Errorf("want the error and its trace, have %s", explained)
	}
}

// TestProgramCannotAccessBotdsFiles needs a kernel with Landlock, which reports its version.
func TestProgramCannotAccessBotdsFiles(t *testing.T) {
	t.Parallel()
	python(t)
	if version, _, failed := syscall.Syscall(unix.SYS_LANDLOCK_CREATE_RULESET, 0, 0, unix.LANDLOCK_CREATE_RULESET_VERSION); failed != 0 || version < 6 {
		t.Skipf("this kernel has Landlock %d (%v); signals are restricted from version 6 on", version, failed)
	}
	_, _, log := isolation(t, map[string]string{"misbehave.py": program(t, "misbehave.py"),
		"tested.yaml": fmt.Sprintf(examined, "process", "command: [python3, misbehave.py, reach]\n"+pythonStarts)})
	log.wait(t, "decision  tested targets")
	_, line, _ := strings.Cut(log.String(), "decision  tested targets")
	if line, _, _ = strings.Cut(line, "\n"); !strings.Contains(line, `reached: "`) {
		t.Errorf("want nothing reached, have %s", line)
	}
}

// TestTheProgramOfTheDocumentsIsBacktested runs the examples of docs/process.md, which make the same decisions in Python
// and in Go.
func TestTheProgramOfTheDocumentsIsBacktested(t *testing.T) {
	t.Parallel()
	python(t)
	p := newPlace(t)
	p.file("cross.py", program(t, "cross.py"), 0o600)
	p.file("cross.yaml", "name: cross\nstrategy: process\ncommand: [python3, cross.py]\nmarket: futures\nsymbol: BTC-USDT\ninterval: 1h\n"+
		"size: {equity: 50%}\nparams: {fast: 5, slow: 20}\n", 0o600)
	p.run(failure.OK, "data", "generate", "--symbol", "BTC-USDT", "--interval", "1h", "--candles", "500", "--out", "candles.csv")
	first := p.run(failure.OK, "backtest", "run", "-s", "cross.yaml", "--data", "candles.csv", "-o", "json", "-q")
	if !strings.Contains(first, `"strategy"`) || strings.Contains(first, `"fills": 0,`) {
		t.Errorf("want fills, have %s", first)
	}
	sha := regexp.MustCompile(`"result_sha256": "([0-9a-f]+)"`)
	again := p.run(failure.OK, "backtest", "run", "-s", "cross.yaml", "--data", "candles.csv", "-o", "json", "-q")
	if one, two := sha.FindString(first), sha.FindString(again); one == "" || one != two {
		t.Errorf("want the same result twice, have %s and %s", one, two)
	}
	build := exec.Command("go", "build", "-o", filepath.Join(p.directory, "cross"), "../../../strategy/process/testdata/cross.go")
	if output, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, output)
	}
	strategy, err := os.ReadFile(filepath.Join(p.directory, "cross.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	p.file("cross.yaml", strings.Replace(string(strategy), "[python3, cross.py]", "[./cross]", 1), 0o600)
	figures := regexp.MustCompile(`"(?:fills|round_trips|final_equity|fees)": "?[0-9.]+`)
	inGo := p.run(failure.OK, "backtest", "run", "-s", "cross.yaml", "--data", "candles.csv", "-o", "json", "-q")
	if one, two := figures.FindAllString(first, -1), figures.FindAllString(inGo, -1); len(one) < 4 || !slices.Equal(one, two) {
		t.Errorf("want the same in Go, have %q and %q", one, two)
	}
}

// hungProgram is a strategy whose program hangs before its hello.
const hungProgram = "name: tested\nstrategy: process\ncommand: [/bin/sleep, '600']\nmarket: futures\nsymbol: ETH-USDT\ninterval: 1m\n" +
	"schedule: '@every 1s'\nprotect: {stop_loss: 5%}\n"

// TestHungProgramDelaysNoStart starts a daemon with a program that hangs before its hello: the others trade and the kill
// switch works while the strategy is hung, and after its start time it has failed. It is not parallel: it measures.
func TestHungProgramDelaysNoStart(t *testing.T) {
	watch := startStopwatch(t)
	p, daemon, log := isolation(t, map[string]string{"tested.yaml": hungProgram})
	log.wait(t, `"event":"order.fill","strategy":"grow"`)
	watch.wantWithin(t, "from the start to the first fill of another strategy", 8*time.Second)
	if strings.Contains(log.String(), `"event":"strategy.failed"`) {
		t.Error("want the other strategy to trade before the start time is over")
	}
	wantHung(t, p, log, "has not answered", false, flattenWithin)
	log.wait(t, `"event":"strategy.failed","strategy":"tested"`)
	if !strings.Contains(log.String(), "its protection stays: at the start: it has not loaded within 30s; fix it and reload") {
		t.Errorf("want its start time named, have %s", log)
	}
	wantStop(t, daemon, log)
}

// TestSlowProgramStartsLate covers a program that answers its hello only after the others have started: it then decides with the
// candles of its warm-up.
func TestSlowProgramStartsLate(t *testing.T) {
	t.Parallel()
	python(t)
	p, _, log := isolation(t, map[string]string{"misbehave.py": program(t, "misbehave.py"),
		"tested.yaml": fmt.Sprintf(examined, "process", "command: [python3, misbehave.py, slow]\n"+pythonStarts)})
	log.wait(t, `"event":"order.fill","strategy":"grow"`)
	if strings.Contains(log.String(), "decision  tested targets") {
		t.Error("want the other strategy to trade first")
	}
	log.wait(t, "decision  tested targets")
	if status := p.run(failure.OK, "status"); strings.Contains(status, "HUNG") || strings.Contains(status, "FAILED") {
		t.Errorf("want it running, have %s", status)
	}
}

// TestSilentProgramFailsAlone covers a program that ends before its hello.
func TestSilentProgramFailsAlone(t *testing.T) {
	t.Parallel()
	p, daemon, log := isolation(t, map[string]string{"silent.yaml": "name: silent\nstrategy: process\ncommand: [/bin/true]\nmarket: futures\n" +
		"symbol: ETH-USDT\ninterval: 1m\nschedule: '@every 1s'\nparams: {fast: 5}\nprotect: {stop_loss: 5%}\n"})
	log.wait(t, `"strategy.failed"`)
	if explained := p.run(failure.OK, "explain", "silent"); !strings.Contains(explained, "exit status 0") || !strings.Contains(explained, "reload") {
		t.Errorf("want its process and the remedy named, have %s", explained)
	}
	log.wait(t, `"event":"order.fill","strategy":"grow"`)
	limits, err := os.ReadFile(fmt.Sprintf("/proc/%d/limits", daemon.Process.Pid))
	if err != nil || !regexp.MustCompile(`(?m)^Max core file size +0 +0 `).Match(limits) {
		t.Errorf("want no core dump of a process that holds keys, have %s, %v", limits, err)
	}
	if have := p.run(failure.Negative, "check", "-c", "configs"); !strings.Contains(have, "silent.yaml") {
		t.Errorf("want a check to refuse it, have %s", have)
	}
	if err := daemon.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	log.wait(t, `"daemon.stopped"`)
}
