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
	first := s.begin(session{role: Viewer}, now)
	for i := range 2 * maxSessions {
		s.begin(session{role: Operator}, now.Add(time.Duration(i)*time.Second))
	}
	if len(s.open) > maxSessions {
		t.Errorf("want at most %d, have %d", maxSessions, len(s.open))
	}
	if one, _ := s.find(first, now.Add(time.Hour)); one.role != Nobody {
		t.Error("the session that was idle longest: want it ended")
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
