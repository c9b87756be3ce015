package server

import (
	"fmt"
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
	})
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
		if _, ok := b.spend("a"); !ok {
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
		if _, ok := b.spend(names...); !ok {
			t.Fatalf("request %d of %v: want it, have it refused", i+1, names)
		}
	}
	if _, ok := b.spend(names...); ok {
		t.Fatalf("request %d of %v: want it refused, have it", n+1, names)
	}
}
