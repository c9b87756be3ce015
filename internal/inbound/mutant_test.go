package inbound

import (
	"testing"

	"botd/internal/mutant/mutanttest"
)

// TestRulesOfConnectionsShowWhenTheyAreBroken floods a server that an operator uses.
func TestRulesOfConnectionsShowWhenTheyAreBroken(t *testing.T) {
	mutanttest.Shown(t, "internal/inbound", map[string]func(testing.TB){"flood_shuts_out": mutanttest.Holds(func() bool {
		l := &Listener{limits: Limits{All: 4, Unknown: 8}, open: map[*connection]bool{}}
		operator := &connection{source: "one", rank: Operator}
		l.admit(operator)
		for range 8 {
			l.admit(&connection{source: "two"})
		}
		return l.open[operator]
	})})
}
