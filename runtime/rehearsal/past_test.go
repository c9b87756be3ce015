package rehearsal

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/shopspring/decimal"

	"botd/configs"
	"botd/exchange"
	"botd/internal/failure"
	"botd/reconcile/journal"
	"botd/reconcile/placement"
	"botd/reconcile/record"
	"botd/runtime/gateway"
	"botd/strategy"
	"botd/strategy/library"
	"botd/strategy/script"
)

const minute = 60_000

// house is a demo whose one strategy trades BTC-USDT by the minute, and its journal.
type house struct {
	config *configs.Config
	symbol *exchange.Symbol
	venue  *gateway.Public
	asked  []exchange.Request
	most   int   // candles of an answer
	fails  error // of the venue
}

const crossing = "strategy: sma_cross\nparams: {fast: 1, slow: 2}\n"

// newHouse writes configuration and journal. The venue's candles close at 100, but that of minute 9 at 110.
func newHouse(t *testing.T, records ...record.Record) *house {
	t.Helper()
	return newHouseOf(t, crossing, records...)
}

// newHouseOf is newHouse with a strategy of this text.
func newHouseOf(t *testing.T, text string, records ...record.Record) *house {
	t.Helper()
	directory := t.TempDir()
	for name, text := range map[string]string{"botd.yaml": "mode: demo\ndata_dir: " + filepath.Join(directory, "data") + "\n",
		"strategies/trend.yaml": "name: trend\nmarket: futures\nsymbol: BTC-USDT\ninterval: 1m\nsize: {quantity: 0.02}\n" + text} {
		path := filepath.Join(directory, name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), os.WriteFile(path, []byte(text), 0o600)); err != nil {
			t.Fatal(err)
		}
	}
	config, problems := configs.LoadDirectory(directory, configs.Options{Registry: strategy.NewRegistry(append(library.All(), script.Rules())...)})
	if config == nil {
		t.Fatal(problems)
	}
	symbol, err := exchange.NewSymbol(exchange.SymbolSpec{Market: exchange.Futures, Name: "BTC-USDT", Base: "BTC", Quote: "USDT",
		PriceTick: decimal.RequireFromString("0.1"), QuantityTick: decimal.RequireFromString("0.001"), MaxNotional: decimal.NewFromInt(1_000_000),
		Tradable: true})
	if err != nil {
		t.Fatal(err)
	}
	h := &house{config: config, symbol: symbol, most: 1_500}
	h.venue = &gateway.Public{Where: "the venue", Symbols: []*exchange.Symbol{symbol}, Do: func(_ context.Context, r exchange.Request) (exchange.Answer,
		error) {
		h.asked = append(h.asked, r)
		candles := &exchange.Candles{Interval: r.Interval}
		for at := r.StartMS - r.StartMS%minute; at <= r.EndMS && candles.Len() < h.most; at += minute {
			price := exchange.Price(100e8)
			if at == 9*minute {
				price = 110e8
			}
			candles.Append(exchange.Candle{OpenMS: at, Open: price, High: price, Low: price, Close: price})
		}
		return exchange.Answer{Operation: r.Operation, Candles: candles}, h.fails
	}}
	if len(records) == 0 {
		return h
	}
	store, err := journal.Open(t.Context(), filepath.Join(config.DataDir, "demo", journal.FileName), journal.Binding{Mode: "demo"}, journal.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(store.Append(t.Context(), records), store.Close()); err != nil {
		t.Fatal(err)
	}
	return h
}

func (h *house) at(t *testing.T, atMS int64) (*Past, error) {
	t.Helper()
	return At(t.Context(), h.config, &h.config.Strategies[0], h.symbol, h.venue, atMS)
}

func lines(p *Past) (all []string) {
	for _, one := range p.Happened {
		all = append(all, fmt.Sprintf("%g %s %s", float64(one.AtMS)/minute, one.Kind, one.What))
	}
	return all
}

// TestWhatWasDecidedAtAMoment covers an entry, and moments before and after the candle that crossed.
func TestWhatWasDecidedAtAMoment(t *testing.T) {
	t.Parallel()
	of := func(at float64, id string, body record.Body) record.Record {
		r := record.Record{AtMS: int64(at * minute), ClientOrderID: id, Body: body}
		if id != "" {
			r.Strategy, r.Symbol = "trend", exchange.SymbolKey{Market: exchange.Futures, Name: "BTC-USDT"}
		}
		return r
	}
	order := exchange.NewOrder{ClientOrderID: "a", Market: exchange.Futures, Symbol: "BTC-USDT", Side: exchange.Buy, Type: exchange.Limit, Quantity: 20,
		Price: 110e8}
	other := record.Record{AtMS: 8 * minute, Strategy: "grid", Symbol: exchange.SymbolKey{Market: exchange.Spot, Name: "ETH-USDT"}, Body: record.Memory{}}
	foreign := record.Record{AtMS: 6 * minute, Symbol: exchange.SymbolKey{Market: exchange.Spot, Name: "ETH-USDT"},
		Body: record.Quarantined{Reason: "of another symbol"}}
	noted := record.Record{AtMS: 9*minute + 6_000, Strategy: "trend", Body: record.Latch{}}
	h := newHouse(t, of(1, "", record.Boot{Epoch: 1}), noted, of(4.9, "", record.Halt{Level: record.LevelPause, Reason: "too early to be shown"}),
		of(5, "", record.Halt{Reason: "rearmed"}), other, of(10.1, "a", record.Sending{Purpose: placement.Entry, Order: order}),
		of(10.2, "a", record.Fill{OrderID: 7, Filled: 5, Price: exchange.AmountOf(110)}),
		of(10.9, "a", record.Ended{OrderID: 7, State: placement.Canceled, Filled: 15, Evidence: "GET"}), of(11, "", record.Halt{Reason: "at the end"}),
		of(11.1, "", record.Halt{Reason: "too late to be shown"}), foreign)
	p, err := h.at(t, 10*minute)
	if err != nil {
		t.Fatal(err)
	}
	want := []string{"9.1 latch " + p.Happened[0].What, "5 halt " + p.Happened[1].What, "10.1 sending a entry: BUY LIMIT 0.02 at 110",
		"10.2 fill a, filled 0.005 at 110",
		"10.9 ended a canceled, filled 0.015 (GET)", "11 halt " + p.Happened[len(p.Happened)-1].What}
	if have := lines(p); strings.Join(have, "\n") != strings.Join(want, "\n") {
		t.Errorf("want\n%s, have\n%s", strings.Join(want, "\n"), strings.Join(have, "\n"))
	}
	d := p.Data
	if p.Schema != 1 || p.Strategy != "trend" || p.Kind != "sma_cross" || p.AtMS != 10*minute || p.NextMS != 10*minute || !p.Changes ||
		p.Plan.Target != "0.02 BTC-USDT" || p.InForce.Target != "" || d.Position != "0" || d.Close != "110" || d.CloseMS != 10*minute ||
		d.Candles != d.Warmup+1 || d.Last != "110" || d.LastMS != 10*minute || len(p.Blocks) != 0 || len(p.Conditions) == 0 {
		t.Errorf("want the cross and its target, have %+v", p.TickPreview)
	}
	if p, err = h.at(t, 9*minute); err != nil {
		t.Fatal(err)
	}
	if p.Plan.Target == "0.02 BTC-USDT" || p.Data.Close != "100" || len(p.Happened) != 3 {
		t.Errorf("a minute before: want no cross, the halt and its end, have %+v", p)
	}
	if p, err = h.at(t, 11*minute); err != nil {
		t.Fatal(err)
	}
	if p.Data.Position != "0.015" {
		t.Errorf("a minute later: want the position of then, have %s", p.Data.Position)
	}
}

// TestWhatBlockedAtAMoment covers everything that a journal may have against a strategy.
func TestWhatBlockedAtAMoment(t *testing.T) {
	t.Parallel()
	key := exchange.SymbolKey{Market: exchange.Futures, Name: "BTC-USDT"}
	order := exchange.NewOrder{ClientOrderID: "a", Market: exchange.Futures, Symbol: "BTC-USDT", Side: exchange.Buy, Type: exchange.MarketOrder, Quantity: 20}
	for _, c := range []struct {
		name string
		r    record.Record
		want string // the block, and its remedy; empty for none
	}{
		{"a halt of the account", record.Record{Body: record.Halt{Level: record.LevelCancel, Reason: "news"}},
			"halted account at level cancel: news | botd rearm"},
		{"a halt of another strategy", record.Record{Strategy: "grid", Body: record.Halt{Level: record.LevelCancel, Reason: "news"}}, ""},
		{"the breaker", record.Record{Body: record.Breaker{Reason: "5 refusals", UntilMS: 11 * minute}},
			"the breaker was tripped: 5 refusals | ended by itself 1970-01-01 00:11:00"},
		{"the breaker, over", record.Record{Body: record.Breaker{Reason: "5 refusals", UntilMS: 9 * minute}}, ""},
		{"a quarantine", record.Record{Symbol: key, Body: record.Quarantined{Reason: "5 steps more"}}, "quarantined: 5 steps more | botd resolve BTC-USDT"},
		{"a limit of the account", record.Record{Body: record.Breach{Rule: "daily_loss", Reason: "5 %"}},
			"the limit daily_loss was crossed: 5 % | docs/risk.md"},
		{"a limit of the strategy", record.Record{Strategy: "trend", Body: record.Breach{Rule: "max_losses", Reason: "4"}},
			"the limit max_losses was crossed: 4 | docs/risk.md"},
		{"a limit that was over", record.Record{Body: record.Breach{Rule: "daily_loss", Reason: "5 %", UntilMS: 9 * minute}}, ""},
		{"a latch", record.Record{Strategy: "trend", Symbol: key, Body: record.Latch{Side: 1}},
			"latched: a position of this side was ended by something other than its plan | released when the strategy's target is flat or the other side"},
		{"an order without an answer", record.Record{Strategy: "trend", Symbol: key, ClientOrderID: "a", Body: record.Sending{Purpose: placement.Entry,
			Order: order}},
			"placement a was sending | its outcome was fetched, never guessed"},
	} {
		c.r.AtMS = 8 * minute
		h := newHouse(t, record.Record{AtMS: 1, Body: record.Boot{Epoch: 1}}, c.r)
		p, err := h.at(t, 10*minute)
		if err != nil {
			t.Fatal(err)
		}
		var have []string
		for _, b := range p.Blocks {
			have = append(have, b.What+" | "+b.Remedy)
		}
		if strings.Join(have, ", ") != c.want {
			t.Errorf("%s: want %q, have %q", c.name, c.want, have)
		}
		if p, err = h.at(t, 7*minute); err != nil || len(p.Blocks) != 0 {
			t.Errorf("%s, a minute before: want no block, have %+v, %v", c.name, p, err)
		}
	}
}

// A halt latches the side before the position has ended.
func TestALatchDoesNotSayThatAHeldPositionEnded(t *testing.T) {
	t.Parallel()
	key := exchange.SymbolKey{Market: exchange.Futures, Name: "BTC-USDT"}
	h := newHouse(t, record.Record{AtMS: 1, Body: record.Boot{Epoch: 1}}, record.Record{AtMS: 2, Symbol: key, Body: record.Adopted{Quantity: 15}},
		record.Record{AtMS: 3, Strategy: "trend", Symbol: key, Body: record.Latch{Side: 1}})
	p, err := h.at(t, 10*minute)
	if err != nil || len(p.Blocks) != 1 || p.Blocks[0].What != "latched: a position of this side was being ended by something other than its plan" {
		t.Errorf("want the latch of a position that is still held, have %+v, %v", p, err)
	}
}

// TestAMomentThatCannotBeShown covers no journal, a moment before it, a venue that does not answer, and too few candles.
func TestAMomentThatCannotBeShown(t *testing.T) {
	t.Parallel()
	begun := record.Record{AtMS: 5 * minute, Body: record.Boot{Epoch: 1}}
	if _, err := newHouse(t).at(t, minute); failure.CodeOf(err) != failure.NoInput || !strings.Contains(err.Error(), "no journal at ") {
		t.Errorf("no journal: have %v", err)
	}
	h := newHouse(t, begun)
	_, err := h.at(t, 5*minute-1)
	if want := "the journal knows nothing of 1970-01-01 00:04:59: it begins at 1970-01-01 " +
		"00:05:00"; failure.CodeOf(err) != failure.Negative || !strings.Contains(err.Error(), want) {
		t.Errorf("before it: want %q, have %v", want, err)
	}
	if _, err := h.at(t, 5*minute); err != nil {
		t.Errorf("its first moment: have %v", err)
	}
	h.fails = &exchange.Unavailable{Reason: "timeout"}
	if _, err := h.at(t, 10*minute); failure.CodeOf(err) != failure.Unavailable {
		t.Errorf("a venue that does not answer: have %v", err)
	}
	h.fails, h.most = nil, 0
	p, err := h.at(t, 10*minute)
	if err != nil {
		t.Fatal(err)
	}
	if want := fmt.Sprintf("the venue reports 0 of the %d candles of its warm-up", p.Data.Warmup); len(p.Blocks) != 1 || p.Blocks[0].What != want || p.Changes {
		t.Errorf("no candles: want %q, have %+v", want, p.Blocks)
	}
}

// TestCandlesAreReadInPages uses a venue that answers with two at a time: closed ones alone count.
func TestCandlesAreReadInPages(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		atMS  int64
		least int
		want  string
		reads int
	}{{10 * minute, 5, "[300000 360000 420000 480000 540000]", 3}, {10*minute + 59_999, 5, "[300000 360000 420000 480000 540000]", 3},
		{3 * minute, 9, "[0 60000 120000]", 2}, {10 * minute, 1, "[540000]", 1}} {
		h := newHouse(t)
		h.most = 2
		have, err := candlesUntil(t.Context(), h.venue, h.symbol, exchange.Minute1, c.atMS, c.least)
		if err != nil || fmt.Sprint(have.OpenMS) != c.want || len(h.asked) != c.reads {
			t.Errorf("%d before %d: want %s in %d reads, have %v in %d, %v", c.least, c.atMS, c.want, c.reads, have.OpenMS, len(h.asked), err)
		}
		if r := h.asked[0]; r.Operation != exchange.FuturesCandles || r.Limit != 1_500 || r.EndMS != c.atMS || r.StartMS != max(0,
			c.atMS/minute*minute-int64(c.least)*minute) {
			t.Errorf("want the candles before it asked for, have %+v", r)
		}
	}
	h := newHouse(t)
	spot := *h.symbol
	spot.Market = exchange.Spot
	if _, err := candlesUntil(t.Context(), h.venue, &spot, exchange.Minute1, 10*minute,
		1); err != nil || h.asked[0].Operation != exchange.SpotCandles || h.asked[0].Limit != 500 {
		t.Errorf("on spot: want 500 at most, have %+v, %v", h.asked[0], err)
	}
}

func TestARecordInWords(t *testing.T) {
	t.Parallel()
	s := newHouse(t).symbol
	stop := exchange.NewOrder{Side: exchange.Sell, Type: exchange.StopMarket, Quantity: 20, StopPrice: 90e8}
	for _, c := range []struct {
		body record.Body
		want string
	}{
		{record.Found{Purpose: placement.StopLoss, Order: stop}, "a stop_loss: SELL STOP_MARKET 0.02 stop 90"},
		{record.Fill{Filled: 5}, "a, filled 0.005"}, {record.Fill{Price: exchange.AmountOf(7)}, "a at 7"}, {record.Fill{}, "a"},
		{record.Ended{State: placement.Filled, Filled: 20, Price: exchange.AmountOf(110)}, "a filled, filled 0.02 at 110"},
		{record.Plan{Plan: &strategy.Plan{Target: strategy.Flat(), Reason: "crossed"}}, "no position (crossed)"},
		{record.Plan{Plan: &strategy.Plan{}}, "nothing yet"}, {record.Priced{Quantity: -20}, "the target is -0.02"},
	} {
		r := record.Record{ClientOrderID: "a", Body: c.body}
		if have := recordText(&r, s); have != c.want {
			t.Errorf("%T: want %q, have %q", c.body, c.want, have)
		}
	}
}

// TestARehearsalDecidesAndSendsNothing starts the engine of a demo, with and without a journal in which it is halted.
func TestARehearsalDecidesAndSendsNothing(t *testing.T) {
	t.Parallel()
	for name, records := range map[string][]record.Record{"no journal": nil,
		"halted": {{AtMS: 1, Body: record.Boot{Epoch: 1}}, {AtMS: 2, Body: record.Halt{Level: record.LevelPause, Reason: "news"}}}} {
		h := newHouse(t, records...)
		all, err := Run(t.Context(), h.config)
		if err != nil || len(all) != 1 {
			t.Fatalf("%s: want a preview of the one strategy, have %+v, %v", name, all, err)
		}
		p := all[0]
		if p.Strategy != "trend" || p.Symbol != "BTC-USDT" || p.Data.Candles == 0 || p.Data.Last == "0" {
			t.Errorf("%s: want candles and a price, have %+v", name, p)
		}
		halted := false
		for _, b := range p.Blocks {
			halted = halted || strings.Contains(b.What, "news")
		}
		if halted != (records != nil) {
			t.Errorf("%s: want it halted %t, have %+v", name, records != nil, p.Blocks)
		}
		path := filepath.Join(h.config.DataDir, "demo", journal.FileName)
		if _, err := os.Stat(path); (err == nil) != (records != nil) {
			t.Errorf("%s: want no journal made, have %v", name, err)
		}
	}
}

// TestInvalidJournalEndsARehearsal uses another file in place of the journal.
func TestInvalidJournalEndsARehearsal(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	path := filepath.Join(h.config.DataDir, "demo", journal.FileName)
	if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), os.WriteFile(path, []byte("no database"), 0o600)); err != nil {
		t.Fatal(err)
	}
	if all, err := Run(t.Context(), h.config); err == nil {
		t.Errorf("want an error, have %+v", all)
	}
	if p, err := h.at(t, minute); err == nil {
		t.Errorf("want an error, have %+v", p)
	}
}
