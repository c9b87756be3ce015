package probe

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"botd/exchange"
)

// exerciseOf returns an exercise of a symbol with ticks of 0.1 and 0.001, and a smallest order of 5 USDT.
func exerciseOf(t *testing.T, market exchange.Market) *exercise {
	t.Helper()
	return &exercise{prober: &prober{caller: &caller{habits: newHabits()}, report: &Report{}}, market: market, symbol: spotBitcoin(t), seen: &Delays{}}
}

// TestPricesThatFillAreHalfAPercentBeyondTheOrderBook rounds away from the order book.
func TestPricesThatFillAreHalfAPercentBeyondTheOrderBook(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		bid, ask  float64
		buy, sell float64
	}{{999, 1000, 1005, 994}, {100, 100.1, 100.7, 99.5}, {1000, 1000.1, 1005.2, 995}} {
		e := exerciseOf(t, exchange.Spot)
		price := func(value float64) exchange.Price { return exchange.Price(value/0.1+0.5) * e.symbol.PriceTick }
		e.bid, e.ask = price(c.bid), price(c.ask)
		if buy, sell := e.through(exchange.Buy), e.through(exchange.Sell); buy != price(c.buy) || sell != price(c.sell) {
			t.Errorf("%v/%v: want %v and %v, have %v and %v", c.bid, c.ask, c.buy, c.sell, e.symbol.PriceDecimal(buy), e.symbol.PriceDecimal(sell))
		}
	}
}

// TestTheSmallestOrderIsWorthItsMinimumAFewPercentLower expects quantities that are worth n times 5 USDT at a
// price 5 % below the bid.
func TestTheSmallestOrderIsWorthItsMinimumAFewPercentLower(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		bid   float64
		times int64
		want  string
	}{
		{1000, 1, "0.006"}, // 0.005 is worth 4.75 there
		{1000, 3, "0.016"}, // 0.015 is worth 14.25, 0.016 is worth 15.2
		{50_000, 1, "0.001"},
		{50_000, 10, "0.002"}, // 0.001 is worth 47.5
		{100, 1, "0.053"},     // 0.052 is worth 4.94, 0.053 is worth 5.035
	} {
		e := exerciseOf(t, exchange.Spot)
		e.bid = exchange.Price(c.bid/0.1+0.5) * e.symbol.PriceTick
		if have := e.symbol.QuantityDecimal(e.smallest(c.times)).String(); have != c.want {
			t.Errorf("%d times at %v: want %s, have %s", c.times, c.bid, c.want, have)
		}
		if quantity := e.smallest(c.times); e.tooSmall(e.bid-e.bid/20, quantity) {
			t.Errorf("%d times at %v: want it tradable at a lower price", c.times, c.bid)
		}
	}
	e := exerciseOf(t, exchange.Spot)
	price, tick := 10_000*e.symbol.PriceTick, e.symbol.QuantityTick // 1000 USDT
	for quantity, want := range map[exchange.Quantity]bool{-tick: true, 0: true, 4 * tick: true, 5 * tick: false, 6 * tick: false} {
		if have := e.tooSmall(price, quantity); have != want {
			t.Errorf("%s at 1000: want too small %v, have %v", e.symbol.QuantityDecimal(quantity), want, have)
		}
	}
}

// TestAFillOfTwiceTheOrderIsADuplicate covers fills near one and a half times and two and a half times the
// order.
func TestAFillOfTwiceTheOrderIsADuplicate(t *testing.T) {
	t.Parallel()
	for came, want := range map[exchange.Quantity]bool{10: false, 15: false, 16: true, 20: true, 24: true, 25: false, 100: false} {
		e := exerciseOf(t, exchange.Futures)
		if e.noteTwice(came, 10); e.habits.seen[habitTwice] != want {
			t.Errorf("%d of 10: want %v", came, want)
		}
		e.mayHave, e.resold = 30, 12
		if have := e.most(); have != map[bool]exchange.Quantity{false: 18, true: 48}[want] {
			t.Errorf("twice %v: have %d left of 30 without 12", want, have)
		}
	}
	e := exerciseOf(t, exchange.Futures)
	for value, want := range map[float64]exchange.Quantity{0: 0, 0.001: 1, 0.0019999999: 2, 0.0020000001: 2, 1.2344: 1234} {
		if have := e.units(value); have != want*e.symbol.QuantityTick {
			t.Errorf("%v: want %d ticks, have %d", value, want, have/e.symbol.QuantityTick)
		}
	}
}

// TestAListThatShowsAFillLaterIsStale covers delays of an order and a list, in milliseconds, and the bounds that follow.
func TestAListThatShowsAFillLaterIsStale(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		market      exchange.Market
		order, list int
		hidden      bool
		want        Delays
		stale       bool
	}{
		{exchange.Futures, 10, 4, false, Delays{VisibilityMS: 11}, false},
		{exchange.Futures, 10, 1_510, false, Delays{VisibilityMS: 11, StalenessMS: 1_500}, false},
		{exchange.Futures, 10, 1_511, false, Delays{VisibilityMS: 11, StalenessMS: 1_501}, true},
		{exchange.Spot, 10, 1_511, false, Delays{VisibilityMS: 11, StalenessMS: 1_501}, false},
		{exchange.Futures, 10, 1_511, true, Delays{}, false},
	} {
		e := exerciseOf(t, c.market)
		if c.hidden {
			e.habits.seen[habitEmpty] = true
		}
		e.compare(time.Duration(c.order)*time.Millisecond, time.Duration(c.list)*time.Millisecond)
		if *e.seen != c.want || e.habits.seen[habitStalePositions] != c.stale {
			t.Errorf("%+v: have %+v, stale %v", c, *e.seen, e.habits.seen[habitStalePositions])
		}
		e.compare(0, 0)
		if *e.seen != c.want && !(c.hidden && *e.seen == Delays{}) {
			t.Errorf("%+v: want the largest of all, have %+v", c, *e.seen)
		}
	}
}

// TestOrdersOfPartsAreJudgedByCommonVenues checks the costs: the method precedes the address, the time is first or last, the key is
// first or follows the time.
func TestOrdersOfPartsAreJudgedByCommonVenues(t *testing.T) {
	t.Parallel()
	for order, want := range map[string]int{"tmr": 0, "mrt": 1, "mtr": 5, "trm": 2, "rmt": 3, "rt": 1, "tr": 0, "ktmr": 0, "tkmr": 0, "tmrk": 3, "mktr": 8,
		"kmrt": 1, "mrtk": 3, "t": 0, "kt": 0, "tk": 0, "mr": 0, "rm": 2, "r": 0, "ktr": 0} {
		if have := orderCost(order); have != want {
			t.Errorf("%s: want %d, have %d", order, want, have)
		}
	}
	all := schemes([]string{"full"})
	if all[0].Template != "{timestamp}{method}{path}{body}" || all[0].Encoding != "hex" || all[0].cost != 0 {
		t.Errorf("want the interface's own scheme first, have %+v", all[0])
	}
	if have := len(permutations("ktmr")); have != 24 {
		t.Errorf("want 24 orders of four parts, have %d", have)
	}
}

// TestABodyIsLikelyAtTheEnd compares the costs of the places of a body: none at the end, little before a time at the end, more elsewhere.
func TestABodyIsLikelyAtTheEnd(t *testing.T) {
	t.Parallel()
	p := parts{"|", "{path}", "{body}", "|"}
	for _, c := range []struct {
		order string
		place int
		want  string
		level int // 0 for no cost, 1 for little, 2 for more
	}{
		{"tmr", 3, "{timestamp}|{method}|{path}|{body}", 0},
		{"mrt", 3, "{method}|{path}|{timestamp}|{body}", 0},
		{"mrt", 2, "{method}|{path}|{body}|{timestamp}", 1},
		{"tmr", 2, "{timestamp}|{method}|{body}|{path}", 2},
		{"mrt", 0, "{body}|{method}|{path}|{timestamp}", 2},
		{"mrt", 1, "{method}|{body}|{path}|{timestamp}", 2},
	} {
		template, cost := choice{text: c.order}.template(p, c.place)
		level := 0
		if cost > 0 {
			level = 1
		}
		if _, little := (choice{text: "t"}).template(p, 0); cost > little {
			level = 2
		}
		if template != c.want || level != c.level {
			t.Errorf("%s at %d: want %q at level %d, have %q at %d", c.order, c.place, c.want, c.level, template, level)
		}
	}
	for _, c := range []struct {
		order, body, want string
		place             int
	}{
		{"tm", "[{body}]", "{timestamp}|{method}[|{body}]", 2},
		{"tm", "[{body}]", "{timestamp}[|{body}]|{method}", 1},
		{"tm", "[{body}]", "[{body}|]{timestamp}|{method}", 0},
		{"tm", "~[{body}]", "{timestamp}|{method}|[{body}]", 2},
		{"tm", "", "{timestamp}|{method}", 2},
	} {
		template, cost := choice{text: c.order}.template(parts{"|", "", c.body, "|"}, c.place)
		if template != c.want || c.body == "" && cost != 0 {
			t.Errorf("%s with %q at %d: want %q, have %q", c.order, c.body, c.place, c.want, template)
		}
	}
	all := joins(choice{text: "|"}, choice{text: "{body}"})
	if len(all) != 2 || all[0] != (choice{"|", 0}) || all[1].text != "" || all[1].cost == 0 {
		t.Errorf("want the separator before the body, or less likely none, have %v", all)
	}
	for _, body := range []string{"", "~[{body}]"} {
		if all := joins(choice{text: "|"}, choice{text: body}); len(all) != 1 {
			t.Errorf("%q: want the separator alone, have %v", body, all)
		}
	}
	all = joins(choice{}, choice{text: "{body}"})
	if len(all) != len(separators) || all[0] != (choice{"", 0}) {
		t.Errorf("without a separator: want any before the body, have %v", all)
	}
	for i := 1; i < len(all); i++ {
		if all[i].text != separators[i].text || all[i].cost <= separators[i].cost {
			t.Errorf("want %v less likely than everywhere, have %v", separators[i], all[i])
		}
	}
}

// TestTheSymbolOfAProbeIsTheRequestedOneOrTheUsualOne prefers what is asked for, then bitcoin, then what can be traded.
func TestTheSymbolOfAProbeIsTheRequestedOneOrTheUsualOne(t *testing.T) {
	t.Parallel()
	closed, open := &exchange.Symbol{Name: "A-USDT"}, &exchange.Symbol{Name: "B-USDT", Tradable: true}
	usual, asked := &exchange.Symbol{Name: "BTC-USDT"}, &exchange.Symbol{Name: "ETH-USDT"}
	for _, c := range []struct {
		listed []*exchange.Symbol
		want   *exchange.Symbol
	}{
		{[]*exchange.Symbol{closed, open, usual, asked}, asked},
		{[]*exchange.Symbol{closed, open, usual}, usual},
		{[]*exchange.Symbol{closed, open}, open},
		{[]*exchange.Symbol{closed}, closed},
		{nil, nil},
	} {
		p := &prober{config: Config{Symbol: "ETH-USDT"}, listed: map[exchange.Market][]*exchange.Symbol{exchange.Spot: c.listed}}
		if have := p.pick(exchange.Spot); have != c.want {
			t.Errorf("of %v: want %v, have %v", c.listed, c.want, have)
		}
	}
}

// TestTheSchemesThatAProbeTriesFirst compares the schemes of the default number of tries, likely ones first,
// with a golden file.
func TestTheSchemesThatAProbeTriesFirst(t *testing.T) {
	t.Parallel()
	var have strings.Builder
	config := Config{}
	config.fill()
	for _, one := range schemes([]string{"full"})[:config.Tries] {
		fmt.Fprintf(&have, "%d %s %s\n", one.cost, one.Encoding, one.Template)
	}
	path := filepath.Join("testdata", "schemes.txt")
	if *update {
		if err := os.WriteFile(path, []byte(have.String()), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	differs(t, strings.Split(string(want), "\n"), strings.Split(have.String(), "\n"))
}
