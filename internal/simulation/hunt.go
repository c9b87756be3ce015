package simulation

import (
	"context"
	"slices"

	"botd/internal/mutant"
)

// huntBlock is how many seeds are run before looking whether one failed.
const huntBlock = 64

// Hunt is how the simulation fared against one rule broken on purpose.
type Hunt struct {
	Mutant  string `json:"mutant"`
	Does    string `json:"does"`
	Where   string `json:"where"`
	Caught  string `json:"caught_by"` // the invariant; empty for not caught
	Seeds   int    `json:"seeds"`     // that were needed: the first failing one is the last of them
	Failing int    `json:"failing"`   // of the seeds tried
	Tried   int    `json:"tried"`     // whole blocks
	Example string `json:"example"`   // what the first failing seed said
	Shown   string `json:"shown_by"`  // the test that shows it where seeds do so seldom or never; empty for none
}

// HuntMutants breaks one rule after another and runs seeds until one fails, at
// most so many. Progress is called with each hunt that ended. It needs a build
// with the overlay of internal/mutant; nothing else may run meanwhile.
func HuntMutants(ctx context.Context, rules []mutant.Row, most, jobs int, progress func(*Hunt)) []Hunt {
	var hunts []Hunt
	defer mutant.Break("")
	for _, row := range rules {
		mutant.Break(row.Name)
		hunt := Hunt{Mutant: row.Name, Does: row.Does, Where: row.Where, Shown: row.Shown, Seeds: most}
		for hunt.Tried < most && hunt.Caught == "" && ctx.Err() == nil {
			fleet := Fleet{From: uint64(hunt.Tried + 1), Seeds: min(huntBlock, most-hunt.Tried), Jobs: jobs}
			summary := fleet.Run(ctx)
			hunt.Tried, hunt.Failing = hunt.Tried+summary.Runs, hunt.Failing+summary.Failed
			if len(summary.Failures) > 0 {
				first := slices.MinFunc(summary.Failures, func(a, b Failure) int { return int(int64(a.Seed) - int64(b.Seed)) })
				hunt.Caught, hunt.Seeds, hunt.Example = first.Broken.Rule, int(first.Seed), first.Broken.Text
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
