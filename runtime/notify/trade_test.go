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
		trades.Report(entry(1))
		trades.Report(exit("stop_loss"))
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
			trades.Report(entry(n))
			trades.Report(exit("exit"))
			time.Sleep(time.Minute)
		}
		trades.Report(exit("stop_loss"))
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
		if trades.Report(entry(99)); len(sent()) != len(have)+1 {
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
			trades.Report(entry(n))
		}
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		trades.Run(ctx)
		if last := have[len(have)-1]; !strings.HasSuffix(last.Text, "\ngrid: opened 1") {
			t.Errorf("want the rest, have %q", last.Text)
		}
	})
}

// TestHowManyTradesAreAlone covers 12 trades that strategies decided, and 24 that they did not, in an hour: each message of the others is a
// line of the digest.
func TestHowManyTradesAreAlone(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		by    string
		alone int
	}{{"", 12}, {"exit", 12}, {"exit_order", 12}, {"stop_loss", 24}, {"take_profit", 24}, {"liquidation", 24}, {"manual", 24}} {
		sent := 0
		trades := &Trades{Notify: func(Event) { sent++ }}
		began := time.UnixMilli(1_700_000_000_000)
		take := func(after time.Duration) {
			trades.Report(&Trade{At: began.Add(after), Name: "trade.closed", Strategy: "grid", By: c.by})
		}
		for range c.alone + 3 {
			take(0)
		}
		if sent != c.alone {
			t.Errorf("by %q: want %d alone, have %d", c.by, c.alone, sent)
		}
		trades.flush(began.Add(time.Hour-1), false)
		if sent != c.alone {
			t.Errorf("by %q: want no digest before the hour is over, have %d", c.by, sent-c.alone)
		}
		trades.flush(began.Add(time.Hour), false)
		trades.flush(began.Add(time.Hour), false)
		if sent != c.alone+1 {
			t.Errorf("by %q: want one digest when it is over, have %d", c.by, sent-c.alone)
		}
		if take(time.Hour - 1); sent != c.alone+1 {
			t.Errorf("by %q: want the hour's count to stand within it", c.by)
		}
		trades.flush(began.Add(time.Hour), false)
		if take(time.Hour); sent != c.alone+3 {
			t.Errorf("by %q: want a line each in the next hour, have %d", c.by, sent-c.alone-2)
		}
	}
}

func TestADigestHasALineForEachStrategyAndAsset(t *testing.T) {
	t.Parallel()
	var last Event
	trades := &Trades{Notify: func(e Event) { last = e }}
	at := time.UnixMilli(1_700_000_000_000) // 22:13:20 UTC
	for range tradesAlone {
		trades.Report(&Trade{At: at, Name: "trade.opened"})
	}
	for _, trade := range []Trade{
		{Name: "trade.opened", Strategy: "trend"}, {Name: "trade.changed", Strategy: "trend"}, {Name: "trade.changed", Strategy: "trend"},
		{Name: "trade.closed", Strategy: "trend", By: "exit", Net: exchange.MustAmount("12.5"), Asset: "USDT"},
		{Name: "trade.closed", Strategy: "trend", By: "exit_order", Net: exchange.MustAmount("-0.004"), Asset: "USDT"},
		{Name: "trade.closed", Strategy: "trend", By: "exit", Net: exchange.MustAmount("-3"), Asset: "BTC"},
		{Name: "trade.changed", Strategy: "grid"},
	} {
		trade.At = at
		trades.Report(&trade)
	}
	trades.flush(at, true)
	want := Event{At: at, Name: "trade.digest", Subject: "digest of trades", Text: "trades since 22:13 beyond those listed\n" +
		"grid: changed 1\ntrend: closed 1 by exit, net -3.00 BTC\ntrend: opened 1, changed 2, closed 1 by exit, closed 1 by exit_order, net +12.50 USDT"}
	if last != want {
		t.Errorf("want\n%+v, have\n%+v", want, last)
	}
}
