package engine

import (
	"testing"

	"botd/risk"
)

// Every block of the gate is in the engine's list exactly once, and a condition without an effect of its own is a block of the gate.
func TestConditionsCoverTheBlocksOfTheGate(t *testing.T) {
	t.Parallel()
	gate, seen := map[string]bool{}, map[string]bool{}
	for _, b := range risk.Blocks() {
		gate[b.Name] = true
	}
	for _, c := range conditions() {
		if seen[c.name] {
			t.Errorf("%s is listed twice", c.name)
		}
		seen[c.name] = true
		if c.blocks == nil && c.declare == nil && c.ofLeg == nil && !gate[c.name] {
			t.Errorf("%s has no effect", c.name)
		}
		if c.meanwhile != "" && c.blocks == nil {
			t.Errorf("%s withdraws a queued opening, but blocks none", c.name)
		}
	}
	for name := range gate {
		if !seen[name] {
			t.Errorf("the gate refuses openings for %s, which the engine does not list", name)
		}
	}
}

func TestAnUnknownBlockIsRefusedLoudly(t *testing.T) {
	t.Parallel()
	defer func() {
		if recover() == nil {
			t.Error("want a panic")
		}
	}()
	gated("nothing")
}
