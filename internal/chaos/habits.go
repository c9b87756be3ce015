package chaos

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"slices"
	"strings"
	"time"

	"github.com/shopspring/decimal"
)

// Habits are the variants of the trial's exchange (botd exchange --variant), with the daemon's profile for them.
type Habits struct {
	Variants  []string
	Profile   string        // the content of exchange.profile in braces
	Staleness time.Duration // L; zero is a second
}

// These are the names of the variants whose answers contradict their effects.
const (
	refusesAndExecutes = "refuse-but-execute"
	executesTwice      = "duplicate-delivery"
)

func (h *Habits) has(variant string) bool { return slices.Contains(h.Variants, variant) }

// answersFalsely reports whether the exchange executes orders differently from what it answers.
func (h *Habits) answersFalsely() bool { return h.has(refusesAndExecutes) || h.has(executesTwice) }

// needsAPerson reports whether a quarantine is correct: unannounced effects, or a lost answer on an exchange
// whose lists do not identify the owner of an order.
func (h *Habits) needsAPerson() bool {
	return h.answersFalsely() || h.has("history-without-client-id") || h.has("open-without-client-id")
}

func (h *Habits) staleness() time.Duration { return max(h.Staleness, time.Second) }

// flattenWithin bounds the halt, which empty lists and uncertain orders delay by seconds.
const flattenWithin = 90 * time.Second

// flatten halts the daemon as a person would, until everything is closed.
func (t *trial) flatten(ctx context.Context) error {
	state, err := t.venue.state(ctx)
	if err != nil {
		return err
	}
	t.judgeHoldings(state)
	limited, cancel := context.WithTimeout(ctx, flattenWithin)
	defer cancel()
	if err := t.command(limited, "halt", "--level", "flatten", "--reason", "end of the trial", "--wait", "60s"); err != nil {
		return err
	}
	return t.waitFlat(limited)
}

// command runs a command of botd against the daemon, as a person would. A nonzero exit code is a problem.
func (t *trial) command(ctx context.Context, arguments ...string) error {
	command := exec.CommandContext(ctx, t.Binary, append(arguments, "-c", "configs")...)
	command.Dir, command.Env = t.Directory, t.daemon.command.Env
	output, err := command.CombinedOutput()
	if code, ok := errors.AsType[*exec.ExitError](err); ok {
		t.report.problem("botd %q: want exit code 0, have %d: %s", arguments, code.ExitCode(), strings.Join(strings.Fields(string(output)), " "))
		return nil
	}
	return err
}

// resolve ends a quarantine on an exchange that causes them, by adopting positions and orders of unknown origin for the strategy.
func (t *trial) resolve(ctx context.Context) error {
	if !t.Habits.needsAPerson() {
		return nil
	}
	s, err := t.daemon.status(ctx)
	if err != nil {
		return nil // the next round asks again
	}
	for _, d := range s.Degraded {
		if d.State != "quarantined" {
			continue
		}
		t.progress("resolve", "%s %s: %s", d.Market, d.Symbol, d.Cause)
		t.report.Resolved++
		if err := t.command(ctx, "resolve", d.Symbol, "--market", d.Market, "--adopt", "--reason", "nobody else trades here"); err != nil {
			return err
		}
	}
	return nil
}

// waitFlat waits until nothing is left, at most for the time that a halt may take.
func (t *trial) waitFlat(ctx context.Context) error {
	ticker := time.NewTicker(pollEvery)
	defer ticker.Stop()
	for {
		state, err := t.venue.state(context.WithoutCancel(ctx))
		if err != nil {
			return err
		}
		if len(t.left(state)) == 0 {
			t.progress("flat", "nothing is left")
			return nil
		}
		select {
		case <-ticker.C:
		case <-ctx.Done():
			return nil // the judge reports the rest
		}
	}
}

// left lists the positions, beyond a spot remainder that no order can sell, and the open orders.
func (t *trial) left(state *accountState) (problems []string) {
	for i := range t.Targets {
		w := &t.Targets[i]
		if held := state.position(w); held.Abs().GreaterThan(w.rest()) {
			problems = append(problems, fmt.Sprintf("%s %s: want nothing left, have %s", w.Market, w.Symbol, held))
		}
	}
	for i := range state.Orders {
		if o := &state.Orders[i]; slices.Contains([]string{"NEW", "CREATED", "OPEN"}, o.Status) {
			problems = append(problems, fmt.Sprintf("%s %s: order %s is %s", o.Market, o.Symbol, o.ID, o.Status))
		}
	}
	return problems
}

// rest returns the part of a spot target that cannot be sold, because purchases paid their fees from it.
func (w *Target) rest() decimal.Decimal {
	if w.Market != "spot" {
		return decimal.Zero
	}
	return w.Slack.Add(w.Quantity.Mul(decimal.New(2, -3)))
}

func (t *trial) judgeFlat(state *accountState) {
	for _, problem := range t.left(state) {
		t.report.problem("after halt flatten: %s", problem)
	}
}
