package command

import (
	"fmt"
	"io"
	"net/url"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"botd/runtime/api"
)

// handFlags are those of a change of one order or one position.
type handFlags struct {
	askFlags
	api.HandRequest
	market string
	yes    bool
	wait   time.Duration
}

// by adds the flags, and what the command does to what it names.
func (f *handFlags) by(command *cobra.Command, what string, path func(name string) (string, error)) *cobra.Command {
	command.Args = func(command *cobra.Command, names []string) error {
		if len(names) != 1 {
			return usage("%s takes one %s", command.CommandPath(), what)
		}
		return nil
	}
	command.RunE = func(command *cobra.Command, names []string) error {
		at, err := path(names[0])
		if err != nil {
			return err
		}
		return f.perform(command, at)
	}
	command.Flags().StringVar(&f.Reason, "reason", "", "why, for the journal")
	command.Flags().BoolVar(&f.DryRun, "dry-run", false, "show exactly what would be sent, and what comes of it; send nothing")
	command.Flags().BoolVar(&f.yes, "yes", false, "do not ask, on a live account either")
	command.Flags().DurationVar(&f.wait, "wait", 0, "wait that long until it is done (exit code 75 when it is not)")
	f.add(command)
	outputFlag(command, &f.output)
	return command
}

func (f *handFlags) perform(command *cobra.Command, path string) error {
	if strings.TrimSpace(f.Reason) == "" && !f.DryRun {
		return usage("%s needs --reason TEXT: it is written down", command.CommandPath())
	}
	d, err := f.reach(command)
	if err != nil {
		return err
	}
	if !f.yes && !f.DryRun {
		trial := f.HandRequest
		trial.DryRun = true
		if err := confirmLive(command, d, path, trial, showDeed); err != nil {
			return err
		}
	}
	out, raw, err := post[api.HaltAnswer](command, d, path, f.HandRequest)
	if err != nil {
		return err
	}
	err = print(command.OutOrStdout(), f.output, raw, func(w io.Writer) { showDeed(w, &out) })
	if err != nil || f.DryRun || f.wait <= 0 {
		return err
	}
	return follow(command, d, out.Scope, f.wait)
}

func showDeed(w io.Writer, h *api.HaltAnswer) {
	if h.DryRun {
		fmt.Fprintln(w, "it would send, now:")
	} else {
		fmt.Fprintln(w, "sent, or on its way:")
	}
	for i := range h.Steps {
		fmt.Fprintln(w, "  "+h.Steps[i].Text)
	}
	if len(h.Steps) == 0 {
		fmt.Fprintln(w, "  nothing: it is under way already")
	}
	fmt.Fprintln(w, "what comes of it:")
	for _, line := range h.Does {
		fmt.Fprintln(w, "  "+line)
	}
	if h.DryRun {
		fmt.Fprintln(w, "nothing was done (--dry-run)")
	}
}

func newOrderCancel() *cobra.Command {
	var flags handFlags
	return flags.by(&cobra.Command{
		Use: "cancel ID", Short: "take one opening order out of the book, and pause its strategy",
		Long: `Cancels one opening order of botd's, by its client order id or the exchange's, and halts
its strategy at level pause: otherwise the next round would place the order anew. Exits and
stops go on. It is written to the journal and tried again until the order has ended, also
after a restart. botd rearm --strategy NAME lets the strategy open again.

An order that reduces or protects is refused: no halt keeps such orders back. Close the
position instead (botd positions close), or change the strategy.`,
		Example: `  botd orders cancel bmain-touj3l-2 --reason "too near" --dry-run
  botd orders cancel bmain-touj3l-2 --reason "too near" --wait 30s`,
	}, "order id", func(id string) (string, error) { return "/api/v1/orders/" + url.PathEscape(id) + "/cancel", nil })
}

func newPositionClose() *cobra.Command {
	var flags handFlags
	command := flags.by(&cobra.Command{
		Use: "close SYMBOL", Short: "close one position at market, and halt its strategy",
		Long: `Closes botd's position on one symbol: its strategy is halted at level flatten, which
cancels its opening orders and sends a reduceOnly market exit (on spot a limit through the
price collar, once the stop is canceled). That goes on through failures and restarts until
nothing is held, also of a placement whose fate is not known yet. The strategy opens nothing
until botd rearm --strategy NAME; --dry-run says what it would do then.`,
		Example: `  botd positions close BTC-USDT --reason "news" --dry-run      # each order it would send
  botd positions close BTC-USDT --market spot --reason "news" --wait 1m`,
	}, "symbol", func(symbol string) (string, error) {
		market := flags.market
		if market == "" {
			market = "futures"
		}
		if market != "futures" && market != "spot" {
			return "", usage("--market %q is neither futures nor spot", market)
		}
		return "/api/v1/positions/" + market + "/" + url.PathEscape(symbol) + "/close", nil
	})
	command.Flags().StringVar(&flags.market, "market", "", "futures (the default) or spot")
	return command
}
