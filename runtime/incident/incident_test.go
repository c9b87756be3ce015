package incident

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"botd/exchange"
	"botd/reconcile/account"
	"botd/runtime/engine"
)

// course updates a tracker every second, and returns a person's notifications, each with its second.
func course(t *Tracker, seconds int, states func(second int) []engine.Degraded) (heard []string) {
	for second := range seconds {
		for _, report := range t.Update(int64(second)*1000+1, states(second), true) {
			heard = append(heard, fmt.Sprintf("%d %s %s %s", second, report.Change, report.Incident.Kind, report.Incident.Severity))
		}
	}
	return heard
}

func state(kind string, since int) engine.Degraded {
	return engine.Degraded{State: kind, SinceMS: int64(since)*1000 + 1, Cause: "a cause", Remedy: "a way"}
}

// within returns a state in force from a second until another.
func within(kind string, from, until int) func(int) []engine.Degraded {
	return func(second int) []engine.Degraded {
		if second < from || second >= until {
			return nil
		}
		return []engine.Degraded{state(kind, from)}
	}
}

func TestAnIncidentIsOpenedRemindedOfEscalatedAndClosed(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name    string
		seconds int
		states  func(int) []engine.Degraded
		want    string
	}{
		{"a state of a moment", 100, within("unprotected", 10, 15), "10 opened unprotected critical, 45 closed unprotected critical"},
		{"critical for six hours", 6 * 3600, within("blind", 0, 6*3600), "0 opened blind critical, 900 reminder blind critical, " +
			"4500 reminder blind critical, 18900 reminder blind critical"},
		{"a warning that becomes critical", 5000, within("stale", 0, 5000), "60 opened stale warning, 3660 escalated stale critical, " +
			"4560 reminder stale critical"},
		{"a person's halt stays a warning", 30 * 3600, within("halted", 0, 30*3600), "0 opened halted warning, 14400 reminder halted warning, " +
			"100800 reminder halted warning"},
		{"a clock that is off for half a minute", 200, within("clock", 10, 40), ""},
		{"a clock that is off for longer", 200, within("clock", 10, 100), "70 opened clock warning, 130 closed clock warning"},
		{"an unknown state", 10, within("new", 1, 10), "1 opened new warning"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			if have := strings.Join(course(new(Tracker), c.seconds, c.states), ", "); have != c.want {
				t.Errorf("want %s\nhave %s", c.want, have)
			}
		})
	}
}

// TestFlickeringStateIsOneIncident has a breaker of 45 seconds trip 17 times in 28 minutes. It once paged each
// time.
func TestFlickeringStateIsOneIncident(t *testing.T) {
	t.Parallel()
	tracker := new(Tracker)
	heard := course(tracker, 2*3600, func(second int) []engine.Degraded {
		if second < 28*60 && second%99 < 45 {
			return []engine.Degraded{state("breaker", second-second%99)}
		}
		return nil
	})
	all := tracker.All()
	if len(all) != 1 || all[0].Times != 17 || all[0].Open() {
		t.Errorf("want one incident of 17 times that is over, have %+v", all)
	}
	if len(heard) > 4 || !strings.HasSuffix(heard[len(heard)-1], "closed breaker warning") {
		t.Errorf("want at most four messages, the last of its end, have %v", heard)
	}
}

func scopeOf(market exchange.Market, name string) account.Scope {
	return account.Scope{Symbol: exchange.SymbolKey{Market: market, Name: name}}
}

func TestEachCauseIsAnIncidentOfItsOwn(t *testing.T) {
	t.Parallel()
	tracker := new(Tracker)
	ether, bitcoin := scopeOf(exchange.Futures, "ETH-USDT"), scopeOf(exchange.Futures, "BTC-USDT")
	tracker.Update(1, []engine.Degraded{{State: "quarantined", SinceMS: 1, Scope: ether}, {State: "quarantined", SinceMS: 1, Scope: bitcoin},
		{State: "failed", SinceMS: 1, Scope: ether}}, true)
	tracker.Update(2, []engine.Degraded{{State: "quarantined", SinceMS: 1, Scope: ether, Cause: "another"}}, true)
	all := tracker.All()
	if len(all) != 3 || all[0].Cause != "another" || all[0].UpdatedMS != 2 || all[0].AbsentMS != 0 || all[1].AbsentMS != 2 {
		t.Errorf("want three, the first with its newest cause, have %+v", all)
	}
}

// TestConsequentStateHasNoIncident covers the consequences of an outage, a rate limit and a refusal.
func TestConsequentStateHasNoIncident(t *testing.T) {
	t.Parallel()
	tracker := new(Tracker)
	two := func(cause, consequence string) func(int) []engine.Degraded {
		return func(second int) (all []engine.Degraded) {
			if 300 <= second && second < 600 {
				all = append(all, state(consequence, 100))
			}
			if 290 <= second && second < 590 {
				all = append(all, state(cause, 100))
			}
			return all
		}
	}
	for _, c := range [][2]string{{"blind", "stale"}, {"rate_limited", "breaker"}, {"blind", "unsettled"}, {"refused", "unfinished"},
		{"refused", "breaker"}, {"unsettled", "breaker"}, {"unsettled", "unfinished"}} {
		if heard := course(tracker, 900, two(c[0], c[1])); len(heard) != 2 || strings.Contains(strings.Join(heard, ""), c[1]) {
			t.Errorf("%s, then %s: want it opened and closed, have %v", c[0], c[1], heard)
		}
		if heard := course(new(Tracker), 900, two("halted", c[1])); len(heard) != 4 {
			t.Errorf("halted and %s: want both, have %v", c[1], heard)
		}
		tracker = new(Tracker)
	}
}

// TestABreakerIsNoIncidentAfterItsCause has unsettled orders trip a breaker, which continues for its time when they are
// settled.
func TestABreakerIsNoIncidentAfterItsCause(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		trips, until int // of the breaker; the orders were unsettled from second 100 to 400
		want         string
	}{
		{150, 1000, "160 opened unsettled critical, 430 closed unsettled critical"},
		{395, 1000, "160 opened unsettled critical, 430 closed unsettled critical"},
		{700, 1000, "160 opened unsettled critical, 430 closed unsettled critical, 700 opened breaker warning, 1030 closed breaker warning"},
	} {
		states := func(second int) []engine.Degraded {
			all := within("unsettled", 100, 400)(second)
			for _, breaker := range within("breaker", c.trips, c.until)(second) {
				breaker.UntilMS = int64(c.until) * 1000
				all = append(all, breaker)
			}
			return all
		}
		if heard := strings.Join(course(new(Tracker), 1200, states), ", "); heard != c.want {
			t.Errorf("a breaker that trips in second %d:\nwant %s\nhave %s", c.trips, c.want, heard)
		}
	}
}

// TestAnOutageIsOneIncident has an exchange answer every second request with 429: symbols, a market and the account
// are blind in turn, and both markets are rate limited. A person once received seven messages about six incidents.
func TestAnOutageIsOneIncident(t *testing.T) {
	t.Parallel()
	tracker := new(Tracker)
	parts := []account.Scope{scopeOf(exchange.Futures, "BTC-USDT"), scopeOf(exchange.Spot, ""), scopeOf(exchange.Spot, "ETH-USDT"), {}}
	heard := course(tracker, 3000, func(second int) (states []engine.Degraded) {
		if second >= 600 {
			return nil
		}
		if second%50 < 15 {
			one := state("blind", second-second%50)
			one.Scope = parts[second/50%len(parts)]
			states = append(states, one)
		}
		for _, market := range []exchange.Market{exchange.Futures, exchange.Spot} {
			one := state("rate_limited", 0)
			one.Scope = scopeOf(market, "")
			states = append(states, one)
		}
		return states
	})
	opened := 0
	for _, one := range heard {
		if strings.Contains(one, " opened ") {
			opened++
		}
	}
	if all := tracker.All(); opened != 2 || len(all) != 2 || len(heard) > 6 {
		t.Errorf("want two incidents, blind and rate limited, have %d opened in %v", opened, heard)
	}
}

// TestBlindAccountIsReportedDespiteBlindSymbol has a delisted symbol blind for hours before the account is.
func TestBlindAccountIsReportedDespiteBlindSymbol(t *testing.T) {
	t.Parallel()
	tracker := new(Tracker)
	heard := course(tracker, 900, func(second int) []engine.Degraded {
		one := state("blind", 0)
		one.Scope = scopeOf(exchange.Spot, "ETH-USDT")
		if second >= 300 && second < 400 {
			one = state("blind", 300)
		}
		return []engine.Degraded{one}
	})
	want := "0 opened blind critical, 300 opened blind critical"
	if have := strings.Join(heard, ", "); have != want {
		t.Errorf("want %s, have %s", want, have)
	}
}

// TestOutageReportsItsWidestState has an exchange silent for half an hour: markets and symbols are blind, too, and after a quarter
// of an hour its clock is too old. A message about the whole account once announced that it ends when its symbol can be read, and there was a
// second incident.
func TestOutageReportsItsWidestState(t *testing.T) {
	t.Parallel()
	tracker := new(Tracker)
	heard := course(tracker, 1_800, func(second int) []engine.Degraded {
		one, part, clock := state("blind", 0), state("blind", 0), state("clock", 900)
		one.Cause, one.Remedy, part.Scope, part.Remedy = "no answer", "the first round", scopeOf(exchange.Futures, "BTC-USDT"), "remove it"
		if second < 900 {
			return []engine.Degraded{one, part}
		}
		return []engine.Degraded{one, part, clock}
	})
	if have := strings.Join(heard, ", "); have != "0 opened blind critical, 900 reminder blind critical" {
		t.Errorf("want one incident and its reminder, have %s", have)
	}
	if one := tracker.All()[0]; one.Cause != "no answer" || one.Remedy != "the first round" || one.Scope != (account.Scope{}) {
		t.Errorf("want cause and remedy of the account, have %+v", one)
	}
}

// TestAClockThatCannotBeReadIsNoConsequenceOfItself has only the clock unreadable: then nothing can be signed, and the account is blind.
func TestAClockThatCannotBeReadIsNoConsequenceOfItself(t *testing.T) {
	t.Parallel()
	heard := course(new(Tracker), 120, func(int) []engine.Degraded { return []engine.Degraded{state("clock", 0), state("blind", -15)} })
	if have := strings.Join(heard, ", "); have != "0 opened blind critical, 60 opened clock warning" {
		t.Errorf("want an incident each, have %s", have)
	}
}

func TestIncidentsSurviveARestart(t *testing.T) {
	t.Parallel()
	before := new(Tracker)
	before.Update(1, []engine.Degraded{state("blind", 0)}, true)
	before.Update(2, nil, true)
	after := new(Tracker)
	after.Restore(before.All())
	if one := after.All()[0]; !one.Open() || one.InForce() {
		t.Errorf("after a start: want it open, and not known to be in force, have %+v", one)
	}
	for now := int64(100_000); now < 200_000; now += 1000 {
		if reports := after.Update(now, nil, false); len(reports) != 0 {
			t.Fatalf("before the first complete round: want nothing ended, have %+v", reports)
		}
	}
	if reports := after.Update(200_000, []engine.Degraded{state("blind", 0)}, true); len(reports) != 0 {
		t.Errorf("in force still: want no second opening, have %+v", reports)
	}
	if one := after.All()[0]; !one.InForce() {
		t.Errorf("seen again: want it in force, have %+v", one)
	}
	after.Update(201_000, nil, true)
	reports := after.Update(231_000, nil, true)
	if len(reports) != 1 || reports[0].Change != Closed || reports[0].Incident.ID != 1 || reports[0].Incident.ClosedMS != 201_000 {
		t.Errorf("want it closed when it had ended, have %+v", reports)
	}
	after.Update(9_000_000, []engine.Degraded{state("stale", 0)}, true)
	if newest := after.All()[1]; newest.ID != 2 || newest.Kind != "stale" {
		t.Errorf("want ids to go on, have %+v", newest)
	}
}

// TestUnconfirmedMessageIsRepeated has botd killed a second after an incident opened, with its message in flight.
// Once nobody was notified of it for hours.
func TestUnconfirmedMessageIsRepeated(t *testing.T) {
	t.Parallel()
	before := new(Tracker)
	before.Update(1, []engine.Degraded{state("halted", 0)}, true)
	for _, c := range []struct{ startMS, want int64 }{{10_000, 1}, {600_000, 0}} {
		after := new(Tracker)
		after.Restore(before.All())
		after.Update(c.startMS, nil, false)
		reports := after.Update(c.startMS+1000, []engine.Degraded{state("halted", 0)}, true)
		again := after.Update(c.startMS+2000, []engine.Degraded{state("halted", 0)}, true)
		if int64(len(reports)) != c.want || len(again) != 0 ||
			c.want == 1 && (reports[0].Change != Reminded || reports[0].Incident.RemindedMS != c.startMS+1000) {
			t.Errorf("a start after %d ms: want %d reminders, then none, have %+v and %+v", c.startMS, c.want, reports, again)
		}
	}
}

// TestWarningLostInQuietHoursIsRepeated has botd killed in its quiet hours: an hours-old warning that waited for their end is lost.
func TestWarningLostInQuietHoursIsRepeated(t *testing.T) {
	t.Parallel()
	const night, start = 9 * hour, 4 * hour
	for kind, want := range map[string]int{"halted": 1, "contradicted": 0} { // the critical one was sent
		for held, times := range map[int64]int{night: want, 0: 0} {
			before := new(Tracker)
			before.Update(1, []engine.Degraded{state(kind, 0)}, true)
			all := before.All()
			all[0].RemindedMS = start - 3*hour
			all[0].Reminders = 3 // the next one is not due
			after := &Tracker{HeldMS: held}
			after.Restore(all)
			reports := after.Update(start, []engine.Degraded{state(kind, 0)}, true)
			if len(reports) != times || times == 1 && reports[0].Change != Reminded {
				t.Errorf("%s, held for %d ms: want %d reminders, have %+v", kind, held, times, reports)
			}
		}
	}
}

func TestAnEventIsAnIncidentUntilItIsSettledOrOld(t *testing.T) {
	t.Parallel()
	tracker := new(Tracker)
	d := engine.Degraded{State: "ledger", SinceMS: 1, Cause: "5 USDT"}
	tracker.Raise(1, &d)
	if reports := tracker.Update(2, nil, true); len(reports) != 1 || reports[0].Change != Opened {
		t.Errorf("want it opened, have %+v", reports)
	}
	tracker.Update(60_000, nil, true)
	if reports := tracker.Update(120_000, nil, true); len(reports) != 0 {
		t.Errorf("want it to go on, have %+v", reports)
	}
	tracker.Close(120_001, "ledger")
	tracker.Update(120_001, nil, true)
	if reports := tracker.Update(150_001, nil, true); len(reports) != 1 || reports[0].Change != Closed {
		t.Errorf("want it closed, have %+v", reports)
	}
	again := new(Tracker)
	again.Raise(1, &d)
	again.Update(2, nil, true)
	again.Update(eventForMS+1, nil, true)
	if reports := again.Update(eventForMS+40_000, nil, true); !slices.ContainsFunc(reports, func(one Report) bool { return one.Change == Closed }) {
		t.Errorf("want it closed after a day, have %+v", reports)
	}
}

func TestClosedIncidentsAreBounded(t *testing.T) {
	t.Parallel()
	tracker := new(Tracker)
	now := int64(1)
	for range maxClosed + 50 {
		d := engine.Degraded{State: "blind", SinceMS: now}
		tracker.Update(now, []engine.Degraded{d}, true)
		tracker.Update(now+1, nil, true)
		tracker.Update(now+closesAfterMS+1, nil, true)
		now += returnsWithinMS + closesAfterMS + 10
	}
	if all := tracker.All(); len(all) != maxClosed || all[0].ID != 51 {
		t.Errorf("want the newest %d, have %d from %d", maxClosed, len(all), all[0].ID)
	}
}
