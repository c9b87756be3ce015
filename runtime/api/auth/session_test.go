package auth

import (
	"fmt"
	"net/http"
	"net/http/httptest"
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
	for i := range 101 { // a viewer's token that logs in again and again
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

// A session ends after twelve hours without use, and after seven days however busy it is (docs/security.md).
func TestASessionEndsAtItsLimits(t *testing.T) {
	t.Parallel()
	began := time.Unix(1_800_000_000, 0)
	var s sessions
	idle, busy := s.begin(session{role: Viewer}, began), s.begin(session{role: Operator}, began)
	find := func(value string, at time.Duration, want bool) {
		t.Helper()
		one, ends := s.find(value, began.Add(at))
		if open := one.role != Public; open != want || open && !ends.Equal(began.Add(at+12*time.Hour)) {
			t.Errorf("after %s: want it open %t, have %t until %v", at, want, open, ends)
		}
	}
	find(idle, 12*time.Hour, true) // this counts as a use
	find(idle, 24*time.Hour+time.Nanosecond, false)
	find(idle, time.Hour, false) // an ended session is forgotten
	for at := time.Duration(0); at <= 168*time.Hour; at += 12 * time.Hour {
		find(busy, at, true)
	}
	find(busy, 168*time.Hour+time.Nanosecond, false)
	if one, _ := s.find("a guess", began); one.role != Public || len(s.open) != 0 {
		t.Errorf("want nothing open for a guess, have %+v", one)
	}
}

// The limits are 20 of a credential, 60 viewers and 40 operators.
func TestTheSessionThatWasIdleLongestMakesRoom(t *testing.T) {
	t.Parallel()
	began := time.Unix(1_800_000_000, 0)
	for _, c := range []struct {
		name string
		role Role
		key  func(n int) string
		most int
	}{
		{"one credential", Viewer, func(int) string { return "one" }, 20},
		{"viewers", Viewer, func(n int) string { return fmt.Sprint(n) }, 60},
		{"operators", Operator, func(n int) string { return fmt.Sprint(n) }, 40},
	} {
		var s sessions
		var values []string
		for n := range c.most {
			values = append(values, s.begin(session{role: c.role, key: c.key(n)}, began.Add(time.Duration(n)*time.Second)))
		}
		for _, other := range []session{{role: Viewer + Operator - c.role, key: "one"}, {role: Viewer + Operator - c.role}} {
			values = append(values, s.begin(other, began))
		}
		if len(s.open) != c.most+2 {
			t.Errorf("%s: want %d of them and two others open, have %d", c.name, c.most, len(s.open))
		}
		s.find(values[0], began.Add(time.Hour)) // it is used
		values = append(values, s.begin(session{role: c.role, key: c.key(c.most)}, began.Add(time.Hour)))
		for i, value := range values {
			if one, _ := s.find(value, began.Add(time.Hour)); (one.role == Public) != (i == 1) {
				t.Errorf("%s: session %d: want the second alone ended, have role %v", c.name, i, one.role)
			}
		}
	}
}

// At most 20 links are valid.
func TestALinkIsGoodOnceForTenMinutes(t *testing.T) {
	t.Parallel()
	now := time.Unix(1_800_000_000, 0)
	var s sessions
	code, ends := s.link(now)
	late, _ := s.link(now)
	if !ends.Equal(now.Add(10*time.Minute)) || !s.redeem(code, ends) || s.redeem(code, now) || s.redeem(late, ends.Add(time.Nanosecond)) || s.redeem("", now) {
		t.Errorf("want it good once until %v", ends)
	}
	old, _ := s.link(now)
	s.link(now.Add(10 * time.Minute))
	if len(s.links) != 2 {
		t.Errorf("want both of ten minutes, have %d", len(s.links))
	}
	s.link(now.Add(10*time.Minute + time.Nanosecond))
	if len(s.links) != 2 || s.redeem(old, now) {
		t.Errorf("want what has ended forgotten, have %d", len(s.links))
	}
	for range 17 {
		s.link(now.Add(10 * time.Minute))
	}
	known := len(s.links)
	newest, _ := s.link(now.Add(10 * time.Minute))
	if known != 19 || len(s.links) != 20 || !s.redeem(newest, now.Add(10*time.Minute)) {
		t.Errorf("want 20 links, have %d after %d", len(s.links), known)
	}
}

// The delay is a second, doubled with each wrong token up to 30, for each address separately, and forgotten an hour after the last one.
func TestAWrongTokenDelaysTheNextWrongOne(t *testing.T) {
	t.Parallel()
	began := time.Unix(1_800_000_000, 0)
	var d delays
	now := began
	for n, want := range []time.Duration{1, 2, 4, 8, 16, 30, 30, 30, 30, 30, 30, 30, 30, 30} {
		if wait := d.wrong("a", now); wait != 0 {
			t.Errorf("wrong token %d, after the delay: want it judged, have %s to wait", n+1, wait)
		}
		if wait := d.wrong("a", now.Add(time.Millisecond)); wait != want*time.Second-time.Millisecond {
			t.Errorf("wrong token %d: want %s to wait, have %s", n+1, want*time.Second-time.Millisecond, wait)
		}
		if wait := d.wrong("a", now.Add(want*time.Second-time.Nanosecond)); wait != time.Nanosecond {
			t.Errorf("wrong token %d, just before: have %s to wait", n+1, wait)
		}
		now = now.Add(want * time.Second)
	}
	if wait := d.wrong("b", began); wait != 0 {
		t.Errorf("another address: have %s to wait", wait)
	}
	d.right("a")
	d.wrong("a", now)
	if wait := d.wrong("a", now); wait != time.Second {
		t.Errorf("after a right one: want a second, have %s", wait)
	}
	d.wrong("a", now.Add(time.Second))
	if wait := d.wrong("a", now.Add(time.Second)); wait != 2*time.Second {
		t.Errorf("want two seconds, have %s", wait)
	}
	d.wrong("a", now.Add(time.Hour+time.Second)) // an hour after
	if wait := d.wrong("a", now.Add(time.Hour+time.Second)); wait != 4*time.Second {
		t.Errorf("within the hour: want four seconds, have %s", wait)
	}
	d.wrong("a", now.Add(2*time.Hour+time.Second+time.Nanosecond))
	if wait := d.wrong("a", now.Add(2*time.Hour+time.Second+time.Nanosecond)); wait != time.Second {
		t.Errorf("an hour after the last: want a second, have %s", wait)
	}
}

// The cases are a login with a wrong token, and a role that is too low.
func TestDeniedRequestsNameReasonAndDelay(t *testing.T) {
	t.Parallel()
	now := time.Unix(1_800_000_000, 0)
	g := NewGuard(Config{Tokens: Tokens{Operator: "operator", Viewer: "viewer"}})
	request := httptest.NewRequest(http.MethodPost, "http://"+host+LoginPath, nil)
	for n, want := range []int{401, 429} {
		cookie, requester, denied := g.Login(request, "wrong", "", now)
		if cookie != nil || requester != (Identity{}) || denied == nil || denied.Status != want {
			t.Errorf("wrong token %d: want %d, have %v, %+v, %+v", n+1, want, cookie, requester, denied)
		}
		if want == 429 && (denied.Wait != 2*time.Second || denied.Code != "login_delay" ||
			denied.Error() != "too many wrong tokens from this address: try again in 2 s") {
			t.Errorf("have %+v", denied)
		}
	}
	cookie, requester, denied := g.Login(request, "viewer", "", now)
	if denied != nil || requester.Role != Viewer || requester.By != "session" || !requester.Ends.Equal(now.Add(12*time.Hour)) || requester.Linked() ||
		cookie.MaxAge != 7*24*3600 ||
		!cookie.HttpOnly || cookie.Secure || cookie.SameSite != http.SameSiteStrictMode || cookie.Path != "/" {
		t.Errorf("the right one: have %+v, %+v, %+v", requester, denied, cookie)
	}
	for _, c := range []struct {
		who     Identity
		minimum Role
		status  int
		code    string
	}{
		{Identity{}, Public, 0, ""}, {Identity{wait: time.Second}, Public, 0, ""}, {Identity{}, Viewer, 401, "credentials"},
		{Identity{wait: time.Second}, Viewer, 429, "login_delay"}, {Identity{Role: Viewer}, Viewer, 0, ""}, {Identity{Role: Viewer}, Operator, 403, "role"},
		{Identity{Role: Operator}, Viewer, 0, ""}, {Identity{Role: Operator}, Operator, 0, ""},
	} {
		if have := c.who.Admit(c.minimum); (have == nil) != (c.status == 0) || have != nil && (have.Status != c.status || have.Code != c.code) {
			t.Errorf("%+v for %s: want %d %s, have %+v", c.who, c.minimum, c.status, c.code, have)
		}
	}
}
