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

// NewExplain returns the command botd explain.
func NewExplain() *cobra.Command {
	var flags connect.Flags
	var at string
	command := &cobra.Command{
		Use: "explain STRATEGY", Short: "why a strategy does, or does not, trade: data, conditions, plan, rules with numbers",
		Long: `Explains why a strategy trades now, or does not: the data it sees, the conditions it decides on
with their figures, the plan now and after the next tick, every rule's verdict on each resulting
order, and whatever else blocks it, with the remedy. It queries the running daemon; without one
it reads what a start would read. Nothing is sent.

--at TIME shows the past: target, position and blocks at that time, from the journal; the actions
around it; and what the strategy decides on the candles up to then. The journal does not contain
past verdicts, but an order that was sent had passed every rule.`,
		Example: "  botd explain trend\n  botd explain trend --at 10m\n  botd explain trend --at 2026-11-20T14:05:00Z\n  botd explain " +
			"grid-btc -o json | jq '.blocks'",
		Args: shell.One("strategy's name (botd plan shows all)"),
		RunE: func(command *cobra.Command, names []string) error {
			if at != "" {
				return explainPast(command, &flags, names[0], at)
			}
			return explainNow(command, &flags, names[0])
		},
		ValidArgsFunction: connect.CompleteStrategies,
	}
	command.Flags().StringVar(&at, "at", "", "a moment of the past (UTC): 2026-11-20 14:05, 2026-11-20T14:05:00Z, 14:05, 10m (ago), or milliseconds")
	flags.Add(command)
	return command
}

func explainNow(command *cobra.Command, flags *connect.Flags, name string) error {
	all, err := previewTicks(command, flags)
	if err != nil {
		return err
	}
	var names []string
	for i := range all {
		if all[i].Strategy == name {
			one := view.OneTickPreview{Schema: 1, TickPreview: all[i]}
			return shell.Print(command, one, func(w io.Writer) { explainText(w, &one.TickPreview) })
		}
		names = append(names, all[i].Strategy)
	}
	return connect.Unknown(connect.NoStrategy, name, names)
}

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
	return shell.Print(command, shown, func(w io.Writer) { pastText(w, shown) })
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

// explainText prints everything in the order of a tick: poll, decide,
// derive, check.
func explainText(w io.Writer, o *view.TickPreview) {
	fmt.Fprintf(w, "%s: %s on %s %s %s, as of %s\n", o.Strategy, o.Kind, o.Market, o.Symbol, o.Interval, shell.Second(o.AtMS))
	dataText(w, &o.Data, o.AtMS)
	conditionTable(w, o.Conditions)
	fmt.Fprintf(w, "\nPLAN\n  in force: %s%s\n", view.PlanText(&o.InForce), view.Because(o.InForce.Reason))
	switch {
	case o.NextMS == 0:
		fmt.Fprintln(w, "  there is no next tick")
	case o.Changes:
		fmt.Fprintf(w, "  with the next tick, %s: %s%s\n", shell.Second(o.NextMS), view.PlanText(&o.Plan), view.Because(o.Plan.Reason))
	default:
		fmt.Fprintf(w, "  with the next tick, %s: the same\n", shell.Second(o.NextMS))
	}
	protectionText(w, &o.Plan)
	if o.Latch != "" {
		fmt.Fprintf(w, "  latched: no %s entry until the target has been zero or changed side, or the reentry policy allows it\n", o.Latch)
	}
	fmt.Fprintln(w, "\nWOULD DO")
	if len(o.Steps) == 0 {
		fmt.Fprintln(w, "  nothing: "+idle(o))
	}
	for i := range o.Steps {
		fmt.Fprintf(w, "  %s%s\n", stepText(&o.Steps[i]), view.Because(o.Steps[i].Reason))
		ruleTable(w, o.Steps[i].Checks)
		if refused := o.Steps[i].RefusedBy; refused != "" {
			fmt.Fprintf(w, "    %s\n", refused)
		}
	}
	if len(o.Blocks) > 0 {
		fmt.Fprintln(w, "\nBLOCKED")
	}
	for _, b := range o.Blocks {
		fmt.Fprintf(w, "  %s\n    remedy: %s\n", b.What, b.Remedy)
	}
}

// idle returns the reason why the tick would do nothing, in one line.
func idle(o *view.TickPreview) string {
	switch {
	case len(o.Blocks) > 0:
		return "see the blocks below"
	case o.Plan.Target == "" && len(o.Plan.Orders)+len(o.Plan.Exits) == 0:
		return "the strategy has no target yet"
	}
	return "the target is reached"
}

// pastText prints a past state.
func pastText(w io.Writer, p *rehearsal.Past) {
	o := &p.TickPreview
	fmt.Fprintf(w, "%s: %s on %s %s %s, at %s\n", o.Strategy, o.Kind, o.Market, o.Symbol, o.Interval, shell.Second(o.AtMS))
	dataText(w, &o.Data, o.AtMS)
	fmt.Fprintln(w, "  (position from the journal; equity at the start of that day, UTC)")
	conditionTable(w, o.Conditions)
	fmt.Fprintf(w, "\nPLAN\n  in force then: %s%s\n", view.PlanText(&o.InForce), view.Because(o.InForce.Reason))
	if o.Changes {
		fmt.Fprintf(w, "  computed from these candles it would be: %s%s\n", view.PlanText(&o.Plan), view.Because(o.Plan.Reason))
	} else {
		fmt.Fprintln(w, "  computed from these candles it would be the same")
	}
	protectionText(w, &o.InForce)
	if len(o.Blocks) > 0 {
		fmt.Fprintln(w, "\nBLOCKED BY")
	}
	for _, b := range o.Blocks {
		fmt.Fprintf(w, "  %s\n    remedy: %s\n", b.What, b.Remedy)
	}
	fmt.Fprintln(w, "\nTHE JOURNAL AROUND IT")
	t := shell.NewTable(w, table.Row{"time (UTC)", "record", "what"})
	for _, h := range p.Happened {
		t.AppendRow(table.Row{shell.Second(h.AtMS), h.Kind, strings.TrimSpace(h.What)})
	}
	t.Render()
	if len(p.Happened) == 0 {
		fmt.Fprintln(w, "no records: nothing was sent, filled, or changed")
	}
}

func dataText(w io.Writer, d *view.PreviewData, atMS int64) {
	fmt.Fprintf(w, "\nDATA\n  candles   %d seen, %d needed", d.Candles, d.Warmup)
	if d.CloseMS != 0 {
		fmt.Fprintf(w, "; the newest closed %s: open %s high %s low %s close %s", shell.Second(d.CloseMS), d.Open, d.High, d.Low, d.Close)
	}
	fmt.Fprintf(w, "\n  price     %s", d.Last)
	if d.LastMS != 0 {
		fmt.Fprintf(w, ", %s old", (time.Duration(max(0, atMS-d.LastMS)) * time.Millisecond).Round(time.Millisecond))
	}
	position := "none"
	if d.Position != "0" {
		position = d.Position
		if d.EntryPrice != "0" {
			position += " at " + d.EntryPrice
		}
	}
	fmt.Fprintf(w, "\n  position  %s\n  equity    %s USDT\n", position, d.Equity)
}

func conditionTable(w io.Writer, all []view.Condition) {
	if len(all) == 0 {
		fmt.Fprintln(w, "\nCONDITIONS\n  the strategy reports none")
		return
	}
	fmt.Fprintln(w, "\nCONDITIONS")
	shell.WriteTable(w, table.Row{"condition", "value", "requires", "met"}, all, func(c *view.Condition) table.Row {
		holds := ""
		switch {
		case c.Requires != "" && c.Met:
			holds = "yes"
		case c.Requires != "":
			holds = "no"
		}
		return table.Row{c.Name, c.Value, c.Requires, holds}
	})
}

func protectionText(w io.Writer, p *view.Plan) {
	for _, part := range []struct{ name, value string }{{"stop-loss", p.StopLoss}, {"take-profit", p.TakeProfit}} {
		if part.value != "" {
			fmt.Fprintf(w, "  %s: %s\n", part.name, part.value)
		}
	}
	for _, o := range append(append([]view.DesiredOrder{}, p.Orders...), p.Exits...) {
		fmt.Fprintf(w, "  %s: %s %s at %s\n", o.Key, o.Side, o.Quantity, o.Price)
	}
}

func ruleTable(w io.Writer, checks []view.Verdict) {
	shell.WriteTable(w, table.Row{"rule", "scope", "verdict", "value", "limit", "hint"}, checks, func(v *view.Verdict) table.Row {
		return table.Row{v.Rule, v.Scope, strings.ReplaceAll(v.Verdict, "_", " "), v.Value, v.Limit, v.Hint}
	})
}
