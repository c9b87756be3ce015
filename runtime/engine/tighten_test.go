package engine

import (
	"strings"
	"testing"

	"botd/exchange"
	"botd/reconcile/record"
	"botd/risk"
)

// tightens sets limits as a person does, and expects them to be refused for a reason, or accepted.
func (w *world) tightens(refused, strategy string, limits ...Setting) {
	w.t.Helper()
	desired := LimitChange{Strategy: strategy, Limits: limits, By: "somebody", Reason: "a test"}
	records := len(w.records)
	lines, _ := w.engine.PreviewLimits(&desired)
	w.give(&EventAudited{Audit: &record.Audit{Actor: "somebody"}, Event: &EventSetLimits{Change: &desired}})
	switch {
	case refused == "" && (desired.Err != nil || len(lines) != len(limits)):
		w.t.Fatalf("%v: want it taken and reported, have %v, %v", limits, lines, desired.Err)
	case refused != "" && (desired.Err == nil || !strings.Contains(desired.Err.Error(), refused) || len(w.records) != records):
		w.t.Errorf("%v: want it refused because %q and nothing recorded, have %v and %d records", limits, refused, desired.Err, len(w.records)-records)
	}
}

func TestAPersonMakesLimitsTighterAndNeverLooser(t *testing.T) {
	t.Parallel()
	for _, scope := range []string{"", "one"} {
		desired := exchange.Quantity(10)
		file := risk.Limits{MaxGrossExposure: exchange.RateOne, MaxDailyLoss: risk.Loss{Share: exchange.RateOne / 20}}
		w := desiring(t, &desired, protected, accountLimits(file), ownLimits(file))
		w.pass(10_000)
		w.wantHeld(10)
		w.tightens("not tighter than 1", scope, Setting{risk.MaxGrossExposure, "2"})
		w.tightens("not tighter than 5%", scope, Setting{risk.MaxGrossExposure, "0.001"}, Setting{risk.MaxDailyLoss, "6%"}) // all or nothing
		w.tightens("already as configured", scope, Setting{risk.MaxGrossExposure, ""})
		w.tightens("unknown limit", scope, Setting{"max_fun", "1"})
		w.tightens("no limit is given", scope)
		w.tightens(`no strategy "nobody"`, "nobody", Setting{risk.MaxOpenOrders, "1"})
		w.tightens("", scope, Setting{risk.MaxGrossExposure, "0.001"})
		desired = 20
		w.pass(20_000)
		w.wantHeld(10) // nothing is added, and nothing is closed
		w.wantOpen(1)
		row := map[string]string{"": "account futures", "one": "strategy one"}[scope]
		if u := w.utilization(
			row,
			risk.MaxGrossExposure,
		); u.Set == nil || u.Set.By != "somebody" || u.Set.Reason != "a test" || u.Set.Value != "0.001" ||
			u.Set.AtMS == 0 {
			t.Errorf("want who set it, have %+v", u.Set)
		}
		w.start() // it survives a restart
		w.pass(20_000)
		w.wantHeld(10)
		w.change(Reload{Limits: &w.config.Limits}) // and a reload that does not concern it
		w.pass(20_000)
		w.wantHeld(10)
		w.tightens("", scope, Setting{risk.MaxGrossExposure, "0.5"}) // looser than before, tighter than the file
		w.pass(20_000)
		w.wantHeld(20)
		w.tightens("", scope, Setting{risk.MaxGrossExposure, "0.001"})
		desired = 30
		w.pass(20_000)
		w.wantHeld(20)
		w.tightens("", scope, Setting{risk.MaxGrossExposure, ""})
		w.pass(20_000)
		w.wantHeld(30)
		if len(w.engine.Tracker().SetLimits()) != 0 {
			t.Errorf("want nothing set any more, have %+v", w.engine.Tracker().SetLimits())
		}
	}
}

func TestAStrategysLimitIsNotLooserThanTheAccounts(t *testing.T) {
	t.Parallel()
	w := newWorld(t, hold(10), accountLimits(risk.Limits{MaxOpenOrders: 5}))
	w.tightens("which is the account's limit", "one", Setting{risk.MaxOpenOrders, "6"})
	w.tightens("", "one", Setting{risk.MaxOpenOrders, "4"})
	w.tightens("", "one", Setting{risk.MaxPosition, "0.5"})
	w.tightens("name the strategy", "", Setting{risk.MaxPosition, "0.5"})
}

func TestEquallyTightConfigurationReplacesManualLimit(t *testing.T) {
	t.Parallel()
	for _, restarts := range []bool{false, true} {
		w := newWorld(t, hold(10), accountLimits(risk.Limits{MaxOpenOrders: 100}))
		w.pass(5_000)
		w.tightens("", "", Setting{risk.MaxOpenOrders, "10"})
		for _, c := range []struct{ file, inForce, set int }{{50, 10, 1}, {10, 10, 0}, {100, 100, 0}} {
			w.config.Limits.MaxOpenOrders = c.file
			if limits := w.config.Limits; restarts {
				w.start()
			} else {
				w.change(Reload{Limits: &limits})
			}
			if have := w.engine.config.Limits.MaxOpenOrders; have != c.inForce || len(w.engine.Tracker().SetLimits()) != c.set {
				t.Errorf(
					"the file sets %d, restart %t: want %d in force and %d set, have %d and %+v",
					c.file,
					restarts,
					c.inForce,
					c.set,
					have,
					w.engine.Tracker().SetLimits(),
				)
			}
		}
	}
}

// A limit set for a strategy that is no longer configured stays, because the strategy may return.
func TestALimitOfAStrategyThatIsNotConfiguredStays(t *testing.T) {
	t.Parallel()
	w := settled(t)
	for strategy, value := range map[string]string{"gone": "7", "one": "7"} {
		w.engine.tracker.Apply(&record.Record{AtMS: w.now, Strategy: strategy, Body: record.Limit{Rule: risk.MaxOpenOrders, Value: value, By: "somebody"}})
	}
	w.engine.legs[0].limits.configured = risk.Limits{MaxOpenOrders: 5} // the configuration is tighter by now
	w.engine.limitsInForce.lapse()
	if have := w.engine.tracker.SetLimits(); len(have) != 1 || have[0].Strategy != "gone" {
		t.Errorf("want that of the one that is gone alone, have %+v", have)
	}
}

// The limit acts immediately, not with the next round.
func TestALimitThatIsPassedAlreadyActsAsItIsSet(t *testing.T) {
	t.Parallel()
	w := settled(t)
	w.engine.tracker.Apply(&record.Record{AtMS: w.now, Body: record.Day{StartMS: exchange.Day1.OpenOf(w.now), Equity: exchange.AmountOf(90_000),
		Peak: exchange.AmountOf(90_000), Markets: "futures"}})
	w.tightens("", "", Setting{risk.MaxDrawdown, "5 USDT"})
	w.wantState("limit")
}
