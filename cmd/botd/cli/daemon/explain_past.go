package daemon

import (
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/spf13/cobra"

	"botd/cmd/botd/cli/connect"
	"botd/cmd/botd/cli/shell"
	"botd/configs"
	"botd/internal/failure"
	"botd/internal/moment"
	"botd/runtime/rehearsal"
	"botd/runtime/view"
)

func explainPast(command *cobra.Command, flags *connect.Flags, name, at string) error {
	if _, err := moment.ParsePast("--at", at, time.Now()); err != nil {
		return err
	}
	config, err := connect.LoadValid(command.Context(), flags.Directory)
	if err != nil {
		return err
	}
	c, err := configured(config, name)
	if err != nil {
		return err
	}
	v, err := rehearsal.OpenPublic(command.Context(), config)
	if err != nil {
		return err
	}
	atMS, err := moment.ParsePast("--at", at, time.UnixMilli(v.NowMS())) // records carry the exchange's time
	if err != nil {
		return err
	}
	if atMS > v.NowMS() {
		return failure.Usagef("--at %s is not in the past\nhint: botd explain %s, without --at, looks ahead", at, name)
	}
	symbol, err := v.Find(c.Market.String(), c.Symbol)
	if err != nil {
		return err
	}
	shown, err := rehearsal.At(command.Context(), config, c, symbol, v, atMS)
	if err != nil {
		return err
	}
	return shell.Print(command.OutOrStdout(), flags.Output, shown, func(w io.Writer) { pastText(w, shown) })
}

func configured(config *configs.Config, name string) (*configs.StrategyConfig, error) {
	var names []string
	if c := config.Strategy(name); c != nil {
		return c, nil
	}
	for i := range config.Strategies {
		names = append(names, config.Strategies[i].Name)
	}
	return nil, connect.Unknown(connect.NoStrategy, name, names)
}

// pastText prints a past state.
func pastText(w io.Writer, p *rehearsal.Past) {
	o := &p.TickPreview
	fmt.Fprintf(w, "%s: %s on %s %s %s, at %s\n", o.Strategy, o.Kind, o.Market, o.Symbol, o.Interval, shell.Second(o.AtMS))
	dataText(w, &o.Data, o.AtMS)
	fmt.Fprintln(w, "  (position by the journal; equity at the start of that day, UTC)")
	conditionTable(w, o.Conditions)
	fmt.Fprintf(w, "\nPLAN\n  in force then: %s%s\n", view.PlanText(&o.InForce), view.Because(o.InForce.Reason))
	if o.Changes {
		fmt.Fprintf(w, "  made of these candles it would be: %s%s\n", view.PlanText(&o.Plan), view.Because(o.Plan.Reason))
	} else {
		fmt.Fprintln(w, "  made of these candles it would be the same")
	}
	protectionText(w, &o.InForce)
	if len(o.Blocks) > 0 {
		fmt.Fprintln(w, "\nIN THE WAY")
	}
	for _, b := range o.Blocks {
		fmt.Fprintf(w, "  %s\n    way out: %s\n", b.What, b.WayOut)
	}
	fmt.Fprintln(w, "\nTHE JOURNAL AROUND IT")
	t := shell.NewTable(w, table.Row{"time (UTC)", "record", "what"})
	for _, h := range p.Happened {
		t.AppendRow(table.Row{shell.Second(h.AtMS), h.Kind, strings.TrimSpace(h.What)})
	}
	t.Render()
	if len(p.Happened) == 0 {
		fmt.Fprintln(w, "nothing was written: nothing was sent, filled, or changed")
	}
}
