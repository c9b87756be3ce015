package overlay

import (
	"testing"

	"github.com/shopspring/decimal"

	"botd/exchange"
	"botd/strategy"
)

func testSymbol(t testing.TB) *exchange.Symbol {
	t.Helper()
	d := decimal.RequireFromString
	s, err := exchange.NewSymbol(exchange.SymbolSpec{Market: exchange.Futures, Name: "BTC-USDT", Base: "BTC", Quote: "USDT",
		PriceTick: d("0.1"), QuantityTick: d("0.001"), MinNotional: d("5"), MaxNotional: d("1000000")})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestWithoutRulesAStrategyIsItself(t *testing.T) {
	t.Parallel()
	w := &sided{}
	if Wrap(w, Rules{Exit: Exit{Base: strategy.Protection{Set: true}}}) != strategy.Strategy(w) {
		t.Error("want the strategy as it is")
	}
	if n := Wrap(w, Rules{Exit: Exit{TimeLimitMS: 1}}).Warmup(); n != 7 {
		t.Errorf("want its warm-up, have %d", n)
	}
}
