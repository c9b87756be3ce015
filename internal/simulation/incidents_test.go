package simulation

import (
	"fmt"
	"testing"
)

// incident happened to another bot (docs/simulation.md) and is replayed on botd.
type incident struct {
	number int    // in the list of incidents
	source string // repository and issue
	was    string // what happened there
	play   func(t *testing.T)
}

// incidents holds all of them, by parts of the list.
var incidents = [][]incident{incidentsOfPlacing, incidentsOfRestarts, incidentsOfOrders, incidentsOfTheHouse}

// staging plays an incident on a stage and checks that everything converges after it.
func staging(play func(s *stage), plan planner, options ...staged) func(t *testing.T) {
	return func(t *testing.T) {
		s := newStage(t, plan, options...)
		play(s)
		s.finish()
	}
}

func TestIncident(t *testing.T) {
	t.Parallel()
	for _, part := range incidents {
		for _, i := range part {
			t.Run(fmt.Sprintf("%02d %s", i.number, i.source), func(t *testing.T) {
				t.Parallel()
				i.play(t)
			})
		}
	}
}

func TestSixtyOrMoreIncidentsArePlayedOnceEach(t *testing.T) {
	t.Parallel()
	played := map[int]bool{}
	for _, part := range incidents {
		for _, i := range part {
			if i.number < 1 || i.number > 79 || played[i.number] || i.source == "" || i.was == "" {
				t.Errorf("incident %d (%s): want a number of 1 to 79, once, with its source and what it was", i.number, i.source)
			}
			played[i.number] = true
		}
	}
	if len(played) < 60 {
		t.Errorf("want 60 incidents or more, have %d", len(played))
	}
}
