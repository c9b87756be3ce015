package profit

import (
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

// TestAFeeCountsOnce has a spot strategy that bought 0.2 ETH at 2500 for a fee of 0.5, sold none, and sees the price rise
// by ten: once there were three different figures, and the unrealised one held the fee again.
func TestAFeeCountsOnce(t *testing.T) {
	t.Parallel()
	ether := exchange.SymbolKey{Market: exchange.Spot, Name: "ETH-USDT"}
	spot := symbol(t, ether, "0.01", "0.0001")
	balance := func(account ledger.Account, amount string) ledger.Balance {
		return ledger.Balance{Account: account, Strategy: "spot", Symbol: ether, Asset: "USDT", Amount: exchange.MustAmount(amount)}
	}
	status := &engine.Status{
		Ledger: []ledger.Balance{balance(ledger.Holding, "499.5"), balance(ledger.Fees, "0.5"),
			{Account: ledger.Exchanged, Strategy: "spot", Symbol: ether, Asset: "ETH", Amount: exchange.MustAmount("-0.2")},
			{Account: ledger.Unexplained, Asset: "USDT", Amount: exchange.MustAmount("7")}},
		Strategies: []engine.StrategyStatus{{Name: "spot", Position: 1998, Last: enginetest.Price(t, spot, "2510"), Symbol: spot}},
	}
	have := Of(status)["spot"]
	want := Profit{Fees: exchange.MustAmount("0.5"), Net: exchange.MustAmount("-0.5"), Unrealised: exchange.MustAmount("1.998")}
	if have != want {
		t.Errorf("want %+v, have %+v", want, have)
	}
}

func TestFuturesAreMeasuredFromTheirEntryPrice(t *testing.T) {
	t.Parallel()
	bitcoin := symbol(t, exchange.SymbolKey{Market: exchange.Futures, Name: "BTC-USDT"}, "0.1", "0.001")
	strategy := engine.StrategyStatus{Name: "trend", Symbol: bitcoin, Position: -20, EntryPrice: exchange.MustAmount("50000"),
		Last: enginetest.Price(t, bitcoin, "49000")}
	status := &engine.Status{Strategies: []engine.StrategyStatus{strategy}, Ledger: []ledger.Balance{
		{Account: ledger.Realised, Strategy: "trend", Asset: "USDT", Amount: exchange.MustAmount("-3")},
		{Account: ledger.Funding, Strategy: "trend", Asset: "USDT", Amount: exchange.MustAmount("1")},
	}}
	if want, have := (Profit{Realised: exchange.AmountOf(3), Funding: exchange.AmountOf(1), Net: exchange.AmountOf(2), Unrealised: exchange.AmountOf(20)}),
		Of(status)["trend"]; have != want {
		t.Errorf("want %+v, have %+v", want, have)
	}
	status.Strategies[0].Position = 0
	if have := Of(status)["trend"].Unrealised; !have.IsZero() {
		t.Errorf("flat: want nothing unrealised, have %s", have)
	}
}
