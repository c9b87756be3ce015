package simulation

import (
	"context"

	"botd/internal/mutant"
)

// huntBlock is the number of seeds run between two checks for a failure.
const huntBlock = 64

// Hunt is the result of the simulation with one deliberately broken rule.
type Hunt struct {
	Mutant  string `json:"mutant"`
	Does    string `json:"does"`
	Where   string `json:"where"`
	Caught  string `json:"caught_by"` // the broken invariant; empty if not caught
	Seeds   int    `json:"seeds"`     // needed until the first failure
	Failing int    `json:"failing"`   // of the seeds tried
	Tried   int    `json:"tried"`     // whole blocks
	Example string `json:"example"`   // the message of the first failing seed
	Shown   string `json:"shown_by"`  // the test that shows it if seeds rarely or never do; empty for none
}

// HuntMutants breaks one rule after another and runs up to most seeds until one fails. It calls progress after each hunt.
// It needs a build with the overlay of internal/mutant, and nothing else may run at the same time.
func HuntMutants(ctx context.Context, rules []mutant.Row, most, jobs int, progress func(*Hunt)) []Hunt {
	var hunts []Hunt
	defer mutant.Break("")
	for _, row := range rules {
		mutant.Break(row.Name)
		hunt := Hunt{Mutant: row.Name, Does: row.Does, Where: row.Where, Shown: row.Shown, Seeds: most}
		for hunt.Tried < most && hunt.Caught == "" && ctx.Err() == nil {
			fleet := Fleet{From: uint64(hunt.Tried + 1), Seeds: min(huntBlock, most-hunt.Tried), Jobs: jobs, Options: Options{Beyond: beyondOf(row.Name)}}
			summary := fleet.Run(ctx)
			hunt.Tried, hunt.Failing = hunt.Tried+summary.Runs, hunt.Failing+summary.Failed
			for _, f := range summary.Failures {
				if holdsUnbroken(row.Name, Options{Seed: f.Seed, Beyond: fleet.Options.Beyond}) {
					hunt.Caught, hunt.Seeds, hunt.Example = f.Broken.Rule, int(f.Seed), f.Broken.Text
					break
				}
			}
		}
		if ctx.Err() != nil {
			break
		}
		hunts = append(hunts, hunt)
		if progress != nil {
			progress(&hunt)
		}
	}
	return hunts
}

// holdsUnbroken reports whether a seed passes without the broken rule, and then breaks the rule again: a seed
// that fails anyway proves nothing.
func holdsUnbroken(rule string, options Options) bool {
	mutant.Break("")
	defer mutant.Break(rule)
	return Run(options).Violation == nil
}

// beyondOf returns the options of the run that must detect a mutant; nil for a run within the bounds.
func beyondOf(name string) *Beyond {
	class, err := ParseClass(mutant.Beyond[name])
	if err != nil {
		return nil
	}
	return &Beyond{Only: []Class{class}}
}
