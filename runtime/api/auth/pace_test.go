package auth

import (
	"fmt"
	"net/http/httptest"
	"testing"
	"time"
)

func TestUnknownClientsAreSlowedDownBySourceAndALoginIsNot(t *testing.T) {
	t.Parallel()
	g, now := NewGuard(Config{Tokens: Tokens{Operator: "the operator's token"}}), time.Unix(1e9, 0)
	denied := func(method, path, source, token string) bool {
		r := httptest.NewRequest(method, path, nil)
		r.RemoteAddr = source + ":1"
		if token != "" {
			r.Header.Set("Authorization", "Bearer "+token)
		}
		requester := g.Identify(r, now)
		return g.Pace(r, &requester, now) != nil
	}
	for i := range unknownBurst {
		if denied("GET", "/metrics", "192.0.2.1", "") {
			t.Fatalf("request %d of a burst of %d: want it let in", i+1, unknownBurst)
		}
	}
	if !denied("GET", "/metrics", "192.0.2.1", "") {
		t.Error("want a request beyond the burst denied")
	}
	if !denied("GET", "/api/v1/status", "192.0.2.1", "a wrong one") {
		t.Error("want a wrong token to count as none")
	}
	if denied("GET", "/api/v1/status", "192.0.2.1", "the operator's token") || denied("POST", LoginPath, "192.0.2.1", "") {
		t.Error("want the operator's token and a login let in from the same address")
	}
	if denied("GET", "/metrics", "192.0.2.2", "") {
		t.Error("want another address let in")
	}
	now = now.Add(time.Second)
	if denied("GET", "/metrics", "192.0.2.1", "") {
		t.Error("want requests let in again a second later")
	}
	for i := range 3 * maxSources {
		denied("GET", "/metrics", fmt.Sprintf("10.0.%d.%d", i>>8, i&255), "")
	}
	if have := len(g.unknown.sources); have > maxSources+1 {
		t.Errorf("want at most %d sources counted, have %d", maxSources+1, have)
	}
}

func TestMarketDataIsPacedByCredential(t *testing.T) {
	t.Parallel()
	g, now := NewGuard(Config{}), time.Unix(1e9, 0)
	viewer, named, operator := Identity{Role: Viewer}, Identity{Role: Viewer, Key: Key{Hash: "h"}}, Identity{Role: Operator}
	for range marketBurst {
		if g.PaceMarket(&viewer, now) != nil {
			t.Fatal("want a burst let in")
		}
	}
	if g.PaceMarket(&viewer, now) == nil {
		t.Error("want what exceeds the burst denied")
	}
	if g.PaceMarket(&named, now) != nil || g.PaceMarket(&operator, now) != nil {
		t.Error("want other credentials let in")
	}
}

// The pace is 200 and 50 for an unknown address, 60 and 10 for market data of a credential.
func TestAPaceIsABurstAndThenSoManyASecond(t *testing.T) {
	t.Parallel()
	g, now := NewGuard(Config{}), time.Unix(1e9, 0)
	for _, c := range []struct {
		pace             *pace
		burst, perSecond int
	}{{&g.unknown, 200, 50}, {&g.market, 60, 10}} {
		for _, step := range []struct {
			after time.Duration
			want  int
		}{{0, c.burst}, {time.Second, c.perSecond}, {time.Minute, c.burst}} {
			now = now.Add(step.after)
			have := 0
			for c.pace.allow("a", now) {
				have++
			}
			if have != step.want {
				t.Errorf("%s later: want %d let in, have %d", step.after, step.want, have)
			}
		}
		if c.pace.allow("b", now); len(c.pace.sources) != 2 {
			t.Errorf("want two sources counted, have %d", len(c.pace.sources))
		}
		now = now.Add(time.Minute) // both are forgotten
		if c.pace.allow("c", now); len(c.pace.sources) != 1 {
			t.Errorf("want the newest counted alone, have %d", len(c.pace.sources))
		}
	}
}

// A thousand sources are counted separately.
func TestTheRestOfManySourcesSharesOnePace(t *testing.T) {
	t.Parallel()
	p, now := pace{perSecond: 1, burst: 2}, time.Unix(1e9, 0)
	for n := range 1_000 {
		if !p.allow(fmt.Sprint(n), now) {
			t.Fatalf("source %d: want it let in", n)
		}
	}
	for n, want := range []bool{true, true, false} {
		if have := p.allow(fmt.Sprint("beyond ", n), now); have != want {
			t.Errorf("source %d beyond: want let in %t, have %t", n+1, want, have)
		}
	}
	if !p.allow("7", now) || p.allow("7", now) {
		t.Error("want one that is counted alone to have its own pace")
	}
}
