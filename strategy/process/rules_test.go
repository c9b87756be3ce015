package process

import (
	"fmt"
	"testing"

	"botd/exchange"
	"botd/strategy"
)

// ruled is a strategy that decides by the rules that its view shows.
type ruled struct{ echo }

func (r *ruled) Decide(v *strategy.View, p *strategy.Plan) {
	s := v.Symbol
	p.OrdersSet = true
	p.Orders = []strategy.DesiredOrder{{Key: "a", Side: exchange.Buy, Price: s.FloorPrice(v.Last), Quantity: s.QuantityTick}}
	p.Reason = fmt.Sprint(s.PriceTick, s.QuantityTick, s.MinNotional, s.MaxNotional, s.FundingIntervalHours, v.Working, v.OrderBook)
}

// The rules of the symbol change, and change back, while the strategy runs: its process decides by those that botd has read last, and its orders
// are rounded by them. What rests at a former step is shown as it is.
func TestAProcessDecidesByTheCurrentRules(t *testing.T) {
	t.Parallel()
	currentRules(t)
}

func currentRules(t testing.TB) {
	t.Helper()
	setting, tasks := views(t, 60)
	changes := []func(*exchange.Symbol){
		func(s *exchange.Symbol) { s.PriceTick *= 50 },
		func(s *exchange.Symbol) { s.PriceTick /= 10 },
		func(s *exchange.Symbol) { s.QuantityTick *= 10 },
		func(s *exchange.Symbol) { s.MinNotional = exchange.AmountOf(100) },
		func(s *exchange.Symbol) { s.MaxNotional = exchange.AmountOf(1_000) },
		func(s *exchange.Symbol) { s.FundingIntervalHours = 4 },
		func(*exchange.Symbol) {},
	}
	for i := range tasks {
		rules := *setting.Symbol
		changes[i/8%len(changes)](&rules)
		tasks[i].View.Symbol = &rules
		if i > 0 {
			tasks[i].Before = tasks[i-1].View.Snapshot()
		}
	}
	there, err := NewRemote(serving(func(*Hello) (strategy.Strategy, []strategy.Parameter, error) { return &ruled{}, nil, nil }),
		NewHello("one", setting, nil), setting)
	if err != nil {
		t.Fatal(err)
	}
	defer there.Kill("the test is over")
	wantSame(t, tasks, &ruled{}, there)
}

// A process that starts later receives the rules of the start in its hello, and the current ones with the first view.
func TestARestartedProcessDecidesByTheCurrentRules(t *testing.T) {
	t.Parallel()
	setting, tasks := views(t, 8)
	rules := *setting.Symbol
	rules.PriceTick *= 50
	for i := range tasks {
		tasks[i].View.Symbol, tasks[i].Before.Symbol = &rules, &rules
	}
	there, err := NewRemote(serving(func(*Hello) (strategy.Strategy, []strategy.Parameter, error) { return &ruled{}, nil, nil }),
		NewHello("one", setting, nil), setting)
	if err != nil {
		t.Fatal(err)
	}
	defer there.Kill("the test is over")
	wantSame(t, tasks[:4], &ruled{}, there)
	there.Restart()
	tasks[4].Fresh, tasks[4].From = true, 0
	wantSame(t, tasks[4:], &ruled{}, there)
}
