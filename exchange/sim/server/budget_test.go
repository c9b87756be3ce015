package server

import (
	"fmt"
	"net/http/httptest"
	"testing"
	"testing/synctest"
	"time"
)

func TestABudgetIsABucketOfNRefilledNASecond(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := newBudget(3)
		wantSpent(t, b, 3, "a")
		if retry, ok := b.spend("a"); ok || retry != 1 {
			t.Fatalf("the fourth: want retry 1 and false, have %d %v", retry, ok)
		}
		time.Sleep(time.Second / 3)
		wantSpent(t, b, 1, "a")
		time.Sleep(time.Hour)
		wantSpent(t, b, 3, "a")
		for range 2 { // the next token is a third of a second away, and stays there
			if retry, ok := b.spend("a"); ok || retry != 1 {
				t.Errorf("want retry 1, have %d %t", retry, ok)
			}
		}
	})
}

func TestRetryAfterIsInWholeSeconds(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := newBudget(1)
		wantSpent(t, b, 1, "a", "x")
		time.Sleep(400 * time.Millisecond)
		wantSpent(t, b, 1, "b")
		if retry, ok := b.spend("a", "b"); ok || retry != 1 {
			t.Errorf("want 1 s until both have a token, have %d %t", retry, ok)
		}
		time.Sleep(999 * time.Millisecond)
		if retry, ok := b.spend("a", "b"); ok || retry != 1 {
			t.Errorf("a millisecond before: want 1 s, have %d %t", retry, ok)
		}
		time.Sleep(time.Millisecond)
		if retry, ok := b.spend("a", "b"); !ok || retry != 0 {
			t.Errorf("want both to have one, have %d %t", retry, ok)
		}
	})
}

// Guessed keys create no buckets.
func TestABudgetIsAnAddressesAndAKnownKeys(t *testing.T) {
	t.Parallel()
	s := newServer(t, func(config *Config) { config.Budget = 5 })
	for _, c := range []struct{ address, key, want string }{
		{"192.0.2.1:4711", testKey, "[address 192.0.2.1 key KEY]"},
		{"192.0.2.1:4711", "nobody", "[address 192.0.2.1]"},
		{"192.0.2.1:4711", "", "[address 192.0.2.1]"},
		{"[2001:db8::1]:80", readKey, "[address 2001:db8::1 key READER]"},
		{"pipe", "", "[address pipe]"},
	} {
		r := httptest.NewRequest("GET", "/fapi/v1/ping", nil)
		r.RemoteAddr = c.address
		r.Header.Set("x-api-key", c.key)
		if have := fmt.Sprint(s.budgetNames(r)); have != c.want {
			t.Errorf("%+v: want %s, have %s", c, c.want, have)
		}
	}
	if have := newServer(t, nil).budgetNames(httptest.NewRequest("GET", "/fapi/v1/ping", nil)); have != nil {
		t.Errorf("without a budget: want no names, have %v", have)
	}
}

func TestARefusedRequestCostsNoTokens(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := newBudget(2)
		wantSpent(t, b, 2, "key a", "address x")
		for range 50 {
			if _, ok := b.spend("key b", "address x"); ok {
				t.Fatal("want no more for address x, have one")
			}
		}
		wantSpent(t, b, 2, "key b")
		time.Sleep(time.Second)
		wantSpent(t, b, 2, "key b", "address x")
	})
}

func TestABudgetOfZeroIsUnlimited(t *testing.T) {
	t.Parallel()
	b := newBudget(0)
	for range 10_000 {
		if retry, ok := b.spend("a"); !ok || retry != 0 {
			t.Fatal("want every request, have one refused")
		}
	}
}

func TestABudgetRemembersABoundedNumberOfNames(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := newBudget(1)
		for i := range 2 * maxBuckets {
			b.spend(fmt.Sprint("address ", i))
		}
		if have := len(b.buckets); have != maxBuckets {
			t.Errorf("want %d buckets, have %d", maxBuckets, have)
		}
		time.Sleep(2 * time.Second)
		wantSpent(t, b, 1, "address new")
		if have := len(b.buckets); have != 1 {
			t.Errorf("after a rest: want 1 bucket, have %d", have)
		}
	})
}

// wantSpent spends n tokens and expects the next request to be refused.
func wantSpent(t *testing.T, b *budget, n int, names ...string) {
	t.Helper()
	for i := range n {
		if retry, ok := b.spend(names...); !ok || retry != 0 {
			t.Fatalf("request %d of %v: want it, have it refused for %d s", i+1, names, retry)
		}
	}
	if _, ok := b.spend(names...); ok {
		t.Fatalf("request %d of %v: want it refused, have it", n+1, names)
	}
}
