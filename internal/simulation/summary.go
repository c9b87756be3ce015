package simulation

import (
	"fmt"
	"strings"
)

// ClassSummary sums up the seeds in which a class was in force, alone or with others.
type ClassSummary struct {
	Class    string         `json:"class"`
	Runs     int            `json:"runs"`
	Episodes int64          `json:"episodes"`
	Placed   int64          `json:"placed"` // orders sent
	Opened   int64          `json:"opened"` // orders sent that open a position
	Failed   int            `json:"failed"`
	Rules    map[string]int `json:"broken_rules"`
	First    *Failure       `json:"first_failure,omitempty"` // the smallest seed
	Gaps     int64          `json:"unprotected"`             // times without a stop
	P50S     float64        `json:"unprotected_p50_seconds"`
	P99S     float64        `json:"unprotected_p99_seconds"`
	MaxS     float64        `json:"unprotected_max_seconds"`

	tenths [6_001]int64 // gaps by tenths of a second
	maxMS  int64
}

// addClasses counts a run for each of its classes.
func (s *Summary) addClasses(r *Result) {
	if r.Beyond == nil {
		return
	}
	if s.Classes == nil {
		s.Classes = make([]ClassSummary, ClassEnd)
		for c := range s.Classes {
			s.Classes[c].Class, s.Classes[c].Rules = Class(c).String(), map[string]int{}
		}
	}
	for c := range s.Classes {
		if r.Classes[c] >= 0 {
			s.Classes[c].add(r, r.Classes[c])
		}
	}
}

func (c *ClassSummary) add(r *Result, episodes int64) {
	c.Runs++
	c.Episodes += episodes
	c.Placed, c.Opened = c.Placed+r.Stats.Placed, c.Opened+r.Stats.Opened
	for _, gap := range r.Gaps {
		c.Gaps++
		c.tenths[min(gap/100, int64(len(c.tenths)-1))]++
		c.maxMS = max(c.maxMS, gap)
	}
	c.P50S, c.P99S, c.MaxS = c.quantile(0.5), c.quantile(0.99), float64(c.maxMS)/1_000
	if r.Violation == nil {
		return
	}
	c.Failed++
	rule := r.Violation.Rule
	if r.Violation.Spot {
		rule += " on spot"
	}
	c.Rules[rule]++
	if c.First == nil || r.Seed < c.First.Seed {
		c.First = new(failureOf(r))
	}
}

// quantile returns the number of seconds that a share of the gaps does not exceed.
func (c *ClassSummary) quantile(share float64) float64 {
	sum := int64(0)
	for tenth, n := range c.tenths {
		if sum += n; float64(sum) >= share*float64(c.Gaps) {
			return float64(tenth+1) / 10
		}
	}
	return 0
}

// Line formats the summary as one line.
func (c *ClassSummary) Line() string {
	text := fmt.Sprintf("%-17s %6d runs %7d episodes %7d orders, %6d open %5d failed; ", c.Class, c.Runs, c.Episodes, c.Placed, c.Opened, c.Failed) +
		fmt.Sprintf("without a stop %6d times, p50 %.1f s, p99 %.1f s, max %.1f s", c.Gaps, c.P50S, c.P99S, c.MaxS)
	if c.First == nil {
		return text
	}
	return text + "; " + strings.TrimPrefix(fmt.Sprint(c.Rules), "map") + "; " + c.First.Command
}
