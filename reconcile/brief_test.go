package reconcile

import (
	"testing"

	"botd/exchange"
	"botd/strategy"
)

func TestARecordIsBrieflyTold(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		record Record
		want   string
	}{
		{Record{Kind: RecordBoot, Epoch: 7}, "epoch 7"},
		{Record{Kind: RecordPlan, Plan: &strategy.Plan{Target: strategy.Target{Kind: strategy.ByEquity, Share: exchange.RateOne}, Reason: "up"}}, "target 1 of equity: up"},
		{Record{Kind: RecordPlan, Plan: &strategy.Plan{OrdersSet: true, Orders: make([]strategy.DesiredOrder, 3)}}, "no target, 3 orders"},
		{Record{Kind: RecordSending, ClientOrderID: "b1", Purpose: StopLoss, Order: &exchange.NewOrder{Side: exchange.Sell, Type: exchange.StopMarket, StopPrice: 5}}, "b1 stop_loss SELL STOP_MARKET stop 5"},
		{Record{Kind: RecordRefused, ClientOrderID: "b1", Code: 2003, Why: "too small"}, "b1 code 2003 too small"},
		{Record{Kind: RecordHalt}, "armed again"},
		{Record{Kind: RecordHalt, Level: LevelFlatten, Why: "news"}, "flatten news"},
		{Record{Kind: RecordBreach, Rule: "max_daily_loss", UntilMS: 1_800_000_000_000, Why: "5 %"}, "until 2027-01-15T08:00:00Z max_daily_loss 5 %"},
		{Record{Kind: RecordEntry, Entry: &Posting{Reading: Reading{Market: exchange.Futures}, Lines: []Line{{Account: Fees, Asset: money, Amount: amount("0.5")}, {Account: Wallet, Asset: money, Amount: amount("-0.5")}}}}, "futures fees 0.5 USDT"},
	} {
		if have := c.record.Brief(); have != c.want {
			t.Errorf("want %q, have %q", c.want, have)
		}
	}
}
