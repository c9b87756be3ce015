package risk

import (
	"fmt"
	"testing"

	"botd/exchange"
	"botd/reconcile"
	"botd/reconcile/placement"
	"botd/reconcile/record"
)

// BenchmarkGate checks an opening that passes every rule, and a stop, with the given number of orders in the
// tracker.
func BenchmarkGate(b *testing.B) {
	percent := exchange.RateOne / 100
	limits := Limits{MaxLeverage: 20, MaxGrossExposure: 10 * exchange.RateOne, MaxOpenOrders: 20_000, MaxOrdersPerMinute: 20_000,
		PriceCollar: 5 * percent, MaxDataAgeMS: 120_000}
	benchmarkLimits(&limits)
	for _, orders := range []int{0, 10, 200} {
		for _, c := range []struct {
			name   string
			intent reconcile.Intent
		}{{"entry", entry(10)}, {"stop", stop(49_000e8)}} {
			b.Run(fmt.Sprintf("%s/orders=%d", c.name, orders), func(b *testing.B) {
				t := newTable(&testing.T{}, limits)
				t.hold(100)
				benchmarkDay(t)
				for i := range orders {
					t.live(fmt.Sprint("o", i), exchange.NewOrder{Side: exchange.Buy, Type: exchange.Limit, Price: 49_000e8, Quantity: 1}, placement.Order)
				}
				c.intent.Strategy, c.intent.Order.Market, c.intent.Order.Symbol = "one", exchange.Futures, "BTC-USDT"
				b.ReportAllocs()
				for b.Loop() {
					if _, rejection := t.gate.Check(&c.intent, &t.facts); rejection != nil {
						b.Fatal(rejection)
					}
				}
			})
		}
	}
}

// benchmarkLimits sets the limits that latch, and those of the symbol.
func benchmarkLimits(limits *Limits) {
	percent := exchange.RateOne / 100
	limits.MaxDailyLoss, limits.MaxDrawdown, limits.MaxSymbolExposure = Loss{Share: 5 * percent}, Loss{Share: 20 * percent}, 10*exchange.RateOne
	limits.MaxLosingStreak, limits.CoolDownMS = 5, 60_000
}

func benchmarkDay(t *table) {
	t.tracker.Apply(&record.Record{Body: record.Day{StartMS: 1, Equity: exchange.AmountOf(10_000), Peak: exchange.AmountOf(10_000)}})
}
