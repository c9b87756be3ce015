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
	"botd/internal/failure"
	"botd/runtime/api/client"
	"botd/runtime/rehearsal"
	"botd/runtime/view"
)

// NewPlan returns the command botd plan.
func NewPlan() *cobra.Command {
	var flags connect.Flags
	var every time.Duration
	command := &cobra.Command{
		Use: "plan", Short: "what the next tick of each strategy would do; nothing is sent", Args: cobra.NoArgs,
		Long: `Shows what the next tick of each strategy, and the round after it, would do, based on what is
known now: the resulting plan, each derived order, and the rules' verdicts. It queries the
running daemon; without one it reads the journal and the venue as a start would. Nothing is
written and nothing is sent.

Prices move in the meantime, so the tick may do something else. botd explain STRATEGY shows the
reasons.`,
		Example: "  botd plan\n  botd plan --watch\n  botd plan -o json | jq '.items[].steps'",
		RunE: func(command *cobra.Command, _ []string) error {
			return shell.Watch(command, every, func(w io.Writer) error {
				all, err := previewTicks(command, &flags)
				if err != nil {
					return err
				}
				return shell.PrintTo(w, shell.Output(command), shell.List(all), func(w io.Writer) { planTable(w, all) })
			})
		},
	}
	flags.Add(command)
	shell.WatchFlag(command, &every)
	return command
}

// previewTicks requests the previews from the running daemon. Without one it rehearses a start: it reads the
// journal and the venue, and writes and sends nothing.
func previewTicks(command *cobra.Command, flags *connect.Flags) ([]view.TickPreview, error) {
	d, err := flags.Daemon(command.Context())
	if err == nil {
		all, _, err := client.Ask[client.Page[view.TickPreview]](command.Context(), d, "GET", "/api/v1/plan", nil)
		return all.Items, err
	}
	if failure.CodeOf(err) != failure.Unavailable {
		return nil, err
	}
	config, err := connect.LoadValid(command.Context(), flags.Directory)
	if err != nil {
		return nil, err
	}
	fmt.Fprintln(command.ErrOrStderr(), "no daemon is running: this is what a start would find")
	return rehearsal.Run(command.Context(), config)
}

func planTable(w io.Writer, all []view.TickPreview) {
	shell.WriteTable(w, table.Row{"strategy", "symbol", "next tick (UTC)", "target", "next target", "would do"}, all, func(o *view.TickPreview) table.Row {
		next := "none"
		if o.NextMS != 0 {
			next = shell.Second(o.NextMS)
		}
		would := "the same"
		if o.Changes {
			would = view.PlanText(&o.Plan)
		}
		return table.Row{o.Strategy, o.Symbol, next, view.PlanText(&o.InForce), would, doing(o)}
	})
	for i := range all {
		for _, b := range all[i].Blocks {
			fmt.Fprintf(w, "%s: %s\n  remedy: %s\n", all[i].Strategy, b.What, b.Remedy)
		}
	}
	if len(all) == 0 {
		fmt.Fprintln(w, "there is no strategy")
	}
}

// doing lists what the tick would do, one intent a line.
func doing(o *view.TickPreview) string {
	if len(o.Steps) == 0 {
		return "nothing"
	}
	var lines []string
	for i := range o.Steps {
		lines = append(lines, stepText(&o.Steps[i]))
	}
	return strings.Join(lines, "\n")
}

func stepText(s *view.PreviewedIntent) string {
	text := s.Purpose
	switch {
	case s.OrderID != 0:
		text += fmt.Sprintf(" order %d", s.OrderID)
	case s.Type == "":
		text += " to " + s.Quantity
	default:
		text += " " + s.Side + " " + s.Type
		for _, part := range []struct{ word, value string }{{"", s.Quantity}, {"for USDT ", s.Amount}, {"at ", s.Price}, {"stop ", s.StopPrice}} {
			if part.value != "" {
				text += " " + part.word + part.value
			}
		}
	}
	switch s.Outcome {
	case "refused":
		return text + ": refused by " + s.Rule
	case "waits":
		return text + ": after the one before it"
	}
	return text
}
