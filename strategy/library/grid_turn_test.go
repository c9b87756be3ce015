package library

import (
	"errors"
	"strings"
	"testing"

	"botd/exchange"
	"botd/strategy"
)

func TestAGridBeginsWithWhatItsLinesAboveThePriceSell(t *testing.T) {
	t.Parallel()
	b := grids(t, exchange.Futures, strategy.Values{"initial": "true"})
	b.expect(115, "buy 2@115.5, buy 1@110, buy 1@100") // the cells from 120 and from 130 sell at 130 and 140
	b.expect(121, "buy 2@115.5, buy 1@110, buy 1@100") // not filled yet: its lines wait, whatever the price
	b.fill("start", 1500, 1500)
	b.expect(115, "buy 2@115.5, buy 1@110, buy 1@100")
	b.fill("start", 500, 2000)
	b.expect(115, "buy 1@110, buy 1@100, sell 1@130, sell 1@140")
	b.fill("out2", 1000, 1000)
	b.expect(131, "buy 1@120, buy 1@110, buy 1@100, sell 1@140")
	short := grids(t, exchange.Futures, strategy.Values{"initial": "true", "side": "short"})
	short.expect(125, "sell 2@124.4, sell 1@130, sell 1@140")
	short.fill("start", 2000, -2000)
	short.expect(125, "sell 1@130, sell 1@140, buy 1@110, buy 1@100")
}

func TestAGridOfMoneyBuysAsMuchAtEachLine(t *testing.T) {
	t.Parallel()
	b := grids(t, exchange.Futures, strategy.Values{"quantity": "0", "quote": "110"})
	b.expect(125, "buy 0.916@120, buy 1@110, buy 1.1@100")
	b.fill("in2", 916, 916)
	b.expect(119, "buy 1@110, buy 1.1@100, sell 0.916@130")
	spot := grids(t, exchange.Spot, strategy.Values{"quantity": "0", "quote": "110", "fee": "1%"})
	spot.expect(125, "buy 0.916@120, buy 1@110, buy 1.1@100")
	spot.fill("in1", 1000, 990)
	spot.expect(112, "buy 1.1@100, sell 0.99@120")
}

// pairs returns what a grid remembers of its closed pairs.
func (b *book) pairs() (count, profit int64) {
	count, _ = b.view.Memory.Get(gridPairs)
	profit, _ = b.view.Memory.Get(gridProfit)
	return count, profit
}

func TestAGridCountsItsPairsAndReinvests(t *testing.T) {
	t.Parallel()
	where := setting(t, exchange.Futures)
	where.Fees.Maker = exchange.RateOne / 100
	made, err := grid().New(where, strategy.Values{"lower": "100", "upper": "140", "lines": "5", "quote": "110", "reinvest": "100%"})
	if err != nil {
		t.Fatal(err)
	}
	b := newBook(t, made, exchange.Futures)
	b.expect(111, "buy 1@110, buy 1.1@100")
	b.fill("in1", 1000, 1000)
	b.expect(109, "buy 1.1@100, sell 1@120")
	b.fill("out1", 1000, 0)
	b.expect(121, "buy 0.916@120, buy 1.017@110, buy 1.1@100") // 10 less 2.3 of fees: 7.7, a quarter of it for each cell
	if count, profit := b.pairs(); count != 1 || profit != 770_000_000 {
		t.Errorf("want one pair and 7.7 USDT, have %d and %d", count, profit)
	}
	b.expect(121, "buy 0.916@120, buy 1.017@110, buy 1.1@100")
	if count, _ := b.pairs(); count != 1 {
		t.Errorf("want a pair counted once, have %d", count)
	}
	b.fill("in1", 1017, 1017)
	b.expect(109, "buy 1.1@100, sell 1.017@120")
}

func TestAGridClosesEverythingAtItsStopOrTarget(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name       string
		values     strategy.Values
		price      float64
		back       float64
		held, flat exchange.Quantity
		again      string
	}{
		{"a stop", strategy.Values{"stop": "90"}, 90, 125, 1000, 0, ""},
		{"a target", strategy.Values{"target": "150"}, 150, 125, 1000, 0, ""},
		{"a stop, and again", strategy.Values{"stop": "90", "restart": "true"}, 89, 125, 1000, 0, "buy 1@120, buy 1@110, buy 1@100"},
		{"a short grid's stop", strategy.Values{"side": "short", "stop": "150"}, 151, 125, -1000, 0, ""},
	} {
		b := grids(t, exchange.Futures, c.values)
		b.decide(125)
		b.fill("in2", 1000, c.held)
		b.decide(124)
		for range 2 {
			if b.decide(c.price); b.plan.Target.Kind != strategy.ByQuantity || b.plan.Target.Quantity != 0 || b.plan.OrdersSet {
				t.Fatalf("%s: want everything closed, have %+v", c.name, b.plan)
			}
		}
		b.view.Position.Quantity = c.flat
		b.expect(c.back, "")
		b.expect(c.back, "")
		b.expect(c.back, c.again)
	}
	for name, values := range map[string]strategy.Values{"stop": {"stop": "100"}, "target": {"target": "140"}, "quote": {"quote": "50"},
		"reinvest": {"reinvest": "50%"}, "quantity": {"quantity": "0"}} {
		all := strategy.Values{"lower": "100", "upper": "140", "lines": "5", "quantity": "1"}
		for key, value := range values {
			all[key] = value
		}
		var wrong *strategy.ValueError
		if _, err := grid().New(setting(t, exchange.Futures), all); !errors.As(err, &wrong) || wrong.Parameter != name {
			t.Errorf("%v: want an error of %s, have %v", values, name, err)
		}
	}
}

func TestAGridShowsItsPairs(t *testing.T) {
	t.Parallel()
	b := grids(t, exchange.Futures, nil)
	b.decide(125)
	b.fill("in2", 1000, 1000)
	b.decide(119)
	b.fill("out2", 1000, 0)
	b.decide(131)
	var shown []string
	for _, c := range b.strategy.(strategy.Conditional).Conditions(&b.view) {
		shown = append(shown, c.Name+" "+c.Value)
	}
	if have := strings.Join(shown, "; "); !strings.Contains(have, "closed pairs 1; profit of the pairs after fees 10 USDT") {
		t.Errorf("want the pair and its profit, have %s", have)
	}
}
