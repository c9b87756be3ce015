package process

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"botd/exchange"
	"botd/strategy"
)

// Bounds of a batch. It begins small and grows while its program answers quickly, because the
// process has limited processor time for each answer.
const (
	minBatch   = 2
	maxBatch   = 4_096
	quickBatch = 200 * time.Millisecond
	slowBatch  = time.Second
)

// batch holds decisions that a program has made at once and that have not been used yet.
type batch struct {
	most    int // candles of the next batch
	plans   []json.RawMessage
	at      int    // index of the next plan
	openMS  int64  // of the next plan's candle
	version uint64 // version of their views
	equity  exchange.Amount
	varies  func(at int) exchange.Amount // nil if the equity is constant
	from    int
}

var (
	same   = []byte("true") // the plan equals the one before
	absent = []byte("null") // the plan leaves everything unchanged
)

// left reports whether prepared decisions remain.
func (b *batch) left() bool { return b.at < len(b.plans) }

// Batch lets the program decide at the close of each of the candles.
func (r *Remote) Batch(v *strategy.View, candles *exchange.Candles, from, to int, equity func(at int) exchange.Amount) int {
	if !r.welcome.Batches {
		return from
	}
	r.current()
	b := &r.batch
	if b.left() {
		panic(fmt.Errorf("%d prepared decisions were not used", len(b.plans)-b.at))
	}
	r.sendCandles(v)
	b.most = max(b.most, minBatch)
	to = min(to, from+b.most)
	q := question{Type: typeDecideEach}
	r.see(v, &q)
	q.Last = "" // the closes are the last prices
	names := r.welcome.Columns
	if r.columns != nil && len(names) > 0 {
		to = min(to, from+max(1, columnsAtOnce/len(names)))
	}
	if len(v.Others) > 0 {
		to = min(to, from+columnsAtOnce/len(v.Others))
	}
	seen := *v
	var candle exchange.Candle
	for i := from; i < to; i++ {
		candles.Load(i, &candle)
		r.rows = r.welcome.append(r.rows, r.symbol, &candle)
		seen.SetHistory(candles, i+1)
		r.addOthers(&seen)
		if r.columns != nil && len(names) > 0 {
			q.Columns = append(q.Columns, newColumnRow(r.columns, names, candles.CloseMS(i)))
		}
		if equity != nil {
			q.Equities = append(q.Equities, equity(i))
		}
	}
	q.Candles, q.Others = r.welcome.member(r.rows), r.takeOthers(v)
	began := time.Now()
	r.send(&q)
	r.rows = r.rows[:0]
	a := r.receive(typePlans)
	if equity != nil {
		r.view = r.view[:0] // the program's view has moved on
	}
	r.adapt(to-from, time.Since(began))
	if err := r.prepared(a.Plans, to-from); err != nil {
		r.lose(err.Error())
	}
	b.plans, b.at, b.openMS, b.version = a.Plans, 0, candles.OpenMS[from], v.Version
	b.equity, b.varies, b.from = v.Equity, equity, from
	end := from + len(a.Plans)
	r.last = string(appendScaled(nil, int64(candles.Close[end-1]), r.symbol.PriceScale))
	return end
}

// adapt sets the number of candles of the next batch.
func (r *Remote) adapt(candles int, took time.Duration) {
	switch b := &r.batch; {
	case took > slowBatch:
		b.most = max(minBatch, b.most/4)
	case took < quickBatch && candles == b.most:
		b.most = min(maxBatch, 2*b.most)
	}
}

// prepared refuses plans that are not a valid answer to a batch of this many candles.
func (r *Remote) prepared(plans []json.RawMessage, candles int) error {
	if len(plans) == 0 || len(plans) > candles {
		return fmt.Errorf("it decides %d times at %d closes", len(plans), candles)
	}
	for i, plan := range plans {
		switch {
		case bytes.Equal(plan, absent):
		case bytes.Equal(plan, same):
			if !r.decided || len(r.plan.Notices()) > 0 {
				return errors.New("it repeats the previous plan, but there is none, or the plan has notices")
			}
		case i < len(plans)-1:
			return errors.New("it continues after a decision that changes its plan")
		}
	}
	return nil
}

// next returns the next prepared decision. The view must be the one for which it was made.
func (b *batch) next(v *strategy.View) (json.RawMessage, error) {
	equity := b.equity
	if b.varies != nil {
		equity = b.varies(b.from + b.at)
	}
	if v.Candle().OpenMS < b.openMS || v.Version != b.version || v.Equity.Cmp(equity) != 0 {
		return nil, errors.New("its decision was prepared for another state")
	}
	plan := b.plans[b.at]
	b.at++
	return plan, nil
}

// decidePrepared writes a prepared decision.
func (r *Remote) decidePrepared(v *strategy.View, plan *strategy.Plan) {
	text, err := r.batch.next(v)
	if err != nil {
		panic(err)
	}
	switch {
	case bytes.Equal(text, absent):
		return
	case bytes.Equal(text, same):
		repeat(plan, &r.plan)
		return
	}
	var info planJSON
	if err := json.Unmarshal(text, &info); err != nil {
		r.lose("its answer cannot be read: " + err.Error())
	}
	r.read(&info, v.Symbol, plan)
}

// read writes the program's answer, rounded by the rules, into a plan and saves it for later answers that repeat it.
func (r *Remote) read(info *planJSON, rules *exchange.Symbol, plan *strategy.Plan) {
	if err := info.into(plan, rules); err != nil {
		panic(fmt.Errorf("its plan cannot be read: %w", err))
	}
	r.plan, r.decided = *plan.Clone(), true
}

// repeat copies a plan into an empty one.
func repeat(plan, before *strategy.Plan) {
	plan.Target, plan.Leverage, plan.Protection = before.Target, before.Leverage, before.Protection
	plan.Reason, plan.SignalMS = before.Reason, before.SignalMS
	plan.OrdersSet, plan.ExitsSet = before.OrdersSet, before.ExitsSet
	plan.Orders, plan.Exits = append(plan.Orders, before.Orders...), append(plan.Exits, before.Exits...)
	for e := range before.Remembered().All() {
		plan.Remember(e.Key, e.Value)
	}
}
