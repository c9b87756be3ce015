package profit

import (
	"maps"
	"strings"
	"testing"

	"github.com/shopspring/decimal"

	"botd/exchange"
	"botd/internal/enginetest"
	"botd/reconcile/ledger"
	"botd/runtime/engine"
)

func symbol(t *testing.T, key exchange.SymbolKey, tick, step string) *exchange.Symbol {
	t.Helper()
	base, quote, _ := strings.Cut(key.Name, "-")
	s, err := exchange.NewSymbol(exchange.SymbolSpec{Market: key.Market, Name: key.Name, Base: base, Quote: quote,
		PriceTick: decimal.RequireFromString(tick), QuantityTick: decimal.RequireFromString(step),
		MinNotional: decimal.NewFromInt(5), MaxNotional: decimal.NewFromInt(1_000_000), Tradable: true, Cancelable: true})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// TestSpotProfitUsesBookedFills uses a spot strategy that bought 0.2 ETH at 2500 for a fee of 0.5 in ETH. A fee counts once, and what the
// wallet shows before the ledger is neither profit nor loss: a purchase next to another one's dust once counted its whole value as profit.
func TestSpotProfitUsesBookedFills(t *testing.T) {
	t.Parallel()
	ether := exchange.SymbolKey{Market: exchange.Spot, Name: "ETH-USDT"}
	spot := symbol(t, ether, "0.01", "0.0001")
	for name, c := range map[string]struct {
		position exchange.Quantity
		booked   string
		cost     string
		want     string
	}{
		"all is booked":                        {1998, "0.1998", "499.5", "1.998"},
		"a purchase is not booked beside dust": {1998, "0.00004", "0.1", "0.0004"},
		"a purchase is not booked":             {1998, "0", "0", "0"},
		"a part of a purchase is booked":       {1998, "0.1", "250", "1"},
		"a sale is not booked":                 {0, "0.1998", "499.5", "1.998"},
		"another one's units beside it":        {9000, "0.1998", "499.5", "1.998"},
		"a loss":                               {1998, "0.1998", "510", "-8.502"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			balance := func(account ledger.Account, amount string) ledger.Balance {
				return ledger.Balance{Account: account, Strategy: "spot", Symbol: ether, Asset: "USDT", Amount: exchange.MustAmount(amount)}
			}
			elsewhere := balance(ledger.Holding, "77") // what the strategy left in another symbol
			elsewhere.Symbol.Name = "BTC-USDT"
			status := &engine.Status{
				Ledger: []ledger.Balance{balance(ledger.Holding, c.cost), balance(ledger.Fees, "0.5"), elsewhere,
					{Account: ledger.Unexplained, Asset: "USDT", Amount: exchange.MustAmount("7")}},
				Strategies: []engine.StrategyStatus{{Name: "spot", Position: c.position, Booked: exchange.MustAmount(c.booked),
					Last: enginetest.Price(t, spot, "2510"), Symbol: spot}},
			}
			have := Of(status)["spot"]
			want := Profit{Fees: exchange.MustAmount("0.5"), Net: exchange.MustAmount("-0.5"), Unrealized: exchange.MustAmount(c.want)}
			if have != want {
				t.Errorf("want %+v, have %+v", want, have)
			}
		})
	}
}

func TestFuturesAreMeasuredFromTheirEntryPrice(t *testing.T) {
	t.Parallel()
	bitcoin := symbol(t, exchange.SymbolKey{Market: exchange.Futures, Name: "BTC-USDT"}, "0.1", "0.001")
	strategy := engine.StrategyStatus{Name: "trend", Symbol: bitcoin, Position: -20, EntryPrice: exchange.MustAmount("50000"),
		Last: enginetest.Price(t, bitcoin, "49000")}
	status := &engine.Status{Strategies: []engine.StrategyStatus{strategy}, Ledger: []ledger.Balance{
		{Account: ledger.Realized, Strategy: "trend", Asset: "USDT", Amount: exchange.MustAmount("-3")},
		{Account: ledger.Funding, Strategy: "trend", Asset: "USDT", Amount: exchange.MustAmount("1")},
	}}
	if want, have := (Profit{Realized: exchange.AmountOf(3), Funding: exchange.AmountOf(1), Net: exchange.AmountOf(2), Unrealized: exchange.AmountOf(20)}),
		Of(status)["trend"]; have != want {
		t.Errorf("want %+v, have %+v", want, have)
	}
	status.Strategies[0].Position = 0
	if have := Of(status)["trend"].Unrealized; !have.IsZero() {
		t.Errorf("flat: want nothing unrealized, have %s", have)
	}
}

// It counts for its own strategy and in USDT alone. A strategy without bookings has a result of 0.
func TestBookingsAreSummedBySign(t *testing.T) {
	t.Parallel()
	book := func(account ledger.Account, strategy, asset, amount string) ledger.Balance {
		return ledger.Balance{Account: account, Strategy: strategy, Asset: asset, Amount: exchange.MustAmount(amount)}
	}
	have := Of(&engine.Status{
		Strategies: []engine.StrategyStatus{{Name: "trend"}, {Name: "grid"}, {Name: "new"}},
		Ledger: []ledger.Balance{
			book(ledger.Realized, "trend", "USDT", "-10"), book(ledger.Realized, "trend", "USDT", "4"), book(ledger.Fees, "trend", "USDT", "1.5"),
			book(ledger.Fees, "trend", "USDT", "0.25"), book(ledger.Funding, "trend", "USDT", "-0.5"), book(ledger.Funding, "trend", "USDT", "2"),
			book(ledger.Realized, "grid", "USDT", "3"), book(ledger.Fees, "grid", "ETH", "99"), book(ledger.Realized, "grid", "BTC", "-99"),
			book(ledger.Funding, "", "USDT", "0.125"), book(ledger.Wallet, "grid", "USDT", "500"), book(ledger.Wallet, "unlisted", "USDT", "500"),
			book(ledger.Holding, "nobody", "USDT", "7"),
		},
	})
	of := func(realized, fees, funding, net string) Profit {
		return Profit{Realized: exchange.MustAmount(realized), Fees: exchange.MustAmount(fees), Funding: exchange.MustAmount(funding),
			Net: exchange.MustAmount(net)}
	}
	want := map[string]Profit{"trend": of("6", "1.75", "1.5", "2.75"), "grid": of("-3", "0", "0", "-3"), "": of("0", "0", "0.125", "-0.125"),
		"new": {}, "nobody": {}}
	if !maps.Equal(have, want) {
		t.Errorf("want %+v, have %+v", want, have)
	}
}

// Without a price, an entry price, or a cost on spot, the whole value would be profit.
func TestUnrealizedProfitNeedsPriceAndCost(t *testing.T) {
	t.Parallel()
	futures := symbol(t, exchange.SymbolKey{Market: exchange.Futures, Name: "BTC-USDT"}, "0.1", "0.001")
	spot := symbol(t, exchange.SymbolKey{Market: exchange.Spot, Name: "BTC-USDT"}, "0.1", "0.001")
	for name, c := range map[string]struct {
		symbol             *exchange.Symbol
		position           exchange.Quantity
		last, entry        string
		booked, cost, want string
	}{
		"long":                       {futures, 20, "51000", "50000", "0", "0", "20"},
		"the smallest long":          {futures, 1, "51000", "50000", "0", "0", "1"},
		"short":                      {futures, -20, "51000", "50000", "0", "0", "-20"},
		"the entry price as it was":  {futures, 20, "50000", "50000.05", "0", "0", "-0.001"},
		"futures without a price":    {futures, 20, "0", "50000", "0", "0", "0"},
		"futures without an entry":   {futures, 20, "51000", "0", "0", "0", "0"},
		"futures beside a holding":   {futures, 20, "51000", "50000", "5", "100", "20"},
		"spot":                       {spot, 20, "51000", "0", "0.02", "1000", "20"},
		"spot, nothing booked there": {spot, 20, "51000", "0", "0", "1000", "-1000"},
		"spot without a price":       {spot, 20, "0", "0", "0.02", "1000", "0"},
		"spot without a cost":        {spot, 20, "51000", "0", "0.02", "0", "0"},
	} {
		held := ledger.Balance{Account: ledger.Holding, Strategy: "one", Symbol: c.symbol.Key(), Asset: "USDT", Amount: exchange.MustAmount(c.cost)}
		another := held
		another.Strategy, another.Amount = "two", exchange.MustAmount("3")
		have := Of(&engine.Status{Ledger: []ledger.Balance{held, another}, Strategies: []engine.StrategyStatus{{Name: "one", Symbol: c.symbol,
			Position: c.position, Last: enginetest.Price(t, c.symbol, c.last), EntryPrice: exchange.MustAmount(c.entry),
			Booked: exchange.MustAmount(c.booked)}}})
		if want := (Profit{Unrealized: exchange.MustAmount(c.want)}); have["one"] != want {
			t.Errorf("%s: want %+v, have %+v", name, want, have["one"])
		}
	}
}
