package main

import (
	"fmt"
	"io"
	"runtime"
	"slices"
	"sync"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/spf13/cobra"

	"botd/cmd/botd/cli/shell"
	"botd/internal/conformance"
	"botd/internal/failure"
)

type conformanceFlags struct {
	on, subjects []string
	matrix       bool
	url          string
}

func newConformance() *cobra.Command {
	var flags conformanceFlags
	command := &cobra.Command{
		Use: "conformance", Short: "test an exchange against the interface", Args: cobra.NoArgs,
		Long: `Runs the cases of the interface and of docs/exchange.md (internal/conformance/rules) on the
simulated exchange: called in process, restored before each step, and over HTTP through the
signed client. To test an exchange written in Go with the same cases, add it as a machine of
internal/conformance.

With --url it calls each public operation of the exchange at an address instead, and
compares the answers with each other: symbols, tickers, books, trades, candles of all
intervals, funding, margin levels. It needs no key and changes nothing.

The exit code is 1 if a case or a check fails.`,
		Example: `  botd-sim conformance
  botd-sim conformance --on served --subject authentication
  botd-sim conformance --matrix -o csv
  botd-sim conformance --url https://exchange.example.com`,
		RunE: func(command *cobra.Command, _ []string) error { return runConformance(command, &flags) },
	}
	f := command.Flags()
	f.StringArrayVar(&flags.on, "on", nil, "MACHINE: run the cases only on simulated, restarted or served; repeatable")
	f.StringArrayVar(&flags.subjects, "subject", nil, "KEY: only the cases of this subject; repeatable")
	f.BoolVar(&flags.matrix, "matrix", false, "count the cases of each operation, subject, refusal, status, state, field and limit, and run none")
	f.StringVar(&flags.url, "url", "", "read the exchange at this address")
	shell.OutputFlag(command)
	return command
}

func runConformance(command *cobra.Command, flags *conformanceFlags) error {
	if chosen := len(flags.on)+len(flags.subjects) > 0; flags.url != "" && (flags.matrix || chosen) || flags.matrix && chosen {
		return failure.Usagef("--url cannot be combined with --matrix, --on or --subject")
	}
	if flags.url != "" {
		return readVenue(command, flags)
	}
	cases, err := conformance.Cases()
	if err != nil {
		return err
	}
	if flags.matrix {
		return showMatrix(command, flags, conformance.Matrix(cases))
	}
	results, err := flags.results(cases)
	if err != nil {
		return failure.Usagef("%w", err)
	}
	runAll(command, results)
	tested := subjectsOf(results)
	err = shell.Print(command, shell.List(tested), func(w io.Writer) { subjectTable(w, tested, len(results)) })
	return failedIf(err, slices.ContainsFunc(tested, func(s subjectResult) bool { return len(s.Failures) > 0 }))
}

// failedIf returns an error of the output, or the exit code of a failed test.
func failedIf(err error, failed bool) error {
	if err == nil && failed {
		return failure.Quiet()
	}
	return err
}

// caseResult is a case on a machine.
type caseResult struct {
	machine conformance.Machine
	of      *conformance.Case
	err     error
}

// results returns the runs to make: every chosen case on every chosen machine that supports it.
func (f *conformanceFlags) results(cases []conformance.Case) (all []caseResult, err error) {
	machines := conformance.Machines()
	if len(f.on) > 0 {
		machines = nil
	}
	for _, name := range f.on {
		machine, err := conformance.MachineOf(name)
		if err != nil {
			return nil, err
		}
		machines = append(machines, machine)
	}
	for _, key := range f.subjects {
		if !slices.ContainsFunc(conformance.Subjects(), func(s conformance.Subject) bool { return s.Key == key }) {
			return nil, fmt.Errorf("unknown subject %q\nhint: botd-sim conformance --matrix lists them", key)
		}
	}
	for i := range cases {
		for _, machine := range machines {
			if machine.Runs(&cases[i]) && (len(f.subjects) == 0 || slices.Contains(f.subjects, cases[i].Subject)) {
				all = append(all, caseResult{machine: machine, of: &cases[i]})
			}
		}
	}
	return all, nil
}

// runAll runs all cases, several at a time.
func runAll(command *cobra.Command, all []caseResult) {
	var group sync.WaitGroup
	var ended sync.Mutex // guards done and the bar
	done := 0
	bar := shell.NewProgress(command, len(all), "cases")
	next := make(chan *caseResult)
	for range 2 * runtime.GOMAXPROCS(0) {
		group.Go(func() {
			for r := range next {
				r.err = r.machine.Run(r.of)
				ended.Lock()
				done++
				bar.Set(done, len(all))
				ended.Unlock()
			}
		})
	}
	for i := range all {
		next <- &all[i]
	}
	close(next)
	group.Wait()
	bar.End()
}

// subjectResult is the outcome of a subject's cases on all machines.
type subjectResult struct {
	Subject  string   `json:"subject"`
	Text     string   `json:"text"`
	Section  string   `json:"section"`
	Runs     int      `json:"runs"`
	Failures []string `json:"failures"`
}

// subjectsOf groups results by subject, in the order of the interface.
func subjectsOf(results []caseResult) (all []subjectResult) {
	for _, subject := range conformance.Subjects() {
		one := subjectResult{Subject: subject.Key, Text: subject.Text, Section: subject.Section, Failures: []string{}}
		for _, r := range results {
			if r.of.Subject != subject.Key {
				continue
			}
			one.Runs++
			if r.err != nil {
				one.Failures = append(one.Failures, fmt.Sprintf("%s, %s: %v", r.of, r.machine.Name, r.err))
			}
		}
		if one.Runs > 0 {
			all = append(all, one)
		}
	}
	return all
}

func subjectTable(w io.Writer, tested []subjectResult, runs int) {
	t := shell.NewTable(w, table.Row{"subject", "states that", "runs", "failed"})
	failed := 0
	for _, s := range tested {
		t.AppendRow(table.Row{s.Subject, s.Text, s.Runs, len(s.Failures)})
		failed += len(s.Failures)
	}
	t.Render()
	for _, s := range tested {
		for _, text := range s.Failures {
			fmt.Fprintln(w, text)
		}
	}
	fmt.Fprintf(w, "%d of %d runs passed\n", runs-failed, runs)
}

func showMatrix(command *cobra.Command, flags *conformanceFlags, rows []conformance.Row) error {
	return shell.Print(command, shell.List(rows), func(w io.Writer) {
		shell.WriteTable(w, table.Row{"of", "name", "cases", "http only", "checks", "states that"}, rows, func(row *conformance.Row) table.Row {
			return table.Row{row.What, row.Name, row.Cases, row.Wired, row.Checks, row.Text}
		})
	})
}

// finding is a check of an exchange that was read.
type finding struct {
	What  string `json:"what"`
	Fault string `json:"fault,omitempty"`
}

func readVenue(command *cobra.Command, flags *conformanceFlags) error {
	found, err := conformance.ReadAt(command.Context(), flags.url)
	if err != nil {
		return failure.Usagef("%w", err)
	}
	all, faults := make([]finding, len(found)), 0
	for i, f := range found {
		all[i].What = f.What
		if f.Err != nil {
			all[i].Fault = f.Err.Error()
			faults++
		}
	}
	err = shell.Print(command, shell.List(all), func(w io.Writer) {
		for _, f := range all {
			if f.Fault != "" {
				fmt.Fprintf(w, "%s: %s\n", f.What, f.Fault)
			}
		}
		fmt.Fprintf(w, "%d of %d checks passed\n", len(all)-faults, len(all))
	})
	return failedIf(err, faults > 0)
}
