package client

import (
	"context"
	"net/http"
	"strings"
	"time"

	"botd/internal/failure"
	"botd/runtime/view"
)

// A halt is polled every followEvery for at least followLeast: its effect on the exchange is not known until the exchange has accepted its orders.
const (
	followEvery = 250 * time.Millisecond
	followLeast = 10 * time.Second
)

// HaltProgress is the progress of a halt, as the daemon reports it.
type HaltProgress struct {
	Doing    string   // what remains to be closed or canceled; empty when nothing is left
	Blind    []string // what the halt cannot read or act on
	Accepted bool     // the exchange has accepted all orders that complete the halt
	Halted   bool
}

// FollowHalt reports the progress of a halt, line by line, until its effect is complete on the exchange, or, without a
// time to wait, in progress there. While the daemon waits for its exchange, it returns at once, unless a time is given.
func (d *Daemon) FollowHalt(ctx context.Context, scope string, wait time.Duration, report func(line string)) (state HaltProgress, err error) {
	ctx, cancel := context.WithTimeout(ctx, max(wait, followLeast))
	defer cancel()
	ticker := time.NewTicker(followEvery)
	defer ticker.Stop()
	state.Blind = []string{}
	for reported := ""; ; {
		status, _, err := Ask[view.Status](ctx, d, http.MethodGet, "/api/v1/status", nil)
		if err == nil { // otherwise it may be restarting, and the halt continues after that
			state = haltOf(status.Degraded, scope)
			if cause := unreached(status.Degraded); cause != "" {
				state.Blind = []string{"the account cannot be seen: " + cause}
				if wait <= 0 {
					return state, state.unfinished(report, 0)
				}
			}
			if state.Doing != "" && state.Doing != reported {
				report("in progress: " + state.Doing)
				reported = state.Doing
			}
		}
		switch {
		case !state.Halted || len(state.Blind) > 0:
		case state.Doing == "":
			report("done: a read after the halt shows nothing left to do")
			return state, nil
		case state.Accepted && wait <= 0:
			report("in progress: the exchange has accepted the orders")
			return state, nil
		}
		select {
		case <-ctx.Done():
			return state, state.unfinished(report, max(wait, followLeast))
		case <-ticker.C:
		}
	}
}

// unfinished reports what a halt could not read or act on while it was followed.
func (p *HaltProgress) unfinished(report func(line string), wait time.Duration) error {
	for _, line := range p.Blind {
		report("cannot see or close yet: " + line)
	}
	const hint = "it stays in force and is carried out as soon as that is possible; botd status shows its progress"
	left := p.Doing
	if left == "" {
		left = strings.Join(p.Blind, "; ")
	}
	if wait == 0 {
		return failure.New(failure.Temporary, hint, "halted, but %s", left)
	}
	return failure.New(failure.Temporary, hint, "not complete after %s: %s", wait, left)
}

// unreached returns the reason why a starting daemon waits for its exchange; empty when it does not wait.
func unreached(all []view.Degraded) string {
	for i := range all {
		if all[i].State == "waiting" && all[i].Scope == "account" {
			return all[i].Cause
		}
	}
	return ""
}

// haltOf finds the halt of a scope among the declared states.
func haltOf(all []view.Degraded, scope string) HaltProgress {
	for i := range all {
		d := &all[i]
		of := d.Scope
		switch d.Scope {
		case "strategy":
			of += " " + d.Strategy
		case "symbol":
			of += " " + d.Market + " " + d.Symbol
		}
		if d.State == "halted" && of == scope {
			return HaltProgress{d.Doing, append([]string{}, d.Blind...), d.ExitsAccepted, true}
		}
	}
	return HaltProgress{Blind: []string{}}
}
