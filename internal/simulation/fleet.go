package simulation

import (
	"context"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

// maxFailures bounds the failing seeds that are reported in full.
const maxFailures = 50

// Fleet runs a range of seeds.
type Fleet struct {
	From     uint64
	Seeds    int
	Jobs     int  // run in parallel; 0 means one per core
	Crashes  bool // rerun each seed once for each of its crash points
	Options  Options
	Progress func(done, total int) // called by one goroutine at a time; nil for none
	Broke    func(Failure)         // called immediately for each failing seed, by one goroutine at a time
}

// Failure is a seed that broke an invariant.
type Failure struct {
	Seed    uint64    `json:"seed"`
	CrashAt int       `json:"crash_at,omitempty"`
	Broken  Violation `json:"broken"`
	Command string    `json:"command"` // reproduces it, with a trace
}

// Summary is the result of many seeds.
type Summary struct {
	Runs     int            `json:"runs"`
	Failed   int            `json:"failed"`
	Rules    map[string]int `json:"rules"`
	Failures []Failure      `json:"failures"`
	Stats    Stats          `json:"stats"`
	Points   int64          `json:"points"` // inputs and outputs passed
	Crashed  int64          `json:"crash_points_tried"`
	Classes  []ClassSummary `json:"classes,omitempty"` // beyond the bounds
	Elapsed  time.Duration  `json:"elapsed"`
}

// Run runs all seeds, several in parallel. When the context ends, it finishes the
// seeds in progress and returns.
func (f *Fleet) Run(ctx context.Context) Summary {
	jobs := f.Jobs
	if jobs == 0 {
		jobs = runtime.GOMAXPROCS(0)
	}
	var (
		began   = time.Now()
		next    atomic.Int64
		mu      sync.Mutex // guards summary and done
		done    int
		summary = Summary{Rules: map[string]int{}}
		group   sync.WaitGroup
	)
	for range jobs {
		group.Go(func() {
			for ctx.Err() == nil {
				n := next.Add(1) - 1
				if n >= int64(f.Seeds) {
					return
				}
				results := f.seed(ctx, f.From+uint64(n))
				mu.Lock()
				for i := range results {
					if f.Broke != nil && results[i].Violation != nil {
						f.Broke(failureOf(&results[i]))
					}
					summary.add(&results[i])
				}
				if done++; f.Progress != nil {
					f.Progress(done, f.Seeds)
				}
				mu.Unlock()
			}
		})
	}
	group.Wait()
	slices.SortFunc(summary.Failures, func(a, b Failure) int {
		if a.Seed != b.Seed {
			return int(int64(a.Seed) - int64(b.Seed))
		}
		return a.CrashAt - b.CrashAt
	})
	summary.Elapsed = time.Since(began)
	return summary
}

// seed runs one seed, and with Crashes once more for each of its crash points.
func (f *Fleet) seed(ctx context.Context, seed uint64) []Result {
	options := f.Options
	options.Seed = seed
	first := Run(options)
	results := []Result{first}
	for at := 1; f.Crashes && at <= first.Points && ctx.Err() == nil; at++ {
		options.CrashAt = at
		results = append(results, Run(options))
	}
	return results
}

func (s *Summary) add(r *Result) {
	s.Runs++
	s.Points += int64(r.Points)
	s.Stats.add(&r.Stats)
	if r.CrashAt > 0 {
		s.Crashed++
	}
	s.addClasses(r)
	if r.Violation == nil {
		return
	}
	s.Failed++
	s.Rules[r.Violation.Rule]++
	if len(s.Failures) < maxFailures {
		s.Failures = append(s.Failures, failureOf(r))
	}
}

func failureOf(r *Result) Failure {
	return Failure{Seed: r.Seed, CrashAt: r.CrashAt, Broken: *r.Violation, Command: r.Command()}
}

// Rate returns the runs per second.
func (s *Summary) Rate() float64 { return float64(s.Runs) / max(s.Elapsed.Seconds(), 1e-9) }
