package endtoend

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"botd/exchange"
	"botd/exchange/rest"
	"botd/internal/disk/disktest"
	"botd/internal/failure"
)

// tracedExchange is a run of botd exchange under strace.
type tracedExchange struct {
	trace   string
	printed string
	code    int
	failed  int      // number of answers that were errors
	orders  []string // open in the end, by client order id
}

// placed is the number of orders in a run.
const placed = 4

// runTraced runs botd exchange with a state file, and places orders from a number on. An order whose answer is an error is queried, and
// placed again if it does not exist. The orders are listed, and the process is interrupted.
func runTraced(t *testing.T, directory string, inject []string, from int) (run tracedExchange) {
	t.Helper()
	file := filepath.Join(t.TempDir(), "trace")
	process := exec.Command("strace", slices.Concat(disktest.Strace(file), inject, []string{self(t), "exchange", "--listen", "127.0.0.1:0",
		"--market", "still", "--delay", "0", "--account", "alice:a secret", "--state", filepath.Join(directory, "state")})...)
	stderr, err := process.StderrPipe()
	if err == nil {
		err = process.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	for lines := bufio.NewScanner(stderr); lines.Scan(); {
		run.printed += lines.Text() + "\n"
		if _, address, found := strings.Cut(lines.Text(), "listens on "); found {
			run.trade(t, address, from)
			interruptTraced(t, process)
		}
	}
	_ = process.Wait() // its exit code shows how it ended
	run.code = process.ProcessState.ExitCode()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	run.trace = string(text)
	return run
}

// interruptTraced interrupts the process that strace has started.
func interruptTraced(t *testing.T, strace *exec.Cmd) {
	t.Helper()
	pid := strace.Process.Pid
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/task/%d/children", pid, pid))
	if err != nil {
		t.Fatal(err)
	}
	child, err := strconv.Atoi(strings.TrimSpace(string(text)))
	if err == nil {
		err = syscall.Kill(child, syscall.SIGINT)
	}
	if err != nil {
		t.Fatal(err)
	}
}

func (run *tracedExchange) trade(t *testing.T, address string, from int) {
	t.Helper()
	client, err := rest.New(rest.Config{BaseURL: address, Key: "alice", Secret: []byte("a secret")})
	if err == nil {
		err = client.RefreshSymbols(t.Context())
	}
	if err != nil {
		t.Fatal(err)
	}
	list := func() (names []string) {
		const tries = 8
		for try := 0; ; try++ {
			answer, err := client.Do(t.Context(), exchange.Request{Operation: exchange.FuturesOpenOrders})
			if err == nil {
				for _, o := range answer.Orders.Items() {
					names = append(names, o.ClientOrderID)
				}
				slices.Sort(names)
				return names
			}
			if run.failed++; try == tries {
				t.Fatal(err)
			}
		}
	}
	symbol, _ := client.Symbols().Symbol(exchange.SymbolKey{Market: exchange.Futures, Name: "BTC-USDT"})
	for n := from; n < from+placed; n++ {
		name := fmt.Sprintf("order-%02d", n)
		request := exchange.Request{Operation: exchange.FuturesPlace, Symbol: "BTC-USDT", Order: exchange.NewOrder{Market: exchange.Futures,
			Symbol: "BTC-USDT", Side: exchange.Buy, Type: exchange.Limit, Quantity: symbol.QuantityTick, Price: symbol.PriceOf(exchange.AmountOf(40_000)),
			ClientOrderID: name}}
		if _, err := client.Do(t.Context(), request); err == nil {
			continue
		}
		if run.failed++; !slices.Contains(list(), name) {
			if _, err := client.Do(t.Context(), request); err != nil {
				t.Errorf("%s, once more: %v", name, err)
			}
		}
	}
	run.orders = list()
}

// TestEachFileCallOfAnExchangesStateFailsOnce has the disk full for one call of botd exchange --state, in its first process and in the
// second. The failure is an error of a request, a warning or an end with exit code 74, and the next process has each acknowledged order
// once.
func TestEachFileCallOfAnExchangesStateFailsOnce(t *testing.T) {
	t.Parallel()
	disktest.NeedStrace(t)
	directory := filepath.Join(t.TempDir(), "here")
	start := func(processes int) {
		if err := os.RemoveAll(directory); err != nil {
			t.Fatal(err)
		}
		if err := os.Mkdir(directory, 0o700); err != nil {
			t.Fatal(err)
		}
		for n := range processes {
			runTraced(t, directory, nil, n*placed)
		}
	}
	want, failed, every := []string{}, 0, disktest.Every(t, 4)
	for process := range 2 {
		for n := range placed {
			want = append(want, fmt.Sprintf("order-%02d", process*placed+n))
		}
		start(process)
		well := runTraced(t, directory, nil, process*placed)
		if well.code != failure.OK || well.failed != 0 || !slices.Equal(well.orders, want) {
			t.Fatalf("process %d, without a fault: want %v, have %+v", process, want, well)
		}
		for i, c := range disktest.Calls(well.trace, directory) {
			if i%every != process%every {
				continue
			}
			start(process)
			run := runTraced(t, directory, c.Inject(), process*placed)
			if !strings.Contains(run.trace, "(INJECTED)") {
				t.Logf("%s: it did not come again", c)
				continue
			}
			failed++
			cause := strings.Contains(run.printed, "no space left on device")
			if ended := run.orders == nil; ended && (run.code != failure.IO || !cause) || !ended && c.Kind != "unlinkat" && run.failed == 0 && !cause {
				t.Errorf("process %d, %s: want it reported, have exit %d, %d errors: %s", process, c, run.code, run.failed, run.printed)
			}
			if run.orders == nil { // it did not start; the next one does
				run = runTraced(t, directory, nil, process*placed)
			}
			if !slices.Equal(run.orders, want) {
				t.Errorf("process %d, %s: want %v, have %v: %s", process, c, want, run.orders, run.printed)
			}
			next := runTraced(t, directory, nil, 2*placed)
			if have := next.orders[:min(len(want), len(next.orders))]; !slices.Equal(have, want) || len(next.orders) != len(want)+placed {
				t.Errorf("process %d, after %s: want %v and more, have %v: %s", process, c, want, next.orders, next.printed)
			}
		}
	}
	if t.Logf("%d calls failed", failed); failed == 0 {
		t.Error("want calls that fail, have none")
	}
}
