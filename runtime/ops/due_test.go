package ops

import (
	"testing"

	"botd/exchange"
	"botd/runtime/engine"
	"botd/runtime/incident"
)

// TestAStrategyThatIsOverdueStaysDue has the engine retry every few seconds. The gauge once moved with each
// attempt, and no alert could fire.
func TestAStrategyThatIsOverdueStaysDue(t *testing.T) {
	t.Parallel()
	m := NewMetrics("demo", Build{})
	symbol := &exchange.Symbol{Market: exchange.Futures, Name: "BTC-USDT"}
	for _, c := range []struct {
		name                  string
		nowMS, tickMS, nextMS int64
		want                  float64
	}{
		{"due in a minute", 60_000, 60_000, 120_000, 120},
		{"a sooner schedule", 61_000, 60_000, 90_000, 90},
		{"due", 90_000, 60_000, 90_000, 90},
		{"tried again later", 91_000, 60_000, 95_000, 90},
		{"and once more", 300_000, 60_000, 305_000, 90},
		{"it has decided", 306_000, 305_000, 360_000, 360},
		{"nothing is scheduled", 400_000, 305_000, 0, 0},
	} {
		m.Status(&engine.Status{NowMS: c.nowMS, Strategies: []engine.StrategyStatus{{Name: "one", Symbol: symbol, TickMS: c.tickMS, NextMS: c.nextMS}}})
		if have := value(t, m, "botd_strategy_next_cycle_timestamp_seconds", "strategy=one"); have != c.want {
			t.Errorf("%s: want it due at %g, have %g", c.name, c.want, have)
		}
	}
}

func TestOpenIncidentsAreCountedByKindAndSeverity(t *testing.T) {
	t.Parallel()
	m := NewMetrics("demo", Build{})
	m.Incidents([]incident.Incident{{Kind: "blind", Severity: incident.Critical}, {Kind: "blind", Severity: incident.Critical},
		{Kind: "unheard of", Severity: incident.Warning}})
	for kind, want := range map[string]float64{"blind": 2, "stale": 0, other: 0} {
		if have := value(t, m, "botd_incidents_open", "kind="+kind, "severity=critical"); have != want {
			t.Errorf("%s: want %g, have %g", kind, want, have)
		}
	}
	if have := value(t, m, "botd_incidents_open", "kind="+other, "severity=warning"); have != 1 {
		t.Errorf("want the unknown kind counted as other, have %g", have)
	}
	m.Incidents(nil)
	if have := value(t, m, "botd_incidents_open", "kind=blind", "severity=critical"); have != 0 {
		t.Errorf("want none open, have %g", have)
	}
}

func TestFreeSpaceIsReadAtEachScrape(t *testing.T) {
	t.Parallel()
	m := NewMetrics("demo", Build{})
	free := int64(5)
	m.WatchFree(func() (int64, bool) { free *= 2; return free, true })
	m.Scraped(nil)
	m.Scraped(nil)
	if have := value(t, m, "botd_store_free_bytes"); have != 20 {
		t.Errorf("want the newest, 20, have %g", have)
	}
}
