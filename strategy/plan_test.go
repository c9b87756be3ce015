package strategy

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/shopspring/decimal"

	"botd/exchange"
)

func orders(keys ...string) (all []DesiredOrder) {
	for _, key := range keys {
		all = append(all, DesiredOrder{Key: key, Side: exchange.Buy, Price: 100, Quantity: 5})
	}
	return all
}

// keys describes a plan: target, leverage, keys of orders and exits with a mark where they are set, stop and reason.
func (p *Plan) keys() string {
	list := func(set bool, all []DesiredOrder) string {
		text := "-"
		if set {
			text = ""
		}
		for _, o := range all {
			text += o.Key
		}
		return text
	}
	return fmt.Sprintf("%d/%d %d [%s] [%s] %s %s", p.Target.Kind, p.Target.Quantity, p.Leverage, list(p.OrdersSet, p.Orders), list(p.ExitsSet, p.Exits),
		p.Protection.StopLoss.Share, p.Reason)
}

// TestWhatANewerPlanChanges lays plans over one in force: what the newer one leaves unset stays, and a target excludes orders.
// Shared lists are never written to.
func TestWhatANewerPlanChanges(t *testing.T) {
	t.Parallel()
	long := Target{Kind: ByQuantity, Quantity: 5}
	share := func(names ...string) *Plan {
		p := &Plan{}
		p.Share(orders(names...), orders("x"))
		return p
	}
	inForce := map[string]func() *Plan{
		"nothing": func() *Plan { return &Plan{} },
		"a target": func() *Plan {
			return &Plan{Target: long, Leverage: 3, Exits: orders("e"), ExitsSet: true, Protection: Protection{Set: true, StopLoss: Distance{Share: 2}},
				Reason: "old"}
		},
		"orders": func() *Plan { return &Plan{Orders: orders("a", "b"), OrdersSet: true} },
		"shared": func() *Plan { return share("s") },
	}
	for _, c := range []struct {
		force   string
		newer   *Plan
		want    string
		changes bool
	}{
		{"nothing", &Plan{}, "0/0 0 [-] [-] 0 ", false},
		{"nothing", &Plan{Target: Flat()}, "1/0 0 [-] [-] 0 ", true},
		{"nothing", &Plan{OrdersSet: true}, "0/0 0 [] [-] 0 ", true},
		{"nothing", &Plan{ExitsSet: true}, "0/0 0 [-] [] 0 ", true},
		{"a target", &Plan{}, "1/5 3 [-] [e] 0.00000002 old", false},
		{"a target", &Plan{Target: long, Leverage: 3, Exits: orders("e"), ExitsSet: true, Protection: Protection{Set: true, StopLoss: Distance{Share: 2}}},
			"1/5 3 [-] [e] 0.00000002 old", false},
		{"a target", &Plan{Reason: "new"}, "1/5 3 [-] [e] 0.00000002 new", false},
		{"a target", &Plan{Leverage: 4}, "1/5 4 [-] [e] 0.00000002 old", true},
		{"a target", &Plan{Protection: Protection{Set: true}}, "1/5 3 [-] [e] 0 old", true},
		{"a target", &Plan{Protection: Protection{StopLoss: Distance{Share: 9}}}, "1/5 3 [-] [e] 0.00000002 old", false},
		{"a target", &Plan{Exits: orders("f"), ExitsSet: true}, "1/5 3 [-] [f] 0.00000002 old", true},
		{"a target", &Plan{Exits: orders("f")}, "1/5 3 [-] [e] 0.00000002 old", false},
		{"a target", &Plan{Orders: orders("c"), OrdersSet: true}, "0/0 3 [c] [e] 0.00000002 old", true},
		{"a target", share("s"), "0/0 3 [s] [x] 0.00000002 old", true},
		{"orders", &Plan{Target: long}, "1/5 0 [-] [-] 0 ", true},
		{"orders", &Plan{Orders: orders("a", "b"), OrdersSet: true}, "0/0 0 [ab] [-] 0 ", false},
		{"orders", &Plan{Orders: orders("b", "a"), OrdersSet: true}, "0/0 0 [ba] [-] 0 ", true},
		{"orders", &Plan{Orders: orders("a"), OrdersSet: true}, "0/0 0 [a] [-] 0 ", true},
		{"shared", &Plan{}, "0/0 0 [s] [x] 0 ", false},
		{"shared", &Plan{Target: long}, "1/5 0 [-] [x] 0 ", true},
		{"shared", &Plan{Orders: orders("c"), OrdersSet: true}, "0/0 0 [c] [x] 0 ", true},
		{"shared", &Plan{Exits: orders("f"), ExitsSet: true}, "0/0 0 [s] [f] 0 ", true},
		{"shared", share("s", "t"), "0/0 0 [st] [x] 0 ", true},
		{"shared", share("s"), "0/0 0 [s] [x] 0 ", false},
	} {
		p := inForce[c.force]()
		before := p.Clone()
		sharedOrders, sharedExits := slices.Clone(p.Orders), slices.Clone(p.Exits)
		if covers := p.Covers(c.newer); covers == c.changes {
			t.Errorf("%s, %s: want it changed %t, have it covered %t", c.force, c.newer.keys(), c.changes, covers)
		}
		if p.Merge(c.newer); p.keys() != c.want {
			t.Errorf("%s, %s: want %s, have %s", c.force, c.newer.keys(), c.want, p.keys())
		}
		if same := p.Equal(before); before.shared && (!slices.Equal(before.Orders, sharedOrders) || !slices.Equal(before.Exits, sharedExits)) ||
			!before.shared && same == c.changes {
			t.Errorf("%s, %s: want it equal %t and shared lists unchanged, have %t, %v", c.force, c.newer.keys(), !c.changes, same, before)
		}
	}
}

// Plans that differ in one part are not equal. The reason does not count.
func TestPlansThatDifferInOneThing(t *testing.T) {
	t.Parallel()
	base := func() *Plan {
		return &Plan{Target: Flat(), Orders: orders("a"), OrdersSet: true, Exits: orders("e"), ExitsSet: true, Leverage: 2}
	}
	for name, change := range map[string]func(p *Plan){
		"target": func(p *Plan) { p.Target.Quantity = 1 }, "leverage": func(p *Plan) { p.Leverage = 3 }, "orders set": func(p *Plan) { p.OrdersSet = false },
		"exits set": func(p *Plan) { p.ExitsSet = false }, "protection": func(p *Plan) { p.Protection.Set = true },
		"orders": func(p *Plan) { p.Orders = orders("b") },
		"exits":  func(p *Plan) { p.Exits = orders("f") }, "more orders": func(p *Plan) { p.Orders = orders("a", "b") },
	} {
		p := base()
		if change(p); p.Equal(base()) || base().Equal(p) {
			t.Errorf("another %s: want them different", name)
		}
	}
	other := base()
	other.Reason = "why"
	if !other.Equal(base()) {
		t.Error("another reason: want them equal")
	}
}

// TestAResetPlanIsEmpty covers own lists, whose buffers stay, and shared lists, which it drops.
func TestAResetPlanIsEmpty(t *testing.T) {
	t.Parallel()
	own := orders("a", "b")
	p := Plan{Target: Flat(), Leverage: 2, Orders: own, OrdersSet: true, Exits: orders("e"), ExitsSet: true, Protection: Protection{Set: true}, Reason: "why",
		SignalMS: 7}
	p.Remember("k", 1)
	p.Notify("text")
	p.Reset()
	if len(p.Orders)+len(p.Exits)+len(p.Notices())+len(p.Remembered().Entries()) != 0 || cap(p.Orders) != cap(own) || p.Reason != "" || p.SignalMS != 0 ||
		!p.Equal(&Plan{}) {
		t.Errorf("want nothing, in the same memory, have %+v", p)
	}
	shared := orders("s")
	p.Share(shared, nil)
	p.Reset()
	p.Orders = append(p.Orders, DesiredOrder{Key: "mine"})
	if shared[0].Key != "s" || p.shared {
		t.Errorf("want the strategy's list unchanged, have %+v", shared)
	}
	for _, only := range []func(p *Plan){func(p *Plan) { p.Exits = orders("e") }, func(p *Plan) { p.Remember("k", 1) }, func(p *Plan) { p.Notify("n") },
		func(p *Plan) { p.Orders = orders("o") }} {
		var one Plan
		only(&one)
		if one.Reset(); len(one.Orders)+len(one.Exits)+len(one.notices)+len(one.memory.entries) != 0 {
			t.Errorf("want nothing, have %+v", one)
		}
	}
}

func TestACopiedPlanIsOneOfItsOwn(t *testing.T) {
	t.Parallel()
	p := Plan{Orders: orders("a"), Exits: orders("e")}
	p.Remember("k", 1)
	clone := p.Clone()
	clone.Orders[0].Key, clone.Exits[0].Key = "b", "f"
	clone.Remember("k", 2)
	if value, _ := p.Remembered().Get("k"); p.Orders[0].Key != "a" || p.Exits[0].Key != "e" || value != 1 {
		t.Errorf("want the plan unchanged, have %+v", p)
	}
	var shared Plan
	shared.Share(orders("s"), nil)
	if clone := shared.Clone(); &clone.Orders[0] != &shared.Orders[0] {
		t.Error("want a shared list shared")
	}
	p.Hold(Target{ByEquity, 1, 2, exchange.AmountOf(3)}, "why")
	if p.Target != (Target{ByEquity, 1, 2, exchange.AmountOf(3)}) || p.Reason != "why" {
		t.Errorf("want the target, have %+v", p.Target)
	}
}

func TestTheSideOfATarget(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		target Target
		want   int
	}{{Target{}, 0}, {Flat(), 0}, {Target{Quantity: 1}, 1}, {Target{Quantity: -1}, -1}, {Target{Share: 1}, 1}, {Target{Share: -1}, -1},
		{Target{Quote: exchange.MustAmount("0.1")}, 1}, {Target{Quote: exchange.MustAmount("-0.1")}, -1}} {
		if have := c.target.Sign(); have != c.want {
			t.Errorf("%+v: want %d, have %d", c.target, c.want, have)
		}
	}
	if !(Distance{}).IsZero() || (Distance{Price: 1}).IsZero() || (Distance{Share: 1}).IsZero() {
		t.Error("want a distance of nothing alone to be none")
	}
}

// TestTheTargetOfASize covers each unit of a size, on both sides.
func TestTheTargetOfASize(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		size Size
		sign int64
		want Target
	}{{Size{Quantity: 5}, -1, Target{Kind: ByQuantity, Quantity: -5}}, {Size{Quote: exchange.AmountOf(7)}, -1, Target{Kind: ByQuote,
		Quote: exchange.AmountOf(-7)}},
		{Size{Equity: 9}, -1, Target{Kind: ByEquity, Share: -9}}, {Size{Equity: 9}, 1, Target{Kind: ByEquity, Share: 9}}, {Size{Quantity: 5}, 0, Flat()}} {
		if have := c.size.Target(c.sign); have != c.want {
			t.Errorf("%+v, %d: want %+v, have %+v", c.size, c.sign, c.want, have)
		}
	}
	if !(Size{}).IsZero() || (Size{Equity: 1}).IsZero() {
		t.Error("want a size of nothing alone to be none")
	}
}

func TestWhatAMemoryHolds(t *testing.T) {
	t.Parallel()
	m := MemoryOf(MemoryVariable{"a", 1}, MemoryVariable{"b", 2})
	for _, c := range []struct {
		newer   Memory
		want    string
		changed bool
	}{{Memory{}, "[{a 1} {b 2}]", false}, {MemoryOf(MemoryVariable{"b", 2}), "[{a 1} {b 2}]", false}, {MemoryOf(MemoryVariable{"b", 3}), "[{a 1} {b 3}]", true},
		{MemoryOf(MemoryVariable{"b", 3}, MemoryVariable{"c", 0}), "[{a 1} {b 3} {c 0}]", true}} {
		have, changed := m.With(c.newer)
		if fmt.Sprint(have.Entries()) != c.want || changed != c.changed || fmt.Sprint(m.Entries()) != "[{a 1} {b 2}]" {
			t.Errorf("%v: want %s, %t, have %v, %t of %v", c.newer, c.want, c.changed, have.Entries(), changed, m.Entries())
		}
	}
	if value, found := m.Get("c"); value != 0 || found {
		t.Errorf("want no c, have %d, %t", value, found)
	}
	if value, found := m.Get("b"); value != 2 || !found {
		t.Errorf("want 2, have %d, %t", value, found)
	}
}

// TestTextsOfADecisionAreBounded covers as many notices as a decision may report, and one more.
func TestTextsOfADecisionAreBounded(t *testing.T) {
	t.Parallel()
	var p Plan
	for n := range 6 {
		p.Notify(strings.Repeat("x", 499+n))
	}
	have := p.Notices()
	if len(have) != 5 || len(have[1]) != 500 || have[2] != strings.Repeat("x", 500)+"…" {
		t.Errorf("want five of 500 bytes, have %d", len(have))
	}
	if Clip("aé", 2) != "a…" || Clip("aé", 3) != "aé" {
		t.Errorf("want no character cut, have %s", Clip("aé", 2))
	}
	conditions := shortened(slices.Repeat([]Condition{{Name: strings.Repeat("n", 201), Value: strings.Repeat("v", 200), Requires: strings.Repeat("r", 201)}},
		201))
	if c := conditions[0]; len(conditions) != 200 || len(c.Name) != 203 || len(c.Value) != 200 || len(c.Requires) != 203 {
		t.Errorf("want 200 with texts of 200 bytes, have %d", len(conditions))
	}
}

// TestAPlanAtItsBounds covers the largest value within each bound, and the next one.
func TestAPlanAtItsBounds(t *testing.T) {
	t.Parallel()
	one := decimal.NewFromInt(1)
	s, err := exchange.NewSymbol(exchange.SymbolSpec{Market: exchange.Futures, Name: "X-USDT", PriceTick: one, QuantityTick: one, MaxNotional: one,
		QuantityScale: 10})
	if err != nil {
		t.Fatal(err)
	}
	spot := *s
	spot.Market = exchange.Spot
	million := exchange.Rate(1_000_000 * 100_000_000)
	values := func(count int) (p Plan) {
		for n := range count {
			p.Remember(fmt.Sprint(n), 1)
		}
		return p
	}
	for _, c := range []struct {
		plan Plan
		want string
	}{
		{Plan{Target: Target{Share: million}}, ""}, {Plan{Target: Target{Share: -million}}, ""},
		{Plan{Target: Target{Share: million + 1}}, "times the equity is out of bounds"}, {Plan{Target: Target{Share: -million - 1}},
			"times the equity is out of bounds"},
		{Plan{Target: Target{Quote: exchange.AmountOf(-1_000_000_000_000)}}, ""},
		{Plan{Target: Target{Quote: exchange.MustAmount("-1000000000000.1")}}, "USDT is out of bounds"},
		{Plan{Reason: strings.Repeat("r", 1_000)}, ""}, {Plan{Reason: strings.Repeat("r", 1_001)}, "a reason of 1001 bytes exceeds 1000"},
		{Plan{Orders: orders(strings.Repeat("k", 200))}, ""}, {Plan{Orders: orders(strings.Repeat("k", 201))}, "an order's key of 201 bytes exceeds 200"},
		{Plan{Exits: orders(strings.Repeat("k", 201))}, "an order's key of 201 bytes exceeds 200"},
		{values(1_000), ""}, {values(1_001), "1001 remembered values exceed 1000"},
		{Plan{memory: MemoryOf(MemoryVariable{Key: strings.Repeat("k", 200)})}, ""},
		{Plan{memory: MemoryOf(MemoryVariable{Key: strings.Repeat("k", 201)})}, "a remembered value's key of 201 bytes exceeds 200"},
		{Plan{Orders: orders("a", "b"), Exits: orders("a")}, ""}, {Plan{Orders: orders("a", "b", "a")}, `two orders have the key "a"`},
		{Plan{Exits: orders("a", "a")}, `two exits have the key "a"`}, {Plan{Orders: orders("a", "a"), shared: true}, ""},
		{Plan{Orders: []DesiredOrder{{Key: "p", PostOnly: true}}}, ""},
		{Plan{Orders: make([]DesiredOrder, 10_000), shared: true}, ""}, {Plan{Orders: make([]DesiredOrder, 9_999), Exits: orders("a", "b"), shared: true},
			"10001 orders at once exceed 10000"},
	} {
		have := c.plan.OutOfBounds(s, 100)
		if (have == "") != (c.want == "") || !strings.Contains(have, c.want) {
			t.Errorf("%.80s: want %q, have %q", c.plan.keys(), c.want, have)
		}
	}
	post := Plan{Orders: []DesiredOrder{{Key: "p", PostOnly: true}}}
	if have := post.OutOfBounds(&spot, 100); have != `order "p" is post-only: spot has no such orders` {
		t.Errorf("on spot: have %q", have)
	}
	// 10^8 of the base asset at 10,000 are the largest notional; the highest of an order's prices and the last one counts.
	const quantity, price = 1_000_000_000_000_000_000, 1_000_000_000_000
	for _, c := range []struct {
		plan Plan
		last exchange.Price
		want string
	}{
		{Plan{Target: Target{Quantity: quantity}}, price, ""}, {Plan{Target: Target{Quantity: -quantity - 1}}, price,
			"a target of -100000000.0000000001 X-USDT at 10000 is out of bounds"},
		{Plan{Orders: []DesiredOrder{{Key: "o", Quantity: quantity, Price: price, StopPrice: price}}}, price, ""},
		{Plan{Orders: []DesiredOrder{{Key: "o", Quantity: quantity, Price: price + 1}}}, price,
			`order "o" of 100000000 X-USDT at 10000.00000001 is out of bounds`},
		{Plan{Orders: []DesiredOrder{{Key: "o", Quantity: quantity, StopPrice: price + 1}}}, price, `order "o" of`},
		{Plan{Exits: []DesiredOrder{{Key: "o", Quantity: quantity, Price: 1}}}, price + 1, `order "o" of`},
	} {
		if have := c.plan.OutOfBounds(s, c.last); (have == "") != (c.want == "") || !strings.HasPrefix(have, c.want) {
			t.Errorf("%s at %d: want %q, have %q", c.plan.keys(), c.last, c.want, have)
		}
	}
}
