package endtoend

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"

	"github.com/spf13/cobra"

	"botd/cmd/botd/cli"
	"botd/cmd/botd/cli/connect"
	"botd/internal/failure"
)

// runStrategies are the commands with -c that run strategies or show their own output, so they may start a strategy's
// program. Every other command with -c starts none.
var runStrategies = []string{"backtest lookahead", "backtest run", "backtest warmup", "check", "config diff", "config show", "doctor", "parity",
	"run", "support", "support bundle", "sweep resume", "sweep run", "sweep trial", "sweep walk"}

// rehearse are the commands that ask a daemon, and rehearse a start if none runs.
var rehearse = []string{"explain", "plan"}

// argumentsOf lists the arguments of commands that need some, and the exit code if it is not 0. Each gets at least as far as
// its configuration.
var argumentsOf = map[string]struct {
	arguments string
	code      int
}{
	"backtest compare":    {"first second", failure.NoInput},
	"backtest note":       {"first text", failure.NoInput},
	"backtest report":     {"first", failure.NoInput},
	"backtest show":       {"first", failure.NoInput},
	"backup":              {"backup.db", failure.OK},
	"book":                {"BTC-USDT", failure.OK},
	"candles":             {"BTC-USDT --interval 1h --limit 2", failure.OK},
	"data download":       {"--symbol BTC-USDT --interval 1h --from 2024-01-01 --to 2024-02-01", failure.Usage},
	"data export":         {"--symbol BTC-USDT --interval 1h --out candles.csv", failure.NoInput},
	"data funding import": {"nothing.csv --symbol BTC-USDT", failure.NoInput},
	"data generate":       {"--symbol BTC-USDT --interval 1h --candles 3", failure.OK},
	"data import":         {"nothing.csv --symbol BTC-USDT", failure.NoInput},
	"data resample":       {"--symbol BTC-USDT --interval 1h --to 4h", failure.NoInput},
	"explain":             {"hold", failure.OK},
	"halt":                {"--level pause --reason text", failure.OK},
	"intents show":        {"none", failure.Negative},
	"journal accept-key":  {"", failure.Config}, // for a live botd
	"journal key":         {"", failure.Config},
	"log-level":           {"debug", failure.OK},
	"notify test":         {"", failure.Config},
	"resolve":             {"BTC-USDT --ignore --reason text", failure.Negative},
	"journal head":        {"--accept", failure.OK},
	"ledger transfer":     {"--market futures --asset USDT --amount 1", failure.OK},
	"limits reset":        {"max_open_orders --reason text", failure.Negative},
	"limits set":          {"max_open_orders=5 --reason text", failure.OK},
	"orders cancel":       {"--all --reason text", failure.OK},
	"orders show":         {"none", failure.Negative},
	"positions close":     {"BTC-USDT --reason text", failure.OK},
	"probe":               {"", failure.Usage},
	"restore":             {"nothing.db", failure.NoInput},
	"risk limits reset":   {"max_open_orders --reason text", failure.Negative},
	"risk limits set":     {"max_open_orders=5 --reason text", failure.OK},
	"strategy flatten":    {"hold --reason text", failure.OK},
	"strategy pause":      {"hold --reason text", failure.OK},
	"strategy resume":     {"hold --reason text", failure.OK},
	"strategy stop":       {"hold --reason text", failure.OK},
	"sweep cancel":        {"first", failure.NoInput},
	"sweep report":        {"first", failure.NoInput},
	"sweep show":          {"first", failure.NoInput},
	"token create":        {"phone --role viewer", failure.OK},
	"token revoke":        {"none", failure.Negative},
}

// TestReadOnlyCommandStartsNoProgram runs every command of the tree that reads a configuration, with and without a
// daemon, with a configuration whose strategy is a program: an emergency halt must not wait for it.
func TestReadOnlyCommandStartsNoProgram(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	address := demoListening(t, self(t), p.directory)
	var started atomic.Int64
	for name, root := range map[string]string{"beside a daemon": fmt.Sprintf("mode: demo\nlisten: %s\ndata_dir: %s/data\n", address, p.directory),
		"beside none": fmt.Sprintf("mode: demo\nlisten: 127.0.0.1:1\ndata_dir: %s/none\n", p.directory)} {
		configuration := filepath.Join(p.directory, name)
		p.file(name+"/botd.yaml", root, 0o600)
		pipe := filepath.Join(configuration, "strategies", "pipe")
		p.file(name+"/strategies/hold.yaml", fmt.Sprintf("name: hold\nstrategy: process\ncommand: [sh, -c, \"read line < '%s'\"]\nmarket: futures\n"+
			"symbol: BTC-USDT\ninterval: 1m\n", pipe), 0o600)
		countReaders(t, pipe, &started)
		run := func(command string, arguments ...string) (int, string) {
			var out bytes.Buffer
			all := append(append(strings.Fields(command), "-c", configuration), arguments...)
			return cli.Execute(connect.WithProcesses(context.Background()), all, &out, &out), out.String()
		}
		for _, command := range readers(commands()) {
			path := strings.TrimPrefix(command.CommandPath(), "botd ")
			if slices.Contains(runStrategies, path) || name == "beside none" && slices.Contains(rehearse, path) {
				continue
			}
			row := argumentsOf[path]
			arguments := strings.Fields(row.arguments)
			if command.Flags().Lookup("dry-run") != nil {
				arguments = append(arguments, "--dry-run")
			}
			code, output := run(path, arguments...)
			t.Logf("%s %s: %d %.100q", name, path, code, output)
			if name == "beside a daemon" && code != row.code {
				t.Errorf("botd %s %s: want exit code %d, have %d: %s", path, row.arguments, row.code, code, output)
			}
			if started.Swap(0) > 0 {
				t.Errorf("botd %s, %s: want no program started", path, name)
			}
		}
		if code, output := run("check"); code == failure.OK || started.Swap(0) == 0 {
			t.Errorf("botd check: want the program started, and its silence reported, have %d: %s", code, output)
		}
	}
}

// countReaders counts the processes that open a pipe for reading. Each finds its end, but not before it was
// counted.
func countReaders(t *testing.T, pipe string, readers *atomic.Int64) {
	t.Helper()
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	var over atomic.Bool
	done := make(chan struct{})
	go func() {
		defer close(done)
		for {
			file, err := os.OpenFile(pipe, os.O_WRONLY, 0) // waits for a reader
			if err != nil || over.Load() {
				return
			}
			readers.Add(1)
			file.Close()
		}
	}()
	t.Cleanup(func() {
		over.Store(true)
		if file, err := os.OpenFile(pipe, os.O_RDONLY|syscall.O_NONBLOCK, 0); err == nil {
			defer file.Close()
			<-done
		}
	})
}

// readers returns the commands that read a configuration.
func readers(command *cobra.Command) (all []*cobra.Command) {
	if command.Runnable() && command.Flags().Lookup("config") != nil {
		all = append(all, command)
	}
	for _, below := range command.Commands() {
		all = append(all, readers(below)...)
	}
	return all
}
