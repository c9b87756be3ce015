package rehearsal

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"botd/configs"
	"botd/configs/engineconfig"
	"botd/exchange"
	"botd/internal/failure"
	"botd/reconcile"
	"botd/reconcile/journal"
	"botd/reconcile/placement"
	"botd/reconcile/record"
	"botd/runtime/gateway"
	"botd/strategy"
)

// rules is a strategy of one rule.
func rules(entry string) string { return "strategy: rules\nparams:\n  entry_long: '" + entry + "'\n" }

// The moment itself belongs to the past.
func TestARecordOfTheMomentCounts(t *testing.T) {
	t.Parallel()
	h := newHouse(t, record.Record{AtMS: 1, Body: record.Boot{Epoch: 1}},
		record.Record{AtMS: 10 * minute, Body: record.Halt{Level: record.LevelCancel, Reason: "news"}})
	for atMS, want := range map[int64]int{10 * minute: 1, 10*minute - 1: 0} {
		if p, err := h.at(t, atMS); err != nil || len(p.Blocks) != want {
			t.Errorf("at %d: want %d blocks, have %+v, %v", atMS, want, p, err)
		}
	}
}

// An order blocks a strategy while its fate is not known, and an order of another symbol does not.
func TestOrdersThatDoNotBlock(t *testing.T) {
	t.Parallel()
	order := exchange.NewOrder{ClientOrderID: "a", Market: exchange.Futures, Symbol: "BTC-USDT", Side: exchange.Buy, Type: exchange.Limit, Quantity: 20,
		Price: 90e8}
	own := exchange.SymbolKey{Market: exchange.Futures, Name: "BTC-USDT"}
	other := order
	other.Market, other.Symbol = exchange.Spot, "ETH-USDT"
	for name, records := range map[string][]record.Record{
		"it rests": {{AtMS: 2, Strategy: "trend", Symbol: own, ClientOrderID: "a", Body: record.Sending{Purpose: placement.Entry, Order: order}},
			{AtMS: 3, Strategy: "trend", Symbol: own, ClientOrderID: "a", Body: record.Acknowledged{OrderID: 7}}},
		"another symbol's": {{AtMS: 2, Strategy: "grid", Symbol: exchange.SymbolKey{Market: exchange.Spot, Name: "ETH-USDT"}, ClientOrderID: "a",
			Body: record.Sending{Purpose: placement.Entry, Order: other}}},
	} {
		p, err := newHouse(t, append([]record.Record{{AtMS: 1, Body: record.Boot{Epoch: 1}}}, records...)...).at(t, 10*minute)
		if err != nil || len(p.Blocks) != 0 {
			t.Errorf("%s: want no block, have %+v, %v", name, p, err)
		}
	}
}

// The strategy decides by what it had remembered, and by the equity of the day.
func TestADecisionOfThePastHasItsMemoryAndEquity(t *testing.T) {
	t.Parallel()
	own := exchange.SymbolKey{Market: exchange.Futures, Name: "BTC-USDT"}
	h := newHouseOf(t, rules(`view.memory.get("n", 0) == 7 and view.equity > 4321 and view.equity < 4322`), record.Record{AtMS: 1, Body: record.Boot{Epoch: 1}},
		record.Record{AtMS: 2, Body: record.Day{Equity: exchange.MustAmount("4321.5"), Peak: exchange.AmountOf(5_000)}},
		record.Record{AtMS: 3, Strategy: "trend", Symbol: own, Body: record.Memory{Entries: []strategy.MemoryVariable{{Key: "n", Value: 7}}}})
	p, err := h.at(t, 10*minute)
	if err != nil || p.Plan.Target != "0.02 BTC-USDT" || p.Data.Equity != "4321.5" {
		t.Errorf("want it long by both, have %+v, %v", p, err)
	}
}

// A strategy that reads another symbol decides by its candles: as many as its own warm-up and one more.
func TestADecisionOfThePastReadsOtherSymbols(t *testing.T) {
	t.Parallel()
	begun := record.Record{AtMS: 1, Body: record.Boot{Epoch: 1}}
	h := newHouseOf(t, rules(`sma(candles("1m", symbol = "ETH-USDT").close, 3) > 100`), begun)
	if p, err := h.at(t, 20*minute); err == nil || !strings.Contains(err.Error(), "ETH-USDT") {
		t.Errorf("a symbol that the venue does not have: want an error, have %+v", p)
	}
	ether := *h.symbol
	ether.Name = "ETH-USDT"
	h.venue.Symbols = append(h.venue.Symbols, &ether)
	h.asked = nil
	for at, want := range map[int64]string{20: "", 10: "0.02 BTC-USDT", 12: "0.02 BTC-USDT"} { // minute 9 closes above 100
		p, err := h.at(t, at*minute)
		if err != nil || p.Plan.Target != want {
			t.Errorf("minute %d: want %q, have %+v, %v", at, want, p, err)
			continue
		}
		for _, name := range []string{"BTC-USDT", "ETH-USDT"} {
			begins := max(0, at-int64(p.Data.Warmup)-1) * minute
			found := false
			for _, r := range h.asked {
				found = found || r.Symbol == name && r.StartMS == begins && r.EndMS == at*minute
			}
			if !found {
				t.Errorf("minute %d: want candles of %s from %d on, have %+v", at, name, begins, h.asked)
			}
		}
	}
}

// A start has as many candles as the warm-up needs, no candle at all, or one.
func TestADecisionOfThePastNeedsItsWarmup(t *testing.T) {
	t.Parallel()
	h := newHouseOf(t, rules("sma(close, 2) > 1"), record.Record{AtMS: 1, Body: record.Boot{Epoch: 1}})
	p, err := h.at(t, 30*minute)
	if err != nil || p.Data.Warmup < 2 {
		t.Fatalf("want a warm-up, have %+v, %v", p, err)
	}
	warmup := int64(p.Data.Warmup)
	for _, c := range []struct {
		candles    int64
		plan       string
		blocks     int
		conditions bool
	}{{warmup, "0.02 BTC-USDT", 0, true}, {warmup - 1, "", 1, true}, {1, "", 1, true}} {
		p, err := h.at(t, c.candles*minute)
		if err != nil || p.Plan.Target != c.plan || len(p.Blocks) != c.blocks || int64(p.Data.Candles) != c.candles || (len(p.Conditions) > 0) != c.conditions {
			t.Errorf("%d candles of %d: want %+v, have %+v, %v", c.candles, warmup, c, p, err)
		}
	}
	h.most = 0
	if p, err = h.at(t, 10*minute); err != nil || len(p.Conditions) != 0 || len(p.Blocks) != 1 {
		t.Errorf("no candle: want no conditions, have %+v, %v", p, err)
	}
}

// A strategy without conditions decides all the same.
func TestADecisionOfThePastWithoutConditions(t *testing.T) {
	t.Parallel()
	h := newHouseOf(t, "strategy: buy_and_hold\n", record.Record{AtMS: 1, Body: record.Boot{Epoch: 1}})
	p, err := h.at(t, 10*minute)
	if err != nil || p.Plan.Target != "0.02 BTC-USDT" || len(p.Conditions) != 0 {
		t.Errorf("want it to buy, have %+v, %v", p, err)
	}
}

func TestASettingThatTheStrategyDoesNotTakeIsAnError(t *testing.T) {
	t.Parallel()
	h := newHouseOf(t, "strategy: rules\nparams: {entry_short: close > 1}\n", record.Record{AtMS: 1, Body: record.Boot{Epoch: 1}})
	spot := *h.symbol
	spot.Market = exchange.Spot
	h.symbol = &spot
	h.config.Strategies[0].Market = exchange.Spot
	if p, err := h.at(t, 10*minute); err == nil || !strings.Contains(err.Error(), "spot has no short positions") {
		t.Errorf("want it refused, have %+v, %v", p, err)
	}
}

// The public data of a demo that does not run is a copy, which a running one replaces; another mode reads its venue.
func TestThePublicDataOfEachMode(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	v, err := OpenPublic(t.Context(), h.config)
	if err != nil || v.Where != "a copy of the demo's exchange" {
		t.Fatalf("want the copy, have %+v, %v", v, err)
	}
	if now := time.Now().UnixMilli(); v.NowMS() > now || v.NowMS() < now-60_000 {
		t.Errorf("want the present time, have %d", v.NowMS())
	}
	if s, err := v.Find("futures", "BTC-USDT"); err != nil || s.Name != "BTC-USDT" {
		t.Errorf("want its symbols, have %+v, %v", s, err)
	}
	answer, err := v.Do(t.Context(), exchange.Request{Operation: exchange.FuturesCandles, Symbol: "BTC-USDT", Interval: exchange.Minute1, Limit: 5})
	if err != nil || answer.Candles.Len() != 5 {
		t.Errorf("want five candles, have %+v, %v", answer, err)
	}
	demo := filepath.Join(h.config.DataDir, "demo")
	if err := errors.Join(os.MkdirAll(demo, 0o700), os.WriteFile(filepath.Join(demo, journal.AccountFile), []byte("no account"), 0o600)); err != nil {
		t.Fatal(err)
	}
	if v, err := OpenPublic(t.Context(), h.config); err == nil {
		t.Errorf("a damaged account: want an error, have %+v", v)
	}
	if all, err := Run(t.Context(), h.config); err == nil {
		t.Errorf("a damaged account: want no rehearsal, have %+v", all)
	}
	// The address of a demo that has ended: its market is made again.
	nothing := httptest.NewServer(http.NotFoundHandler())
	t.Cleanup(nothing.Close)
	if err := os.WriteFile(filepath.Join(demo, gateway.AddressFile), []byte(nothing.URL+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if v, err := OpenPublic(t.Context(), h.config); err != nil || v.Where == "a copy of the demo's exchange" {
		t.Errorf("want the demo's market, have %+v, %v", v, err)
	}
	h = newHouse(t)
	h.config.Mode, h.config.Exchange.BaseURL = configs.Paper, nothing.URL
	if v, err := OpenPublic(t.Context(), h.config); err == nil {
		t.Errorf("a venue that does not answer: want an error, have %+v", v)
	}
}

// A rehearsal shows what a start would decide: nothing of it is in force.
func TestThePlanOfARehearsalIsNotInForce(t *testing.T) {
	t.Parallel()
	h := newHouseOf(t, rules("close > 0"))
	all, err := Run(t.Context(), h.config)
	if err != nil || len(all) != 1 {
		t.Fatalf("want a preview, have %+v, %v", all, err)
	}
	if p := all[0]; p.Plan.Target != "0.02 BTC-USDT" || p.InForce.Target != "" || !p.Changes {
		t.Errorf("want a plan that is not in force, have %+v", p)
	}
}

func TestARehearsalOfASymbolThatIsNotThere(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	h.config.Strategies[0].Symbol = "NOT-USDT"
	if all, err := Run(t.Context(), h.config); err == nil || !strings.Contains(err.Error(), "NOT-USDT") {
		t.Errorf("want the symbol named, have %+v, %v", all, err)
	}
}

// A journal whose oldest records are elsewhere: a rehearsal needs the newest checkpoint alone, and the past needs all of them.
func TestARehearsalBeginsWithTheNewestCheckpoint(t *testing.T) {
	t.Parallel()
	binding := journal.Binding{Mode: "demo"}
	records := []record.Record{{AtMS: 1, Body: record.Boot{Epoch: 1, Account: binding.Text()}},
		{AtMS: 2, Body: record.Halt{Level: record.LevelPause, Reason: "of the account"}}}
	h := newHouse(t, records...)
	tracker := reconcile.NewTracker(engineconfig.Bounds(h.config))
	for i := range records {
		tracker.Apply(&records[i])
	}
	path := filepath.Join(h.config.DataDir, "demo", journal.FileName)
	store, err := journal.Open(t.Context(), path, binding, journal.Options{})
	if err != nil {
		t.Fatal(err)
	}
	err = store.Append(t.Context(), []record.Record{{AtMS: 3, Body: tracker.Checkpoint(binding.Text())},
		{AtMS: 4, Strategy: "trend", Body: record.Halt{Level: record.LevelPause, Reason: "of the strategy"}}})
	if err != nil {
		t.Fatal(err)
	}
	sealed, err := store.Seal(t.Context(), journal.SealOptions{Records: 1})
	if err != nil || sealed == nil || store.Close() != nil {
		t.Fatalf("want a segment, have %+v, %v", sealed, err)
	}
	if err := os.Remove(sealed.File); err != nil {
		t.Fatal(err)
	}
	have, err := journalled(t.Context(), h.config, filepath.Dir(path))
	if err != nil {
		t.Fatal(err)
	}
	var why []string
	for _, halt := range have.Halts() {
		why = append(why, halt.Reason)
	}
	if text := strings.Join(why, ", "); text != "of the account, of the strategy" {
		t.Errorf("want the halts before and after the checkpoint, have %s", text)
	}
	if p, err := h.at(t, 10*minute); failure.CodeOf(err) != failure.Data || !strings.Contains(err.Error(), "replay the journal: ") {
		t.Errorf("want the past refused, have %+v, %v", p, err)
	}
}

// A record that was changed after it was written ends a rehearsal, and the past is not shown.
func TestADamagedJournalEndsARehearsal(t *testing.T) {
	t.Parallel()
	h := newHouse(t, record.Record{AtMS: 1, Body: record.Boot{Epoch: 1}},
		record.Record{AtMS: 2, Body: record.Halt{Level: record.LevelPause, Reason: "good news"}})
	path := filepath.Join(h.config.DataDir, "demo", journal.FileName)
	text, err := os.ReadFile(path)
	if err != nil || strings.Count(string(text), "good news") != 1 {
		t.Fatalf("want the record in the file once, have %d, %v", strings.Count(string(text), "good news"), err)
	}
	if err := os.WriteFile(path, []byte(strings.Replace(string(text), "good news", "evil news", 1)), 0o600); err != nil {
		t.Fatal(err)
	}
	if all, err := Run(t.Context(), h.config); failure.CodeOf(err) != failure.Data || !strings.Contains(err.Error(), "replay the journal: ") {
		t.Errorf("want it ended, have %+v, %v", all, err)
	}
	if p, err := h.at(t, 10*minute); failure.CodeOf(err) != failure.Data || !strings.Contains(err.Error(), "replay the journal: ") {
		t.Errorf("want the past refused, have %+v, %v", p, err)
	}
}
