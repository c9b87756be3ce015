package main

import (
	"fmt"
	"io"
	"os"
	"time"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/shopspring/decimal"
	"github.com/spf13/cobra"

	"botd/cmd/botd/cli/shell"
	"botd/internal/chaos"
	"botd/internal/failure"
)

type chaosFlags struct {
	kills, slices     int
	every, sliceEvery time.Duration
	patience          time.Duration
	quantity          string
	seed              uint64
	directory         string
	binary            string
	calm              bool
}

func newChaos() *cobra.Command {
	var flags chaosFlags
	command := &cobra.Command{
		Use: "chaos", Short: "kill the real binary repeatedly against a failing exchange, and check what it bought", Args: cobra.NoArgs,
		Long: `Buys a quantity in slices while botd is killed again and again (SIGKILL) and the exchange
drops a quarter of its answers and a tenth of the requests, truncates and delays answers,
and answers 503 and 429. Exchange and daemon are separate processes; a proxy between them
sees every byte.

At the end the position on the exchange must be exactly the quantity, no order's id may have left
the daemon twice, nothing may have been refused, every order must be in the journal, and the
position's stop must be open. Otherwise the exit code is 1.`,
		Example: "  botd-sim chaos\n  botd-sim chaos --kills 100 --every 1s --slices 60 --seed 7",
		RunE:    func(command *cobra.Command, _ []string) error { return flags.run(command) },
	}
	f := command.Flags()
	f.IntVar(&flags.kills, "kills", 12, "number of kills")
	f.DurationVar(&flags.every, "every", 4*time.Second, "average time between a start and its kill")
	f.StringVar(&flags.quantity, "quantity", "0.6", "BTC to buy")
	f.IntVar(&flags.slices, "slices", 30, "number of equal slices")
	f.DurationVar(&flags.sliceEvery, "slice-every", time.Second, "time between two slices")
	f.DurationVar(&flags.patience, "patience", 5*time.Minute, "time after the last kill until the quantity must be reached")
	f.Uint64Var(&flags.seed, "seed", 1, "seed of kills and faults")
	f.BoolVar(&flags.calm, "no-faults", false, "kill only, without faults of the exchange")
	f.StringVar(&flags.binary, "botd", "", "the botd to kill (default: the one next to botd-sim, or else one built from the source here)")
	f.StringVar(&flags.directory, "dir", "", "directory for configuration, journal and logs (default: a new one, removed on success)")
	shell.OutputFlag(command)
	return command
}

func (f *chaosFlags) run(command *cobra.Command) error {
	quantity, err := decimal.NewFromString(f.quantity)
	if step := decimal.New(1, -3); err == nil && !quantity.Mod(step).IsZero() {
		return failure.Usagef("--quantity %s: want a multiple of %s BTC, the symbol's step", f.quantity, step)
	}
	if err != nil || quantity.Sign() <= 0 || f.kills < 0 || f.slices < 1 || f.every <= 0 || f.sliceEvery < 100*time.Millisecond {
		return failure.Usagef("--quantity, --kills, --slices, --every and --slice-every must be above zero (--slice-every 100ms at least)")
	}
	directory, given, err := directoryOf(f.directory, "botd-chaos-")
	if err != nil {
		return err
	}
	binary, err := daemonIn(command, f.binary, directory)
	if err != nil {
		return err
	}
	trial := chaos.Trial{
		Binary: binary, Directory: directory, Kills: f.kills, Every: f.every, Seed: f.seed, Patience: f.patience, UntilEnd: true,
		Targets: []chaos.Target{{Name: "accumulate", Market: "futures", Symbol: "BTC-USDT", Side: "buy", Quantity: quantity, Slices: f.slices,
			EveryMS: f.sliceEvery.Milliseconds(), Stop: true}},
		Progress: func(e chaos.Event) {
			fmt.Fprintf(command.ErrOrStderr(), "%7.1fs  %-8s  %s\n", e.At.Seconds(), e.What, e.Text)
		},
	}
	if !f.calm {
		trial.Faults = chaos.Harsh(f.seed)
	}
	report, err := trial.Run(command.Context())
	if err != nil {
		return failure.New(failure.Internal, "the logs are in "+directory, "%w", err)
	}
	if err := shell.Print(command, report, func(w io.Writer) { showChaos(w, report) }); err != nil {
		return err
	}
	if !report.OK {
		fmt.Fprintf(command.ErrOrStderr(), "configuration, journal and logs are in %s\n", directory)
		return failure.Quiet()
	}
	if !given {
		return failure.Wrap(failure.IO, os.RemoveAll(directory))
	}
	return nil
}

func showChaos(w io.Writer, r *chaos.Report) {
	t := shell.NewTable(w, table.Row{"after " + (time.Duration(r.ElapsedS) * time.Second).String(), ""})
	t.AppendRows([]table.Row{
		{"kills (SIGKILL)", fmt.Sprintf("%d: %d with a placement in flight, %d before the start had read orders and positions", r.Kills+r.PointKills,
			r.InFlight, r.BeforeSafe)},
		{"starts", fmt.Sprintf("%d, of which %d gave up because the exchange did not answer", r.Starts, r.GaveUp)},
		{"from start to safe", fmt.Sprintf("p50 %.2f s, p99 %.2f s", r.SafeP50S, r.SafeP99S)},
		{"placements sent", fmt.Sprintf("%d: %d accepted, %d lost without an answer, %d answered 503 or 429", r.Sent, r.Accepted, r.Lost, r.Unavailable)},
		{"uncertain for a while", r.Uncertain},
		{"repeated exits and stops, refused", r.Repeats},
		{"fills", r.Fills},
		{"journal", fmt.Sprintf("%d records, the chain is intact", r.Records)},
	})
	for _, h := range r.Held {
		t.AppendRow(table.Row{h.Symbol, fmt.Sprintf("target %s, position %s, stops on the exchange %d", h.Target, h.Held, h.Stops)})
	}
	t.Render()
	for _, problem := range r.Problems {
		fmt.Fprintln(w, "WRONG: "+problem)
	}
	if r.OK {
		fmt.Fprintln(w, "ok: exactly the quantity, no id sent twice, nothing else refused")
	}
}
