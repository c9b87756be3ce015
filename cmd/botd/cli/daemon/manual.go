package daemon

import (
	"fmt"
	"io"
	"net/url"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"botd/cmd/botd/cli/connect"
	"botd/cmd/botd/cli/shell"
	"botd/exchange"
	"botd/internal/failure"
	"botd/reconcile/account"
	"botd/runtime/api"
)

// manualFlags are the flags of a change to one order or one position.
type manualFlags struct {
	connect.Flags
	api.ReasonRequest
	market string
	wait   time.Duration
}

// by adds the flags and the action of the command.
func (f *manualFlags) by(command *cobra.Command, what string, path func(name string) (string, error)) *cobra.Command {
	command.Args = shell.One(what)
	command.RunE = func(command *cobra.Command, names []string) error {
		at, err := path(names[0])
		if err != nil {
			return err
		}
		return f.perform(command, at, func(dry bool) any { return api.ReasonRequest{Reason: f.Reason, DryRun: dry} })
	}
	return f.flags(command)
}

// flags adds the flags of every manual change.
func (f *manualFlags) flags(command *cobra.Command) *cobra.Command {
	connect.ReasonFlag(command, &f.Reason)
	shell.DryRunFlag(command, &f.DryRun, "show exactly what would be sent, and its consequences; send nothing")
	command.Flags().DurationVar(&f.wait, "wait", 0, "wait up to this long for completion (exit code 75 if it is not complete)")
	f.Add(command)
	return command
}

// perform sends the change, after a dry run if a person must confirm it.
func (f *manualFlags) perform(command *cobra.Command, path string, body func(dry bool) any) error {
	if err := connect.CheckReason(command, f.Reason, f.DryRun); err != nil {
		return err
	}
	d, err := f.Reach(command)
	if err != nil {
		return err
	}
	if !f.DryRun {
		if err := confirmLive(command, d, path, body(true), showAction); err != nil {
			return err
		}
	}
	out, raw, err := connect.Post[api.HaltAnswer](command, d, path, body(f.DryRun))
	if err != nil {
		return err
	}
	err = shell.Print(command, raw, func(w io.Writer) { showAction(w, &out) })
	if err != nil || f.DryRun || f.wait <= 0 {
		return err
	}
	return followAll(command, d, &out, f.wait)
}

// followAll follows the change on each affected strategy.
func followAll(command *cobra.Command, d *connect.Running, out *api.HaltAnswer, wait time.Duration) error {
	began := time.Now()
	var followed []string
	for i := range out.Steps {
		if name := out.Steps[i].Strategy; !slices.Contains(followed, name) {
			followed = append(followed, name)
			if _, err := follow(command, d, account.Scope{Strategy: name}.String(), max(time.Second, wait-time.Since(began))); err != nil {
				return err
			}
		}
	}
	if len(followed) == 0 { // nothing is sent: follow what is already in progress
		_, err := follow(command, d, out.Scope, wait)
		return err
	}
	return nil
}

func showAction(w io.Writer, h *api.HaltAnswer) {
	if h.DryRun {
		fmt.Fprintln(w, "it would send, now:")
	} else {
		fmt.Fprintln(w, "orders:")
	}
	for i := range h.Steps {
		fmt.Fprintln(w, "  "+h.Steps[i].Text)
	}
	switch {
	case len(h.Steps) == 0 && len(h.Effects) == 0:
		fmt.Fprintln(w, "  nothing: no opening order matches")
		return
	case len(h.Steps) == 0:
		fmt.Fprintln(w, "  nothing: it is already in progress")
	}
	fmt.Fprintln(w, "consequences:")
	for _, line := range h.Effects {
		fmt.Fprintln(w, "  "+line)
	}
	if h.DryRun {
		fmt.Fprintln(w, shell.NothingDone)
	}
}

func newOrderCancel() *cobra.Command {
	var flags manualFlags
	var request api.CancelRequest
	var all bool
	command := &cobra.Command{
		Use: "cancel [ID]", Short: "cancel opening orders, one or all that match, and pause their strategies",
		Long: `Cancels one of botd's opening orders, by its client order id or the exchange's, or all that match
--strategy, --symbol and --market (--all: every one), and halts their strategies at level
pause: otherwise the next round would place them again. Exits and stops continue. The request is
journalled and repeated until the orders have ended, also after a restart. botd rearm
--strategy NAME lets a strategy open again.

An order that reduces or protects cannot be canceled here, and a filter skips it: no halt blocks
such orders. Close the position instead (botd positions close), or change the strategy.`,
		Example: `  botd orders cancel bmain-touj3l-2 --reason "too near" --dry-run
  botd orders cancel bmain-touj3l-2 --reason "too near" --wait 30s
  botd orders cancel --strategy grid --symbol ETH-USDT --reason "news" --dry-run`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(command *cobra.Command, ids []string) error {
			filtered := all || request.Strategy != "" || request.Symbol != "" || request.Market != ""
			switch {
			case len(ids) == 0 && !filtered:
				return failure.Usagef("%s takes one order id, or --strategy, --symbol, --market or --all", command.CommandPath())
			case len(ids) == 1 && filtered:
				return failure.Usagef("%s takes an order id or --strategy, --symbol, --market and --all, not both", command.CommandPath())
			case len(ids) == 1:
				return flags.perform(command, "/api/v1/orders/"+url.PathEscape(ids[0])+"/cancel",
					func(dry bool) any { return api.ReasonRequest{Reason: flags.Reason, DryRun: dry} })
			}
			return flags.perform(command, "/api/v1/orders/cancel", func(dry bool) any {
				request.ReasonRequest = api.ReasonRequest{Reason: flags.Reason, DryRun: dry}
				return request
			})
		},
	}
	f := command.Flags()
	f.StringVar(&request.Strategy, "strategy", "", "opening orders of this strategy")
	f.StringVar(&request.Symbol, "symbol", "", "opening orders of this symbol")
	f.StringVar(&request.Market, "market", "", "opening orders of futures or spot")
	f.BoolVar(&all, "all", false, "all opening orders")
	return flags.flags(command)
}

func newPositionClose() *cobra.Command {
	var flags manualFlags
	command := flags.by(&cobra.Command{
		Use: "close SYMBOL", Short: "close one position at market, and halt its strategy",
		Long: `Closes botd's position on one symbol: its strategy is halted at level flatten, which
cancels its opening orders and sends a reduceOnly market exit (on spot a limit through the
price collar, once the stop is canceled). This continues through failures and restarts until
no position is left, fills of uncertain placements included. The strategy opens nothing
until botd rearm --strategy NAME; --dry-run prints what it would do then.`,
		Example: `  botd positions close BTC-USDT --reason "news" --dry-run      # each order it would send
  botd positions close BTC-USDT --market spot --reason "news" --wait 1m`,
	}, "symbol", func(symbol string) (string, error) {
		key, err := exchange.ParseSymbolKey(flags.market, symbol)
		if err != nil {
			return "", failure.Usagef("--market: %v", err)
		}
		return "/api/v1/positions/" + key.Market.String() + "/" + url.PathEscape(key.Name) + "/close", nil
	})
	command.Flags().StringVar(&flags.market, "market", "", "futures (the default) or spot")
	return command
}
