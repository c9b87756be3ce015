package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/spf13/cobra"

	"botd/cmd/botd/cli/shell"
	"botd/internal/failure"
	"botd/internal/mutation"
)

type mutateFlags struct {
	options mutation.Options
	since   string
	atLeast float64
}

func newMutate() *cobra.Command {
	flags := &mutateFlags{}
	command := &cobra.Command{
		Use: "mutate [PACKAGE...]", Short: "mutation-test packages: make one small change after another, and run the tests",
		Long: `Builds the tests of each package with all mutants, each behind a switch, and for each mutant
runs the tests that reach it. Survivors are printed. Equivalent mutants, which change no
observable behavior, are listed with the reason in internal/mutation/equivalent.txt. Run it at
the root of a clone of the repository.`,
		Example: `  go run ./cmd/botd-sim mutate ./risk
  go run ./cmd/botd-sim mutate ./reconcile ./runtime/engine --sample 300 --seed 7
  go run ./cmd/botd-sim mutate ./risk --match 'leverageSet'
  go run ./cmd/botd-sim mutate --since main --sample 150 --at-least 80`,
		RunE: func(command *cobra.Command, patterns []string) error { return mutate(command, patterns, flags) },
	}
	f := command.Flags()
	f.IntVar(&flags.options.Sample, "sample", 0, "number of mutants to run, chosen at random; 0 for all")
	f.Uint64Var(&flags.options.Seed, "seed", 1, "seed of the choice")
	f.DurationVar(&flags.options.Budget, "budget", 0, "stop after this much processor time, builds included; 0 for never")
	f.DurationVar(&flags.options.Longest, "longest", mutation.DefaultLongest, "leave out tests that take more processor time, in whole seconds")
	f.IntVar(&flags.options.Jobs, "jobs", runtime.NumCPU(), "test processes at a time")
	f.StringVar(&flags.options.Match, "match", "", "run the mutants whose name contains this")
	f.StringSliceVar(&flags.options.Tests, "tests", nil, "packages whose tests run in addition to the package's own")
	f.StringVar(&flags.since, "since", "", "run only the packages whose code, apart from tests, changed since this commit")
	f.Float64Var(&flags.atLeast, "at-least", 0,
		"fail if a smaller percentage of all is killed, counting equivalent mutants as survivors; for a sample, only if chance does not explain it")
	shell.OutputFlag(command)
	return command
}

func mutate(command *cobra.Command, patterns []string, flags *mutateFlags) error {
	root, err := os.Getwd()
	if err != nil {
		return failure.Wrap(failure.IO, err)
	}
	if flags.since != "" {
		var err error
		if patterns, err = changedPackages(command.Context(), root, flags.since, patterns); err != nil {
			return err
		}
		if len(patterns) == 0 {
			fmt.Fprintln(command.ErrOrStderr(), "none of the packages has changed since "+flags.since)
			return nil
		}
	}
	if len(patterns) == 0 {
		return failure.Usagef("name packages, such as ./risk or ./reconcile/..., or use --since COMMIT")
	}
	bar := shell.NewProgress(command, 0, "mutants")
	flags.options.Report = bar.Set
	scores, err := mutation.Run(command.Context(), root, patterns, &flags.options)
	bar.End()
	if err != nil {
		return failure.New(failure.Data, "run it at the root of the repository", "%w", err)
	}
	if err := shell.Print(command, scores, func(w io.Writer) { mutationTable(w, scores) }); err != nil {
		return err
	}
	if why := tooFew(scores, flags.atLeast, flags.options.Sample != 0 || flags.options.Budget != 0); why != "" {
		fmt.Fprintln(command.ErrOrStderr(), why)
		return failure.Quiet()
	}
	return nil
}

// tooFew reports that the tests kill fewer mutants than required, with the figures compared; it returns "" if they kill enough.
func tooFew(scores []mutation.Score, atLeast float64, sampled bool) string {
	var all mutation.Score
	for i := range scores {
		s := &scores[i]
		all.Mutants, all.Killed, all.Equivalent = all.Mutants+s.Mutants, all.Killed+s.Killed, all.Equivalent+s.Equivalent
	}
	if !mutation.Below(all.Killed, all.Mutants, atLeast, sampled) {
		return ""
	}
	why := fmt.Sprintf("%d of %d mutants were killed, %.1f%%: less than --at-least %g", all.Killed, all.Mutants, all.OfAll(), atLeast)
	if sampled {
		why += ", beyond chance"
	}
	if all.Equivalent > 0 {
		why += fmt.Sprintf(", which counts the %d equivalent ones as survivors (without them %.1f%%)", all.Equivalent, all.WithoutEquivalent())
	}
	return why
}

// mutationTable prints the survivors, and a line for each package.
func mutationTable(w io.Writer, scores []mutation.Score) {
	for i := range scores {
		for _, m := range scores[i].All {
			if m.Outcome == mutation.Survived || m.Outcome == mutation.Unreached {
				fmt.Fprintf(w, "%s:%d: %s: %s: %s\n", m.File, m.Line, m.Outcome, m.Function[strings.LastIndexByte(m.Function, '/')+1:], m.Change)
			}
		}
	}
	shell.WriteTable(w, table.Row{"package", "mutants", "killed", "survived", "not reached", "equivalent", "of all", "without equivalent", "took"},
		scores, func(s *mutation.Score) table.Row {
			return table.Row{s.Package, s.Mutants, s.Killed, s.Survived, s.Unreached, s.Equivalent, fmt.Sprintf("%.1f%%", s.OfAll()),
				fmt.Sprintf("%.1f%%", s.WithoutEquivalent()), s.Took.Round(time.Second)}
		})
}

// changedPackages returns the packages whose code changed since a commit, limited to those that patterns name.
func changedPackages(ctx context.Context, root, commit string, patterns []string) (packages []string, err error) {
	git := exec.CommandContext(ctx, "git", "diff", "--name-only", "--diff-filter=d", commit, "--", "*.go")
	git.Dir = root
	text, err := git.Output()
	if err != nil {
		return nil, failure.New(failure.Data, "is it a commit of this repository?", "git diff %s: %w", commit, err)
	}
	for name := range strings.Lines(string(text)) {
		name = strings.TrimSpace(name)
		if !strings.HasSuffix(name, "_test.go") && !strings.Contains(name, "testdata/") && !strings.HasPrefix(name, "internal/") {
			packages = append(packages, "./"+path.Dir(name))
		}
	}
	slices.Sort(packages)
	return slices.DeleteFunc(slices.Compact(packages), func(p string) bool { return len(patterns) > 0 && !named(p, patterns) }), nil
}

// named reports whether one of the patterns, ./risk or ./reconcile/..., names a package.
func named(p string, patterns []string) bool {
	return slices.ContainsFunc(patterns, func(pattern string) bool {
		below, all := strings.CutSuffix(pattern, "/...")
		return p == below || all && strings.HasPrefix(p, below+"/")
	})
}
