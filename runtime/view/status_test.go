package view

import (
	"testing"

	"botd/exchange"
	"botd/reconcile/account"
	"botd/runtime/engine"
)

// TestADayIsNoLossBeforeTheFirstRound checks a start: the day is in the journal, the equity has not been read
// yet.
func TestADayIsNoLossBeforeTheFirstRound(t *testing.T) {
	t.Parallel()
	thousand, half := exchange.AmountOf(1_000), exchange.AmountOf(500)
	day := account.Day{StartMS: 1, Equity: thousand, Peak: thousand}
	for _, c := range []struct {
		name   string
		day    account.Day
		status engine.Status
		want   string
	}{
		{"nothing read", day, engine.Status{}, `{"equity":null,"today":{"start_equity":"1000","change":null,"change_ratio":null,"drawdown_ratio":null}}`},
		{"an account without a strategy's prices", day, engine.Status{AccountMS: 6, Account: exchange.MarginAccount{WalletBalance: thousand}},
			`{"equity":null,"today":{"change":null,"change_ratio":null,"drawdown_ratio":null}}`},
		{"no day yet", account.Day{}, engine.Status{Total: half, TotalKnown: true},
			`{"equity":"500","today":{"start":null,"change":null,"change_ratio":null,"drawdown_ratio":null}}`},
		{"half lost", day, engine.Status{Total: half, TotalKnown: true}, `{"equity":"500","today":{"change":"-500","change_ratio":-0.5,"drawdown_ratio":0.5}}`},
		{"all lost", day, engine.Status{TotalKnown: true}, `{"equity":"0","today":{"change":"-1000","change_ratio":-1,"drawdown_ratio":1}}`},
	} {
		c.status.Day = c.day
		shows(t, c.name, showing(c.status).Status(), c.want)
		total, equity := `{"total_equity":null}`, NewEquity()
		if c.status.TotalKnown {
			total = `{"total_equity":"` + c.status.Total.String() + `"}`
		}
		shows(t, c.name, showing(c.status).Account(), total)
		if err := equity.Sample(showing(c.status)); err != nil || (len(equity.Series(0, 1<<60, 0).TimeMS) == 1) != c.status.TotalKnown {
			t.Errorf("%s: want a point of the equity only if it is known, have %v, %v", c.name, equity.Series(0, 1<<60, 0), err)
		}
	}
}
