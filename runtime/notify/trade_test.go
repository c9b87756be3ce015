package notify

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"botd/exchange"
)

func entry(n int) *Trade {
	return &Trade{At: time.Now(), Name: "trade.opened", Strategy: "grid", Text: fmt.Sprintf("grid opened %d", n)}
}

func exit(by string) *Trade {
	return &Trade{At: time.Now(), Name: "trade.closed", Strategy: "grid", Text: "grid closed by " + by, By: by, Net: exchange.MustAmount("-1.254"),
		Asset: "USDT"}
}

func TestFewTradesAreALineEach(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var have []string
		trades := &Trades{Notify: func(e Event) { have = append(have, e.Name+": "+e.Text) }}
		trades.Take(entry(1))
		trades.Take(exit("stop_loss"))
		want := "trade.opened: grid opened 1\ntrade.closed: grid closed by stop_loss"
		if text := strings.Join(have, "\n"); text != want {
			t.Errorf("want\n%s\nhave\n%s", want, text)
		}
	})
}

// TestManyTradesAreADigest has a grid trade every minute: a stop among the trades must still be noticeable.
func TestManyTradesAreADigest(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var mu sync.Mutex // guards all
		var all []Event
		trades := &Trades{Notify: func(e Event) { mu.Lock(); defer mu.Unlock(); all = append(all, e) }}
		sent := func() []Event { mu.Lock(); defer mu.Unlock(); return slices.Clone(all) }
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan struct{})
		go func() { defer close(done); trades.Run(ctx) }()
		for n := range 30 {
			trades.Take(entry(n))
			trades.Take(exit("exit"))
			time.Sleep(time.Minute)
		}
		trades.Take(exit("stop_loss"))
		if have := sent(); len(have) != tradesAlone+1 || have[tradesAlone].Text != "grid closed by stop_loss" {
			t.Errorf("want %d trades and the stop, have %d: %v", tradesAlone, len(have), have)
		}
		time.Sleep(time.Hour)
		synctest.Wait()
		want := "trades since 00:00 beyond those listed\ngrid: opened 24, closed 24 by exit, net -30.10 USDT"
		have := sent()
		if last := have[len(have)-1]; last.Name != "trade.digest" || last.Text != want {
			t.Errorf("want\n%s\nhave\n%s", want, last.Text)
		}
		if trades.Take(entry(99)); len(sent()) != len(have)+1 {
			t.Error("want the next hour to begin with lines again")
		}
		cancel()
		<-done
	})
}

func TestRestOfDigestIsSentAtStop(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var have []Event
		trades := &Trades{Notify: func(e Event) { have = append(have, e) }}
		for n := range tradesAlone + 1 {
			trades.Take(entry(n))
		}
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		trades.Run(ctx)
		if last := have[len(have)-1]; !strings.HasSuffix(last.Text, "\ngrid: opened 1") {
			t.Errorf("want the rest, have %q", last.Text)
		}
	})
}
