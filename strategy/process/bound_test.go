package process

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"testing"

	"botd/exchange"
	"botd/strategy"
)

func TestTheOtherEndRefusesMoreThanItsBounds(t *testing.T) {
	t.Parallel()
	setting, _ := views(t, 1)
	text, err := json.Marshal(NewHello("one", setting, nil))
	if err != nil {
		t.Fatal(err)
	}
	load := func(s strategy.Strategy) Load {
		return func(*Hello) (strategy.Strategy, []strategy.Parameter, error) { return s, nil, nil }
	}
	view := `{"type":"decide","view":{"position":{"quantity":"0","entry_price":"0"},"equity":"1","fills":{},"memory":{}`
	if err := Serve(strings.NewReader("\x01\x00\x00\x01"), io.Discard, load(holds{})); err == nil ||
		!strings.Contains(err.Error(), "longer than the bound of 16777216") {
		t.Errorf("a message beyond 16 MiB: have %v", err)
	}
	if err := Serve(bytes.NewReader(framed(string(text), view+"}}")), io.Discard, load(&long{})); err == nil ||
		!strings.Contains(err.Error(), "longer than the bound of 2097152") {
		t.Errorf("an answer beyond 2 MiB: have %v", err)
	}
	if err := Serve(bytes.NewReader(framed(string(text))), broken{}, load(holds{})); err == nil || !strings.Contains(err.Error(), "broken pipe") {
		t.Errorf("an answer that nobody reads: have %v", err)
	}
	for name, more := range map[string]string{
		"current rules without terms": `,"symbol":{"name":"X"}`,
		"a pair with a quantity below its unit": `,"pair":{"market":"spot","symbol":{"name":"X","base":"X","quote":"USDT","price_tick":"0.1",` +
			`"quantity_tick":"1","min_notional":"5","max_notional":"10"},"position":"1e40","last":"1"}`,
	} {
		if err := Serve(bytes.NewReader(framed(string(text), view+more+"}}")), io.Discard, load(holds{})); err == nil ||
			!strings.Contains(err.Error(), "read a view") {
			t.Errorf("%s: want it refused, have %v", name, err)
		}
	}
}

// long is a strategy whose reason takes three megabytes.
type long struct{ holds }

func (*long) Decide(_ *strategy.View, p *strategy.Plan) { p.Reason = strings.Repeat("x", 3<<20) }

// retaining is a strategy with this warm-up.
type retaining struct {
	holds
	warmup, least, most int
	opened              int64
}

func (k *retaining) Warmup() int { return k.warmup }

func (k *retaining) Candle(v *strategy.View) {
	if k.opened = v.Candle().OpenMS; k.opened >= int64(k.least)*60_000 && v.Closed() < k.least || v.Closed() > k.most {
		panic(fmt.Sprintf("%d candles at minute %d", v.Closed(), k.opened/60_000))
	}
	for n := range min(v.Closed(), 3) {
		if v.Back(n).OpenMS != k.opened-int64(n)*60_000 {
			panic(fmt.Sprintf("candle %d before minute %d is of %d", n, k.opened/60_000, v.Back(n).OpenMS/60_000))
		}
	}
}

// A strategy can look back at 4,096 candles, or at its warm-up and the newest one; twice as many are not held.
func TestTheOtherEndHoldsTheNewestCandles(t *testing.T) {
	t.Parallel()
	symbol := symbolOf(t)
	for _, k := range []*retaining{{least: 4_096, most: 8_192, warmup: 7}, {warmup: 5_000, least: 5_001, most: 10_002}} {
		s := &server{strategy: k, view: strategy.View{Symbol: symbol, Interval: exchange.Minute1}}
		if s.keep() != k.least {
			t.Errorf("a warm-up of %d: want %d candles, have %d", k.warmup, k.least, s.keep())
		}
		for i := range 21_000 {
			s.candle(&exchange.Candle{OpenMS: int64(i) * 60_000})
		}
		if k.opened != 20_999*60_000 {
			t.Errorf("want all shown, have up to %d", k.opened)
		}
	}
	for _, c := range []struct{ length, want int }{{5, 5}, {6, 3}, {7, 4}, {8, 4}} {
		old := &exchange.Candles{Interval: exchange.Minute1}
		for i := range c.length {
			old.Append(exchange.Candle{OpenMS: int64(i)})
		}
		have := shortened(old, 3)
		if have.Len() != c.want || have.OpenMS[have.Len()-1] != int64(c.length-1) || have.OpenMS[0] != int64(c.length-c.want) ||
			have.Interval != exchange.Minute1 {
			t.Errorf("%d candles of 3: want the newest %d, have %v", c.length, c.want, have.OpenMS)
		}
	}
	others := newReceivedOthers([]exchange.SymbolKey{{Market: exchange.Spot, Name: "X-USDT"}})
	for i := range 10 {
		row := fmt.Sprintf("[[%d,1,1,1,1,1,1,1,1,1]]", i)
		if err := others.store([]otherRows{{Market: exchange.Spot, Symbol: "X-USDT", Candles: json.RawMessage(row)}}, 2); err != nil {
			t.Fatal(err)
		}
		if have := others.all[0].Candles; have.Len() > 3 || have.OpenMS[have.Len()-1] != int64(i) {
			t.Errorf("want at most 3 of another symbol, have %v", have.OpenMS)
		}
	}
}
