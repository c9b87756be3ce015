package cli

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"botd/internal/failure"
)

// beyondRehearsal is true live and false while a script is checked: there the time begins at zero.
const beyondRehearsal = "view.now_ms > 1000000000000"

// misbehaves are scripts that no check of a configuration finds out. Each holds a position first,
// where it can.
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

// isolation starts a daemon with a strategy that grows, and one that a test looks at.
func isolation(t *testing.T, files map[string]string) (p *place, daemon *exec.Cmd, log *Trace) {
	t.Helper()
	p = newPlace(t)
	p.file("configs/botd.yaml", fmt.Sprintf("mode: demo\ndata_dir: ./data\nlisten: %s\n", p.free()), 0o600)
	p.file("configs/strategies/grow.yaml", grows, 0o600)
	for name, text := range files {
		p.file("configs/strategies/"+name, text, 0o600)
	}
	daemon, log = p.start("daemon", "run", "--log-format", "json")
	return p, daemon, log
}

// examined is the configuration of the strategy that a test looks at.
const examined = "name: tested\nstrategy: %s\nmarket: futures\nsymbol: ETH-USDT\ninterval: 1m\nschedule: '@every 1s'\nleverage: 10\n" +
	"protect: {stop_loss: 5%%}\n%s"

// wantIsolated wants that a strategy which does not answer costs nobody anything: its position
// stays protected, the other strategy trades, everything can be flattened in five seconds, and the
// daemon stops when it is asked to.
func wantIsolated(t *testing.T, p *place, daemon *exec.Cmd, log *Trace, cause string, opens bool) {
	t.Helper()
	log.wait(t, `"strategy.hung"`)
	status := p.run(failure.OK, "status")
	if !strings.Contains(status, "HUNG (tested)") || !strings.Contains(status, cause) {
		t.Errorf("want it declared hung because %q, have %s", cause, status)
	}
	if explained := p.run(failure.OK, "explain", "tested"); !strings.Contains(explained, "hangs") {
		t.Errorf("want explain to say that it hangs, have %s", explained)
	}
	if orders := p.run(failure.OK, "orders"); opens && !strings.Contains(orders, "STOP_MARKET") {
		t.Errorf("want its stop on the exchange, have %s", orders)
	}
	fills := func() int { return strings.Count(log.String(), `"event":"order.fill","strategy":"grow"`) }
	before := fills()
	eventually(t, "the other strategy trades", func() bool { return fills() > before })
	began := time.Now()
	p.run(failure.OK, "halt", "--level", "flatten", "--reason", "a test", "--yes")
	eventually(t, "flat", func() bool { return !strings.Contains(p.run(failure.OK, "positions", "-o", "json"), `"quantity"`) })
	if took := time.Since(began); took > haltWithin {
		t.Errorf("from the command to flat: want at most %s, have %s", haltWithin, took)
	} else {
		t.Logf("from the command to flat: %s", took.Round(time.Millisecond))
	}
	if err := daemon.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	log.wait(t, `"daemon.stopped"`)
	if err := daemon.Wait(); err != nil {
		t.Errorf("want a clean stop, have %v", err)
	}
}

func TestAScriptThatMisbehavesCostsItselfAlone(t *testing.T) {
	t.Parallel()
	for _, c := range misbehaves {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			p, daemon, log := isolation(t, map[string]string{"tested.star": c.script,
				"tested.yaml": fmt.Sprintf(examined, "script", "file: tested.star\n"+c.more)})
			wantIsolated(t, p, daemon, log, c.cause, c.opens)
		})
	}
}

// processOf is the process of a strategy: a child of the daemon.
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

func TestAScriptWhoseProcessIsKilledBeginsAnew(t *testing.T) {
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
	again, found := processOf(t, daemon)
	if !found || again == id {
		t.Errorf("want another process, have %d after %d", again, id)
	}
	if err := daemon.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	eventually(t, "its process ends with the daemon", func() bool { return syscall.Kill(again, 0) != nil })
}
