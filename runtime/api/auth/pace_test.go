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
		who := g.Identify(r, now)
		return g.Pace(r, &who, now) != nil
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
