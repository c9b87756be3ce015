package ops

import (
	"slices"
	"strings"
	"testing"

	"botd/risk"
	"botd/runtime/engine"
)

// labeled lists the series with a label of that value.
func labeled(t *testing.T, m *Metrics, value string) (series []string) {
	t.Helper()
	families, err := m.Registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	for _, family := range families {
		for _, metric := range family.Metric {
			for _, label := range metric.Label {
				if strings.Contains(label.GetValue(), value) {
					series = append(series, family.GetName())
				}
			}
		}
	}
	return series
}

func TestARemovedStrategyLeavesNoSeriesBehind(t *testing.T) {
	t.Parallel()
	m := NewMetrics("demo", Build{})
	status := running(t)
	status.Limits = []risk.Utilization{
		{Scope: "strategy hold", Strategy: "hold", Rule: risk.MaxDrawdown, Ratio: 0.9},
		{Scope: "account", Rule: risk.MaxDrawdown, Ratio: 0.9},
	}
	m.Status(status)
	for _, value := range []string{"hold", "ETH-USDT"} {
		if len(labeled(t, m, value)) == 0 {
			t.Fatalf("want series of %s", value)
		}
	}
	others := len(labeled(t, m, "trend"))
	left := *status
	left.Strategies = slices.DeleteFunc(slices.Clone(status.Strategies), func(s engine.StrategyStatus) bool { return s.Name == "hold" })
	left.Limits = status.Limits[1:]
	m.Status(&left)
	for _, value := range []string{"hold", "ETH-USDT"} {
		if have := labeled(t, m, value); len(have) > 0 {
			t.Errorf("want no series of %s, have %v", value, have)
		}
	}
	if have := len(labeled(t, m, "trend")); have != others || len(labeled(t, m, "account")) == 0 {
		t.Errorf("want the other's %d series left, have %d", others, have)
	}
	m.Status(status)
	if have := labeled(t, m, "hold"); len(have) == 0 {
		t.Error("want it back when it comes back")
	}
}
