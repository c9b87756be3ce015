package api

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/shopspring/decimal"

	"botd/exchange"
	"botd/internal/enginetest"
	"botd/reconcile/ledger"
	"botd/runtime/notify"
	"botd/runtime/view"
)

// trader is a strategy that trades at random, with separate books: cash and position.
type trader struct {
	symbol               *exchange.Symbol
	held, cost           decimal.Decimal // cost of the position, without a sign
	realized, fees, paid decimal.Decimal
	cash                 decimal.Decimal
}

// trade buys or sells at a price. A closing part realizes against the average price of the position.
func (r *trader) trade(quantity, price, fee decimal.Decimal) {
	r.cash, r.fees = r.cash.Sub(quantity.Mul(price)).Sub(fee), r.fees.Add(fee)
	if closing := quantity.Neg(); r.held.Mul(quantity).IsNegative() {
		if closing.Abs().GreaterThan(r.held.Abs()) {
			closing = r.held
		}
		part := r.cost.Mul(closing).DivRound(r.held, 18)
		r.realized = r.realized.Add(closing.Mul(price)).Sub(part)
		r.held, r.cost, quantity = r.held.Sub(closing), r.cost.Sub(part), quantity.Add(closing)
	}
	r.held, r.cost = r.held.Add(quantity), r.cost.Add(quantity.Mul(price))
}

// lines returns the strategy's accounts in the ledger's form: what it owes is positive.
func (r *trader) lines(t *testing.T, name string) []ledger.Balance {
	line := func(account ledger.Account, amount decimal.Decimal) ledger.Balance {
		return ledger.Balance{Account: account, Strategy: name, Symbol: r.symbol.Key(), Asset: "USDT",
			Amount: enginetest.Amount(t, amount.Truncate(18).String())}
	}
	all := []ledger.Balance{line(ledger.Realized, r.realized.Neg()), line(ledger.Fees, r.fees), line(ledger.Funding, r.paid)}
	if r.symbol.Market == exchange.Spot {
		all = append(all, line(ledger.Holding, r.cost))
	}
	return all
}

// cheap is a symbol of which large quantities are owned.
var cheap = func() *exchange.Symbol {
	s, err := exchange.NewSymbol(exchange.SymbolSpec{Market: exchange.Futures, Name: "PEPE-USDT", Base: "PEPE", Quote: "USDT",
		PriceTick: decimal.New(1, -8), QuantityTick: decimal.NewFromInt(1_000_000), MinNotional: decimal.NewFromInt(5),
		MaxNotional: decimal.NewFromInt(1_000_000), Tradable: true, Cancelable: true})
	if err != nil {
		panic(err)
	}
	return s
}()

// TestProfitIsEqualEverywhere has two strategies trade at random. Metrics, status, strategy, position and the
// daily summary show the same profit for each, which equals its cash plus its position at the last price.
func TestProfitIsEqualEverywhere(t *testing.T) {
	t.Parallel()
	for seed := range uint64(20) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			t.Parallel()
			d := newDesk(t)
			status, draw := *running(t), rand.New(rand.NewPCG(seed, 18))
			books := map[string]*trader{"trend": {symbol: bitcoin}, "hold": {symbol: ether}}
			if seed%2 == 1 { // an average price has more digits than a price
				books["trend"].symbol = cheap
				status.Strategies[0].Symbol, status.Symbols[0].Rules, status.Symbols[0].Key = cheap, cheap, cheap.Key()
			}
			status.Ledger = nil
			for i := range status.Strategies {
				s := &status.Strategies[i]
				r := books[s.Name]
				var last exchange.Price
				for range 1 + draw.IntN(30) {
					last = exchange.Price(1_000+draw.Int64N(1_000)) * r.symbol.PriceTick
					quantity := r.symbol.QuantityDecimal(exchange.Quantity(1+draw.Int64N(5_000)) * r.symbol.QuantityTick)
					if draw.IntN(2) == 0 && (r.symbol.Market == exchange.Futures || r.held.GreaterThanOrEqual(quantity)) {
						quantity = quantity.Neg()
					}
					price := r.symbol.PriceDecimal(last)
					r.trade(quantity, price, quantity.Abs().Mul(price).Mul(decimal.New(5, -4)))
					if funding := decimal.New(draw.Int64N(2_000)-1_000, -3); r.symbol.Market == exchange.Futures {
						r.paid, r.cash = r.paid.Add(funding), r.cash.Sub(funding)
					}
				}
				s.Position = exchange.Quantity(r.held.Shift(int32(r.symbol.QuantityScale)).IntPart())
				if r.symbol.Market == exchange.Spot {
					s.Booked = enginetest.Amount(t, r.held.String())
				}
				s.Last = last + exchange.Price(draw.Int64N(200)-100)*r.symbol.PriceTick
				s.EntryPrice = exchange.Amount{}
				if r.symbol.Market == exchange.Futures && s.Position != 0 {
					s.EntryPrice = enginetest.Amount(t, r.cost.DivRound(r.held, 18).String())
				}
				status.Symbols[i].Position, status.Symbols[i].Known, status.Symbols[i].Last = s.Position, s.Position, s.Last
				status.Symbols[i].EntryPrice = s.EntryPrice
				status.Ledger = append(status.Ledger, r.lines(t, s.Name)...)
			}
			d.board.Show(status)
			d.metrics.Status(&status)
			var tally notify.Tally
			summary := tally.Summary(&status)
			for i := range status.Strategies {
				name := status.Strategies[i].Name
				d.wantProfit(name, books[name], books[name].symbol.PriceDecimal(status.Strategies[i].Last), summary)
			}
		})
	}
}

// wantProfit compares everything that is shown of a strategy with its own books.
func (d *desk) wantProfit(name string, r *trader, last decimal.Decimal, summary string) {
	d.t.Helper()
	net := r.realized.Sub(r.fees).Sub(r.paid)
	open := r.cash.Add(r.held.Mul(last)).Sub(net)
	figures := map[string][2]string{}
	var one view.Strategy
	d.read("/api/v1/strategies/"+name, &one)
	var status struct{ Strategies []view.Strategy }
	d.read("/api/v1/status", &status)
	for _, s := range append(status.Strategies, one) {
		if s.Name == name {
			figures["realized"], figures["unrealized"] = [2]string{net.String(), string(s.Realized)}, [2]string{open.String(), string(s.Unrealized)}
			figures["profit"] = [2]string{net.Add(open).String(), string(s.Profit)}
		}
	}
	var positions struct{ Items []view.Position }
	d.read("/api/v1/positions", &positions)
	for _, p := range positions.Items {
		if p.Strategy == name && !r.held.IsZero() {
			figures["position"] = [2]string{open.String(), string(p.Unrealized)}
		}
	}
	for family, want := range map[string]decimal.Decimal{"botd_strategy_realized_pnl_usdt": net, "botd_strategy_unrealized_pnl_usdt": open} {
		_, have, _ := strings.Cut(d.want(200, "/metrics"), "\n"+family+`{strategy="`+name+`"} `)
		have, _, _ = strings.Cut(have, "\n")
		figures[family] = [2]string{want.String(), have}
	}
	if len(figures) < 5 || !r.held.IsZero() && len(figures) < 6 {
		d.t.Errorf("%s: want each figure read, have %v", name, figures)
	}
	for where, pair := range figures {
		if want, have := decimal.RequireFromString(pair[0]), decimal.RequireFromString(pair[1]); want.Sub(have).Abs().GreaterThan(decimal.New(1, -6)) {
			d.t.Errorf("%s, %s: want %s, have %s", name, where, want, have)
		}
	}
	line := fmt.Sprintf("net %s USDT so far, unrealized %s", notify.Signed(enginetest.Amount(d.t, net.Truncate(18).String())),
		notify.Signed(enginetest.Amount(d.t, open.Truncate(18).String())))
	if !strings.Contains(summary, line) {
		d.t.Errorf("%s: want %q in the summary, have\n%s", name, line, summary)
	}
}

// read decodes an answer of the API.
func (d *desk) read(path string, into any) {
	d.t.Helper()
	if err := json.Unmarshal([]byte(d.want(200, path)), into); err != nil {
		d.t.Errorf("%s: %v", path, err)
	}
}
