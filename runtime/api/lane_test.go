package api

import (
	"net/http"
	"slices"
	"strings"
	"testing"

	"botd/reconcile/account"
	"botd/reconcile/record"
	"botd/risk"
	"botd/runtime/engine"
	"botd/runtime/view"
)

// lastKnown is a kill switch that knows the last read.
type lastKnown struct{}

func (lastKnown) Scopes() []account.Scope {
	return []account.Scope{{Strategy: "trend", Symbol: bitcoin.Key()}}
}

func (lastKnown) Preview(level record.HaltLevel, scope account.Scope) []string {
	return []string{level.String() + " the " + scope.String() + ": cancel order 7", "close 0.02 BTC"}
}

func (lastKnown) Degraded() []engine.Degraded {
	return []engine.Degraded{{State: "lane", Scope: account.Scope{}, Cause: "the engine does not answer"}}
}

// The safety lane executes the halt and reports what it will do. It accepts halts only, so a rearm is refused.
func TestHaltWorksWhileEngineHangs(t *testing.T) {
	t.Parallel()
	d := newDeskWith(t, func(c *Config) { c.Lane = lastKnown{} })
	d.stops = true
	code, out, text := post[HaltAnswer](d, "/api/v1/risk/halt", `{"level":"flatten","strategy":"trend","reason":"it hangs"}`)
	does := []string{"the engine does not answer: the kill switch acts without it, on the last known orders and positions",
		"halt the strategy trend: nothing opens; exits and stops continue, and resting opening orders are canceled, and positions are closed at market"}
	if code != http.StatusAccepted || out.Scope != "strategy trend" || !slices.Equal(out.Effects, does) || len(out.Steps) != 2 ||
		out.Steps[0].Text != "flatten the strategy trend: cancel order 7" || out.Steps[1].Text != "close 0.02 BTC" {
		t.Errorf("want it taken by what is known, have %d %s", code, text)
	}
	want := engine.EventHalt{Level: record.LevelFlatten, Scope: account.Scope{Strategy: "trend"}, Reason: "it hangs"}
	if len(d.sent) != 1 || *d.sent[0].Event.(*engine.EventHalt) != want || d.sent[0].Audit.Detail != "flatten: it hangs" ||
		d.sent[0].Audit.Object != "strategy trend" {
		t.Fatalf("want one halt sent, have %+v", d.sent)
	}
	for body, code := range map[string]int{`{"level":"pause","dry_run":true}`: 200, `{"level":"pause","strategy":"trnd","reason":"a"}`: 404} {
		if have, _, text := post[HaltAnswer](d, "/api/v1/risk/halt", body); have != code || len(d.sent) != 1 {
			t.Errorf("%s: want %d and nothing sent, have %d %s", body, code, have, text)
		}
	}
	if code, _, text := post[HaltAnswer](d, "/api/v1/risk/rearm", `{"strategy":"trend"}`); code != 503 || len(d.sent) != 1 {
		t.Errorf("its end: want it refused, have %d %s", code, text)
	}
	d.board.Show(*running(t))
	status := decoded[view.Status](t, d.want(200, "/api/v1/status"))
	if len(status.Degraded) == 0 || status.Degraded[0].Cause != "the engine does not answer" {
		t.Errorf("want the lane's states first, have %+v", status.Degraded)
	}
	without := newDesk(t)
	without.stops = true
	if code, _, text := post[HaltAnswer](without, "/api/v1/risk/halt", `{"level":"pause","reason":"a"}`); code != 503 || len(without.sent) != 0 {
		t.Errorf("without a lane: want it refused, have %d %s", code, text)
	}
}

// The text includes what the milder levels do, and what the engine cannot see.
func TestHaltLevelTexts(t *testing.T) {
	t.Parallel()
	for level, want := range map[string]string{
		"pause":   "halt the account: nothing opens; exits and stops continue",
		"cancel":  "halt the account: nothing opens; exits and stops continue, and resting opening orders are canceled",
		"flatten": "halt the account: nothing opens; exits and stops continue, and resting opening orders are canceled, and positions are closed at market",
	} {
		d := newDesk(t)
		_, out, text := post[HaltAnswer](d, "/api/v1/risk/halt", `{"level":"`+level+`","dry_run":true}`)
		if !slices.Equal(out.Effects, []string{want}) || out.Level.String() != level || !out.DryRun {
			t.Errorf("want %q, have %s", want, text)
		}
	}
}

// The text lists halts, breaches and latches of the scope only.
func TestRearmPreview(t *testing.T) {
	t.Parallel()
	status := *running(t)
	status.Strategies = append(slices.Clone(status.Strategies), engine.StrategyStatus{Name: "calm", Symbol: ether})
	status.Strategies[0].Latch, status.Strategies[1].Latch = 1, -1
	trend, hold := account.Scope{Strategy: "trend"}, account.Scope{Strategy: "hold"}
	status.Halts = []account.Halt{{Scope: trend, Level: record.LevelCancel, Reason: "news"},
		{Scope: account.Scope{}, Level: record.LevelPause, Reason: "a holiday"},
		{Scope: account.Scope{Symbol: bitcoin.Key()}, Level: record.LevelFlatten, Reason: "a fork"}}
	breach := func(strategy, rule string, state string, untilMS int64) risk.Utilization {
		return risk.Utilization{Strategy: strategy, Rule: rule, State: state, UntilMS: untilMS, Reason: "of " + rule}
	}
	status.Limits = []risk.Utilization{breach("trend", "max_loss", risk.StateBreached, 0), breach("trend", "max_daily_loss", risk.StateBreached, 9),
		breach("", "max_drawdown", risk.StateBreached, 0), breach("trend", "max_position", risk.StateOK, 0)}
	for _, c := range []struct {
		scope account.Scope
		want  []string
	}{
		{trend, []string{"the halt of the strategy trend ends (cancel: news)", "the breach of max_loss ends: of max_loss",
			"the latch of trend is released: it may enter again"}},
		{hold, []string{"the latch of hold is released: it may enter again"}},
		{account.Scope{Strategy: "calm"}, []string{"nothing: the strategy calm is not halted"}},
		{account.Scope{}, []string{"the halt of the account ends (pause: a holiday)", "the breach of max_drawdown ends: of max_drawdown",
			"the latch of trend stays until its target is zero or changes side: botd rearm --strategy trend releases it",
			"the latch of hold stays until its target is zero or changes side: botd rearm --strategy hold releases it"}},
		{account.Scope{Symbol: bitcoin.Key()}, []string{"the halt of the " + account.Scope{Symbol: bitcoin.Key()}.String() + " ends (flatten: a fork)",
			"the latch of trend stays until its target is zero or changes side: botd rearm --strategy trend releases it"}},
	} {
		if have := rearming(&status, c.scope); !slices.Equal(have, c.want) {
			t.Errorf("%s:\nwant %s\nhave %s", c.scope, strings.Join(c.want, "\n     "), strings.Join(have, "\n     "))
		}
	}
}
