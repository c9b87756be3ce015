package notify

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"botd/exchange"
)

// Trade is an entry, a changed position or an exit, for people.
type Trade struct {
	At       time.Time
	Name     string // trade.opened, trade.changed, trade.closed
	Strategy string
	Text     string
	By       string          // the cause of an exit: exit, stop_loss, take_profit, liquidation, manual; empty for an entry or a change
	Net      exchange.Amount // of an exit: the price difference less fees and funding
	Asset    string          // of Net
}

// Limits within an hour. Trades beyond them are counted and sent as one message at the end of the hour.
const (
	tradesAlone = 12 // entries, changes and exits with a message of their own
	stopsAlone  = 24 // exits that no strategy decided, with a message of their own: stops, targets, liquidations, manual exits
	digestEvery = time.Hour
)

// Trades passes trades to a notifier: singly as long as they are few, and the others in a digest. It is
// safe for concurrent use.
type Trades struct {
	Notify func(Event)

	mu     sync.Mutex // guards all below
	began  time.Time  // start of the hour
	plain  int
	forced int
	rest   map[string]*tradeSum // by strategy and asset
}

// tradeSum is a strategy's part of a digest.
type tradeSum struct {
	opened, changed int
	ended           map[string]int
	net             exchange.Amount
}

// Report passes a trade on, or counts it for the digest.
func (t *Trades) Report(trade *Trade) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if trade.At.Sub(t.began) >= digestEvery && t.rest == nil {
		t.began, t.plain, t.forced = trade.At, 0, 0
	}
	if t.alone(trade) {
		t.Notify(Event{At: trade.At, Name: trade.Name, Text: trade.Text, Subject: trade.Text})
		return
	}
	if t.rest == nil {
		t.rest = map[string]*tradeSum{}
	}
	key := trade.Strategy + "\x00" + trade.Asset
	if trade.Asset == "" {
		key += "USDT"
	}
	sum := t.rest[key]
	if sum == nil {
		sum = &tradeSum{ended: map[string]int{}}
		t.rest[key] = sum
	}
	switch trade.Name {
	case "trade.opened":
		sum.opened++
	case "trade.changed":
		sum.changed++
	default:
		sum.ended[trade.By]++
		sum.net = sum.net.Add(trade.Net)
	}
}

// alone counts a trade and reports whether it gets a message of its own.
func (t *Trades) alone(trade *Trade) bool {
	if trade.By != "" && trade.By != "exit" && trade.By != "exit_order" {
		t.forced++
		return t.forced <= stopsAlone
	}
	t.plain++
	return t.plain <= tradesAlone
}

// Run sends the digests until the context ends, and then the remaining trades.
func (t *Trades) Run(ctx context.Context) {
	ticker := time.NewTicker(time.Minute)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			t.flush(time.Now(), true)
			return
		case now := <-ticker.C:
			t.flush(now, false)
		}
	}
}

// flush sends the digest of an hour that has ended.
func (t *Trades) flush(now time.Time, last bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.rest == nil || !last && now.Sub(t.began) < digestEvery {
		return
	}
	text := "trades since " + t.began.UTC().Format("15:04") + " beyond those listed"
	for _, key := range slices.Sorted(maps.Keys(t.rest)) {
		strategy, asset, _ := strings.Cut(key, "\x00")
		text += "\n" + t.rest[key].text(strategy, asset)
	}
	t.rest = nil
	t.Notify(Event{At: now, Name: "trade.digest", Text: text, Subject: "digest of trades"})
}

func (s *tradeSum) text(strategy, asset string) string {
	parts := []string{}
	if s.opened > 0 {
		parts = append(parts, fmt.Sprintf("opened %d", s.opened))
	}
	if s.changed > 0 {
		parts = append(parts, fmt.Sprintf("changed %d", s.changed))
	}
	for _, by := range slices.Sorted(maps.Keys(s.ended)) {
		parts = append(parts, fmt.Sprintf("closed %d by %s", s.ended[by], by))
	}
	if len(s.ended) > 0 {
		parts = append(parts, "net "+Signed(s.net)+" "+asset)
	}
	return strategy + ": " + strings.Join(parts, ", ")
}

// Signed formats an amount of money in cents, with its sign.
func Signed(a exchange.Amount) string {
	text := a.Decimal().StringFixed(2)
	if a.Sign() > 0 {
		return "+" + text
	}
	return text
}
