package research

import (
	"fmt"

	"github.com/spf13/cobra"

	"botd/backtest/benchmark"
	"botd/cmd/botd/cli/shell"
	"botd/internal/failure"
)

// NewBench returns the command botd bench.
func NewBench() *cobra.Command {
	var (
		into          string
		manual, read  string
		candles, runs int
	)
	command := &cobra.Command{
		Use: "bench", Short: "measure the speed of backtests on this machine", Args: cobra.NoArgs,
		Long: `Measures backtests on candles of a synthetic market: the engine over candles in memory,
compared with a plain float64 loop over the same columns, and whole commands, from the CSV file
to the printed result, compared with a hand-written program that parses the file and loops. Each
figure is the best of several runs. Speeds are by processor time, which other programs hardly
affect. --into FILE also writes the tables into a Markdown file, between its bench marks.`,
		Example: "  botd bench\n  botd bench --candles 200000 -o json\n  go run ./cmd/botd bench --into docs/performance.md",
		RunE: func(command *cobra.Command, _ []string) error {
			if manual != "" {
				fills, err := benchmark.Plain(manual)
				fmt.Fprintln(command.OutOrStdout(), fills)
				return failure.Wrap(failure.IO, err)
			}
			if read != "" {
				count, err := benchmark.Read(read)
				fmt.Fprintln(command.OutOrStdout(), count)
				return failure.Wrap(failure.IO, err)
			}
			if candles < 10_000 || candles > 50_000_000 || runs < 1 || runs > 100 {
				return failure.Usagef("--candles from 10000 to 50000000, --runs from 1 to 100")
			}
			var page *benchmark.Page
			if into != "" { // a file without marks is reported before minutes of work
				var err error
				if page, err = benchmark.ReadPage(into); err != nil {
					return failure.Wrap(failure.IO, err)
				}
			}
			b := &benchmark.Benchmark{Ctx: command.Context(), Candles: candles, Runs: runs, Progress: command.ErrOrStderr()}
			if err := b.Run(); err != nil {
				return failure.Wrap(failure.Internal, err)
			}
			if page != nil {
				if err := page.Insert(&b.Result); err != nil {
					return failure.Wrap(failure.IO, err)
				}
			}
			return shell.Print(command, b.Result, b.Result.Table)
		},
	}
	f := command.Flags()
	f.IntVar(&candles, "candles", 1_000_000, "one-minute candles")
	f.IntVar(&runs, "runs", 5, "number of runs, of which the best counts")
	f.StringVar(&into, "into", "", "Markdown file to write the tables into, too")
	f.StringVar(&manual, "hand", "", "be the hand-written program")
	f.StringVar(&read, "read", "", "only read this file of candles")
	for _, hidden := range []string{"hand", "read"} {
		if err := f.MarkHidden(hidden); err != nil {
			panic("botd: " + err.Error())
		}
	}
	shell.OutputFlag(command)
	return command
}
