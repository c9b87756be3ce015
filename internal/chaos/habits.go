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

// Habits is how the trial's exchange reads the interface (botd exchange --variant), and what the
// daemon's profile says of it.
type Habits struct {
	Variants  []string
	Profile   string        // the content of exchange.profile in braces
	Staleness time.Duration // L; zero is a second
}

// Variants of the exchange that break its word, by their names.
const (
	refusesAndExecutes = "refuse-but-execute"
	executesTwice      = "duplicate-delivery"
)

func (h *Habits) has(variant string) bool { return slices.Contains(h.Variants, variant) }

// breaksItsWord reports whether orders have effects that their answers did not say.
func (h *Habits) breaksItsWord() bool { return h.has(refusesAndExecutes) || h.has(executesTwice) }

// needsAPerson reports whether a quarantine is right: effects that nobody announced, or an order whose
// answer was lost on lists that do not say whose it is.
func (h *Habits) needsAPerson() bool {
	return h.breaksItsWord() || h.has("history-without-client-id") || h.has("open-without-client-id")
}

func (h *Habits) staleness() time.Duration { return max(h.Staleness, time.Second) }

// flattenWithin bounds the halt: a list that is empty for seconds and orders of unknown outcome hold it up.
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

// command runs a command of botd beside the daemon, as a person would. Another exit code than 0 is a problem.
func (t *trial) command(ctx context.Context, arguments ...string) error {
	command := exec.CommandContext(ctx, t.Binary, append(arguments, "-c", "configs")...)
	command.Dir, command.Env = t.Directory, t.daemon.command.Env
	output, err := command.CombinedOutput()
	var code *exec.ExitError
	if errors.As(err, &code) {
		t.report.problem("botd %q: want exit code 0, have %d: %s", arguments, code.ExitCode(), strings.Join(strings.Fields(string(output)), " "))
		return nil
	}
	return err
}

// resolve takes the way out of a quarantine, where the exchange is one that causes them: what nobody
// is known to have ordered becomes the strategy's.
func (t *trial) resolve(ctx context.Context) error {
	if !t.Habits.needsAPerson() {
		return nil
	}
	s, err := t.daemon.status(ctx)
	if err != nil {
		return nil // it is asked again
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

// waitFlat waits until nothing is left, as long as the halt may take.
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
			return nil // the judge says what is left
		}
	}
}

// left says what is held beyond a spot rest that no order can sell, and what is open.
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

// rest is what cannot be sold of a spot target: the fees of its purchases were taken from it.
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
