package auth

import (
	"fmt"
	"testing"
	"time"
)

func TestSessionsAreBounded(t *testing.T) {
	t.Parallel()
	var s sessions
	now := time.UnixMilli(1_700_000_000_000)
	at := func(i int) time.Time { return now.Add(time.Duration(i) * time.Second) }
	operator, named := s.begin(session{role: Operator}, now), s.begin(session{role: Viewer, key: "named"}, now)
	var viewers []string
	for i := range 101 { // a viewer's token that is used for logging in again and again
		viewers = append(viewers, s.begin(session{role: Viewer}, at(i)))
	}
	for what, value := range map[string]string{"the operator's": operator, "another viewer's": named, "the newest": viewers[100]} {
		if one, _ := s.find(value, at(101)); one.role == Public {
			t.Errorf("after 101 logins of one viewer: want %s session open, have it ended", what)
		}
	}
	if one, _ := s.find(viewers[100-maxOfOne], at(101)); one.role != Public {
		t.Errorf("want at most %d sessions of one credential", maxOfOne)
	}
	for i := range 300 { // many named tokens of both roles
		s.begin(session{role: Viewer, key: fmt.Sprint(i)}, at(200+i))
		s.begin(session{role: Operator, key: fmt.Sprint(i)}, at(200+i))
	}
	if have := len(s.open); have > maxViewers+maxOperators {
		t.Errorf("want at most %d sessions, have %d", maxViewers+maxOperators, have)
	}
	for range 2 * maxLinks {
		s.link(now)
	}
	if len(s.links) > maxLinks {
		t.Errorf("links: want at most %d, have %d", maxLinks, len(s.links))
	}
}

func TestSourcesOfWrongTokensAreBounded(t *testing.T) {
	t.Parallel()
	var d delays
	now := time.UnixMilli(1_700_000_000_000)
	for i := range 2 * maxSources {
		d.wrong(fmt.Sprintf("192.0.%d.%d", i/250, i%250), now)
	}
	if have := len(d.failed); have > maxSources+1 {
		t.Errorf("want at most %d sources, have %d", maxSources+1, have)
	}
	if wait := d.wrong("203.0.113.1", now); wait == 0 {
		t.Error("a source beyond the bound: want it to share the delay of the rest")
	}
}
