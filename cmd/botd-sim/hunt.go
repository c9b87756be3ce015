package main

import (
	"fmt"
	"io"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/spf13/cobra"

	"botd/cmd/botd/cli/shell"
	"botd/internal/failure"
	"botd/internal/mutant"
	"botd/internal/simulation"
)

// huntMutants breaks one rule after another; the simulation must fail each time.
func huntMutants(command *cobra.Command, flags *simulateFlags) error {
	if !mutant.Built() {
		const hint = `go run -overlay "$(go run ./cmd/botd-sim overlay)" ./cmd/botd-sim simulate --mutants`
		return failure.New(failure.Usage, hint, "this build contains no mutants")
	}
	rules := mutant.Table
	if len(flags.mutant) > 0 {
		rules = nil
		for _, name := range flags.mutant {
			row, err := mutant.Find(name)
			if err != nil {
				return failure.Usagef("%w", err)
			}
			rules = append(rules, *row)
		}
	}
	bar := shell.NewProgress(command, len(rules), "mutants")
	done := 0
	hunts := simulation.HuntMutants(command.Context(), rules, flags.seeds, flags.jobs, func(*simulation.Hunt) {
		done++
		bar.Set(done, len(rules))
	})
	bar.End()
	survivors := 0
	for i := range hunts {
		if hunts[i].Caught == "" && hunts[i].Shown == "" {
			survivors++
		}
	}
	err := shell.Print(command, hunts, func(w io.Writer) { huntTable(w, hunts) })
	if err == nil && survivors > 0 {
		return failure.Quiet()
	}
	return err
}

// huntTable prints the mutants that were caught, with the check that caught each and the number of seeds it took.
func huntTable(w io.Writer, hunts []simulation.Hunt) {
	t := shell.NewTable(w, table.Row{"mutant", "what it does", "rule", "caught by", "seeds", "failing"})
	caught, elsewhere := 0, 0
	for _, h := range hunts {
		by := h.Caught
		switch {
		case by != "":
			caught++
		case h.Shown != "":
			by = "none; " + h.Shown
			elsewhere++
		default:
			by = "NOT CAUGHT"
		}
		t.AppendRow(table.Row{h.Mutant, h.Does, h.Where, by, h.Seeds, fmt.Sprintf("%d of %d", h.Failing, h.Tried)})
	}
	t.Render()
	fmt.Fprintf(w, "%d of %d caught by seeds", caught, len(hunts))
	if elsewhere > 0 {
		fmt.Fprintf(w, ", %d more by the tests named", elsewhere)
	}
	fmt.Fprintln(w)
}
