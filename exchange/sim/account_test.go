package sim

import (
	"strconv"
	"strings"
	"testing"

	"github.com/shopspring/decimal"

	"botd/exchange"
)

// TestAnExchangeIsConfiguredWithinItsBounds tests each bound, and the value beyond it.
func TestAnExchangeIsConfiguredWithinItsBounds(t *testing.T) {
	t.Parallel()
	symbol := *DefaultSymbols()[0]
	marketless := symbol
	marketless.Market = 0
	many := func(count int) []*exchange.Symbol {
		all := make([]*exchange.Symbol, count)
		for i := range all {
			one := symbol
			one.Name = "S" + strconv.Itoa(i) + "-USDT"
			all[i] = &one
		}
		return all
	}
	one := []*exchange.Symbol{&symbol}
	for _, c := range []struct {
		name   string
		config Config
		want   string // part of the error; empty for none
	}{
		{"one symbol", Config{Symbols: one}, ""},
		{"no symbol", Config{}, "needs symbols"},
		{"2000 symbols", Config{Symbols: many(2_000)}, ""},
		{"2001 symbols", Config{Symbols: many(2_001)}, "2001 symbols are more than 2000"},
		{"a symbol that is nil", Config{Symbols: []*exchange.Symbol{&symbol, nil}}, "neither market"},
		{"a symbol of no market", Config{Symbols: []*exchange.Symbol{&marketless}}, "neither market"},
		{"a symbol twice", Config{Symbols: []*exchange.Symbol{&symbol, &symbol}}, "given twice"},
		{"a delay of a week", Config{Symbols: one, OrderDelayMS: 8 * 86_400_000}, ""},
		{"a longer one", Config{Symbols: one, OrderDelayMS: 8*86_400_000 + 1}, "order delay"},
		{"one below zero", Config{Symbols: one, OrderDelayMS: -1}, "order delay"},
		{"a spread of a week", Config{Symbols: one, OrderDelaySpreadMS: 8 * 86_400_000}, ""},
		{"a longer spread", Config{Symbols: one, OrderDelaySpreadMS: 8*86_400_000 + 1}, "delay spread"},
		{"a spread below zero", Config{Symbols: one, OrderDelaySpreadMS: -1}, "delay spread"},
		{"reject", Config{Symbols: one, OppositeOrder: "reject"}, ""},
		{"net", Config{Symbols: one, OppositeOrder: "net"}, ""},
		{"another word", Config{Symbols: one, OppositeOrder: "hedge"}, "neither reject nor net"},
		{"a history below zero", Config{Symbols: one, MaxHistory: -1}, "below 0"},
	} {
		x, err := New(c.config)
		switch {
		case c.want == "" && (err != nil || x == nil):
			t.Errorf("%s: want an exchange, have %v", c.name, err)
		case c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)):
			t.Errorf("%s: want %q, have %v", c.name, c.want, err)
		}
	}
}

// TestAnAccountIsOpenedWithinItsBounds tests each bound, and the value beyond it.
func TestAnAccountIsOpenedWithinItsBounds(t *testing.T) {
	t.Parallel()
	amount, tenth := exchange.MustAmount, exchange.RateOne/10
	for _, c := range []struct {
		name   string
		change func(*AccountConfig)
		want   string // part of the error; empty for none
	}{
		{"as it is by default", func(*AccountConfig) {}, ""},
		{"without a name", func(c *AccountConfig) { c.Name = "" }, "needs a name"},
		{"of a name that exists", func(c *AccountConfig) { c.Name = "alice" }, `"alice" exists`},
		{"an empty futures wallet", func(c *AccountConfig) { c.FuturesUSDT = exchange.Amount{} }, ""},
		{"one below zero", func(c *AccountConfig) { c.FuturesUSDT = amount("-0.000000000000000001") }, "below 0"},
		{"an empty balance", func(c *AccountConfig) { c.Spot = map[string]exchange.Amount{"BTC": {}} }, ""},
		{"a balance below zero", func(c *AccountConfig) { c.Spot = map[string]exchange.Amount{"BTC": amount("-1")} }, "-1 BTC is below 0"},
		{"leverage 1", func(c *AccountConfig) { c.Leverage = 1 }, ""},
		{"leverage below 0", func(c *AccountConfig) { c.Leverage = -1 }, "leverage -1"},
		{"fees of a tenth", func(c *AccountConfig) {
			c.FuturesMaker, c.FuturesTaker, c.SpotMaker, c.SpotTaker = tenth, tenth, tenth, tenth
		}, ""},
		{"rebates of a tenth", func(c *AccountConfig) { c.FuturesMaker, c.SpotTaker = -tenth, -tenth }, ""},
		{"a maker fee beyond", func(c *AccountConfig) { c.FuturesMaker = tenth + 1 }, "outside -0.1..0.1"},
		{"a taker fee beyond", func(c *AccountConfig) { c.FuturesTaker = -tenth - 1 }, "outside -0.1..0.1"},
		{"a spot maker fee beyond", func(c *AccountConfig) { c.SpotMaker = -tenth - 1 }, "outside -0.1..0.1"},
		{"a spot taker fee beyond", func(c *AccountConfig) { c.SpotTaker = tenth + 1 }, "outside -0.1..0.1"},
	} {
		d := newDesk(t, Config{})
		config := DefaultAccount("carol")
		c.change(&config)
		err := d.AddAccount(config)
		switch {
		case c.want == "" && err != nil:
			t.Errorf("%s: want an account, have %v", c.name, err)
		case c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)):
			t.Errorf("%s: want %q, have %v", c.name, c.want, err)
		}
		if want := max(config.Leverage, 10*(1-min(1, config.Leverage))); c.want == "" && d.Leverage("carol", "BTC-USDT") != want {
			t.Errorf("%s: want leverage %d, have %d", c.name, want, d.Leverage("carol", "BTC-USDT"))
		}
	}
}

func TestAnExchangeHasAThousandAccounts(t *testing.T) {
	t.Parallel()
	x, err := New(Config{Symbols: DefaultSymbols()[:1]})
	if err != nil {
		t.Fatal(err)
	}
	for i := range 1_000 {
		if err := x.AddAccount(AccountConfig{Name: strconv.Itoa(i)}); err != nil {
			t.Fatal(err)
		}
	}
	if err := x.AddAccount(AccountConfig{Name: "one more"}); err == nil || !strings.Contains(err.Error(), "1000 accounts") {
		t.Errorf("want the 1001st refused, have %v", err)
	}
}

// An unknown name is no error, and returns no other account's figures.
func TestUnknownAccountAndSymbolAreEmpty(t *testing.T) {
	t.Parallel()
	d := newDesk(t, Config{})
	d.place(d.order("buy", exchange.MarketOrder, "0.1", ""))
	d.place(d.order("buy", exchange.Limit, "0.1", "49000"))
	for _, c := range []struct{ account, symbol string }{{"nobody", "BTC-USDT"}, {"alice", "NONE-USDT"}, {"alice", "ETH-USDT"}} {
		if held := d.Held(c.account, c.symbol); held != (Held{}) {
			t.Errorf("%v: want nothing held, have %+v", c, held)
		}
		if p, open := d.Position(c.account, c.symbol); open || p.ID != 0 {
			t.Errorf("%v: want no position, have %+v", c, p)
		}
		if paid := d.FundingPaid(c.account, c.symbol); !paid.IsZero() {
			t.Errorf("%v: want no funding, have %s", c, paid)
		}
		if leverage := d.Leverage(c.account, c.symbol); c.symbol != "ETH-USDT" && leverage != 0 {
			t.Errorf("%v: want no leverage, have %d", c, leverage)
		}
	}
	if equity, available := d.Margin("nobody"); !equity.IsZero() || !available.IsZero() || d.Money("nobody") != (Money{}) {
		t.Errorf("want no margin of nobody, have %s and %s", equity, available)
	}
	for _, market := range []exchange.Market{exchange.Futures, exchange.Spot} {
		if n := d.OpenOrders("nobody", market); n != 0 {
			t.Errorf("want no orders of nobody, have %d", n)
		}
	}
	for _, c := range [][2]string{{"nobody", "USDT"}, {"alice", "NONE"}, {"alice", ""}} {
		if free, frozen := d.Balance(c[0], c[1]); !free.IsZero() || !frozen.IsZero() {
			t.Errorf("%v: want no balance, have %s and %s", c, free, frozen)
		}
	}
	if last, mark := d.Exchange.Price(exchange.SymbolKey{Market: exchange.Futures, Name: "NONE-USDT"}); last != 0 || mark != 0 {
		t.Errorf("want no price of an unknown symbol, have %d and %d", last, mark)
	}
	for name, err := range map[string]error{
		"a price":       d.SetPrice(exchange.SymbolKey{Market: exchange.Spot, Name: "NONE-USDT"}, 1, 1),
		"a slide":       d.SlideTo(exchange.SymbolKey{Market: exchange.Spot, Name: "NONE-USDT"}, 1),
		"a feed":        d.Feed(d.key(), FeedUpdate{}),
		"fees":          d.SetFees(DefaultAccount("nobody")),
		"a transfer":    d.Transfer("nobody", exchange.Futures, "USDT", exchange.AmountOf(1)),
		"another asset": d.Transfer("alice", exchange.Futures, "BTC", exchange.AmountOf(1)),
		"no such asset": d.Transfer("alice", exchange.Spot, "NONE", exchange.AmountOf(1)),
	} {
		if err == nil {
			t.Errorf("%s: want an error, have none", name)
		}
	}
	visited := 0
	d.EachOpenOrder("nobody", exchange.Futures, func(*exchange.Order) { visited++ })
	d.SetFunding("NONE-USDT", []FundingPoint{{startMS, 1}})
	d.SetMarket(exchange.SymbolKey{Market: exchange.Spot, Name: "NONE-USDT"}, Random(1))
	if visited != 0 || d.Exchange.Symbol(exchange.SymbolKey{Market: exchange.Spot, Name: "NONE-USDT"}) != nil {
		t.Errorf("want nothing of what is unknown, have %d orders", visited)
	}
}

// The position is returned together with its cost.
func TestPositionIsSigned(t *testing.T) {
	t.Parallel()
	d := newDesk(t, Config{})
	d.place(d.order("buy", exchange.MarketOrder, "0.3", ""))
	d.place(d.order("sell", exchange.MarketOrder, "0.1", "", reduceOnly))
	bob := d.as("bob")
	bob.place(bob.order("sell", exchange.MarketOrder, "0.2", ""))
	if have, want := d.Held("alice", "BTC-USDT"), (Held{1, d.q("0.2"), exchange.MustAmount("10000.02")}); have != want {
		t.Errorf("want 0.2 for 10000.02, have %+v", have)
	}
	if have, want := d.Held("bob", "BTC-USDT"), (Held{2, -d.q("0.2"), exchange.MustAmount("9999.98")}); have != want {
		t.Errorf("want a short of 0.2 for 9999.98, have %+v", have)
	}
	equity, available := d.Margin("alice")
	// 10000 less fees of 10.00001 (0.05 % of 15000.03 and of 4999.99), 0.02 realized and 0.02 unrealized.
	d.wantAmount("equity", "9989.95999", equity)
	d.wantAmount("available", "8989.95799", available) // less 10000.02 / 10
}

// A transfer moves no more than that.
func TestTransferIsBoundedByAvailableBalance(t *testing.T) {
	t.Parallel()
	d := newDesk(t, Config{})
	spot := d.on(exchange.Spot, "BTC-USDT")
	d.place(d.order("buy", exchange.Limit, "0.1", "49000")) // holds 490
	spot.place(spot.order("sell", exchange.Limit, "0.4", "51000"))
	amount := exchange.MustAmount
	for _, c := range []struct {
		market exchange.Market
		asset  string
		amount string
		moves  bool
	}{
		{exchange.Futures, "USDT", "-9510.01", false}, {exchange.Futures, "USDT", "-9510", true}, {exchange.Futures, "USDT", "1", true},
		{exchange.Spot, "BTC", "-0.60001", false}, {exchange.Spot, "BTC", "-0.6", true}, {exchange.Spot, "SOL", "3", true},
	} {
		if err := d.Transfer("alice", c.market, c.asset, amount(c.amount)); (err == nil) != c.moves {
			t.Errorf("%+v: want it moved %t, have %v", c, c.moves, err)
		}
	}
	m := d.Money("alice")
	d.wantAmount("wallet", "491", m.Wallet)
	d.wantAmount("deposits", "491", m.Deposits)
	spot.wantBalance("BTC", "0", "0.4")
	spot.wantBalance("SOL", "3", "0")
	d.checkMoney()
}

// The asset comes with an account, and its name sorts between those of the others.
func TestAssetWithoutSymbolIsKept(t *testing.T) {
	t.Parallel()
	d := spotDesk(t, Config{})
	config := DefaultAccount("carol")
	of := exchange.AmountOf
	config.Spot = map[string]exchange.Amount{"AAA": of(7), "DOT": of(8), "ZZZ": of(9), "USDT": of(500)}
	if err := d.AddAccount(config); err != nil {
		t.Fatal(err)
	}
	d.place(d.order("sell", exchange.MarketOrder, "1000", ""))
	d.wantBalance("USDT", "10998.998002", "0")
	d.wantBalance("BTC", "0.98", "0")
	d.wantBalance("DOT", "0", "0")
	d.as("carol").wantBalance("DOT", "8", "0")
	balances := d.as("carol").do(exchange.Request{Operation: exchange.SpotWallet}).Balances.Items()
	names := make([]string, 0, len(balances))
	for _, one := range balances {
		names = append(names, one.Asset+" "+one.Free.String())
	}
	if have := strings.Join(names, ", "); have != "AAA 7, BTC 0, DOT 8, ETH 0, PEPE 0, SOL 0, USDT 500, ZZZ 9" {
		t.Errorf("want all assets by name, have %s", have)
	}
}

// Both markets are tested, for makers and takers.
func TestChangedFeesApplyToLaterFills(t *testing.T) {
	t.Parallel()
	d := newDesk(t, Config{})
	fees := AccountConfig{Name: "alice", FuturesMaker: 100_000, FuturesTaker: 200_000, SpotMaker: 300_000, SpotTaker: 400_000} // 0.1 % to 0.4 %
	if err := d.SetFees(fees); err != nil {
		t.Fatal(err)
	}
	if err := d.SetFees(AccountConfig{Name: "alice", SpotTaker: exchange.RateOne}); err == nil {
		t.Error("want a fee of all refused")
	}
	spot := d.on(exchange.Spot, "BTC-USDT")
	for _, each := range []*desk{d, spot} {
		each.place(each.order("buy", exchange.Limit, "0.1", "49000"))
		each.place(each.order("buy", exchange.Limit, "0.1", "50000.1"))
		each.setLast("48999.9")
	}
	want := []string{"10.00002", "4.9", "0.0004", "0.0003"} // of 5000.01 and 4900 USDT, and of 0.1 BTC
	for i, fill := range d.Fills() {
		if fill.Fee != exchange.MustAmount(want[i]) || fill.Maker != (i%2 == 1) {
			t.Errorf("fill %d: want a fee of %s, have %s, maker %t", i, want[i], fill.Fee, fill.Maker)
		}
	}
}

// The start price is 100, rounded up to its tick.
func TestASymbolWithoutAKnownPriceStartsAt100(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ base, tick, want string }{
		{"BTC", "0.1", "50000"}, {"ETH", "0.01", "2500"}, {"SOL", "0.01", "100"}, {"PEPE", "0.00000001", "0.00001"},
		{"NEW", "0.01", "100"}, {"NEW", "3", "102"}, {"NEW", "1000", "1000"},
	} {
		symbol, err := exchange.NewSymbol(exchange.SymbolSpec{Market: exchange.Spot, Name: c.base + "-USDT", Base: c.base, Quote: "USDT",
			PriceTick: decimal.RequireFromString(c.tick), QuantityTick: decimal.NewFromInt(1), MinNotional: decimal.NewFromInt(1),
			MaxNotional: decimal.NewFromInt(1_000_000), Tradable: true, Cancelable: true})
		if err != nil {
			t.Fatal(err)
		}
		d := newDesk(t, Config{Symbols: []*exchange.Symbol{symbol}}).on(exchange.Spot, symbol.Name)
		if last, mark := d.Exchange.Price(d.key()); last != d.p(c.want) || mark != last {
			t.Errorf("%s with a tick of %s: want %s, have %s", c.base, c.tick, c.want, symbol.PriceDecimal(last))
		}
	}
}
