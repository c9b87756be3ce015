package backtest_test

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/shopspring/decimal"

	"botd/backtest"
	"botd/exchange"
	"botd/exchange/sim"
	"botd/exchange/tape"
	"botd/reconcile"
	"botd/reconcile/ledger"
	"botd/reconcile/placement"
	"botd/reconcile/record"
	"botd/strategy"
)

// weather is a drawn run: a market, a script, and difficult circumstances.
type weather struct {
	market    exchange.Market
	latencyMS int64
	stop      exchange.Rate
	holes     bool
	rough     exchange.Price // largest move of a candle, in ticks
	shares    bool           // targets are shares of equity; leveraged on futures
	costs     backtest.Costs // in addition to fees and latency
	long      bool           // candles of four hours, for 250 days
}

func (w weather) String() string {
	return fmt.Sprintf("%v latency %d stop %v holes %v rough %d shares %v costs %v", w.market, w.latencyMS, w.stop, w.holes, w.rough, w.shares,
		w.costs)
}

func (w weather) config(t testing.TB, seed uint64) backtest.Config {
	count, interval, longest := 600, exchange.Minute15, int64(300)
	if w.long {
		count, interval, longest = 1_500, exchange.Hour4, 60 // no longer than the window of an average
	}
	random := rand.New(rand.NewPCG(seed, 1))
	symbol := symbol(t, w.market, "0.1", "0.001")
	candles := &exchange.Candles{Interval: interval}
	openMS, price := interval.OpenOf(midnight+int64(exchange.Hour1)*random.Int64N(24)), exchange.Price(1_000)*symbol.PriceTick*10
	draw := func() exchange.Price {
		return exchange.Price(random.Int64N(int64(2*w.rough)+1)-int64(w.rough)) * symbol.PriceTick
	}
	script := &scripted{}
	for range count {
		open := price
		if random.IntN(10) == 0 {
			open = max(100*symbol.PriceTick, open+draw()) // a gap
		}
		price = max(100*symbol.PriceTick, open+draw())
		high, low := max(open, price)+max(0, draw()), min(open, price)-max(0, draw())
		candles.Append(exchange.Candle{OpenMS: openMS, Open: open, High: high, Low: max(10*symbol.PriceTick, low), Close: price, Volume: 1})
		openMS += int64(interval)
		if w.holes && random.IntN(40) == 0 {
			openMS += int64(interval) * random.Int64N(longest)
		}
		script.targets = append(script.targets, w.target(random, symbol))
	}
	config := caseConfig(&tape.Tape{Symbol: symbol, Candles: candles}, script)
	c := &config.Costs
	c.LatencyMS, c.Slippage, c.Impact, c.VolumeCap, c.Path = w.latencyMS, w.costs.Slippage, w.costs.Impact, w.costs.VolumeCap, w.costs.Path
	if w.stop != 0 {
		config.Legs[0].Strategy.Protection = strategy.Protection{
			Set:        true,
			StopLoss:   strategy.Distance{Share: w.stop},
			TakeProfit: strategy.Distance{Share: 2 * w.stop},
		}
	}
	for at := midnight; w.market == exchange.Futures && at < openMS; at += 8 * int64(exchange.Hour1) {
		config.Legs[0].Funding = append(config.Legs[0].Funding, tape.FundingRow{Symbol: symbol.Name, TimeMS: at,
			Rate: exchange.Rate(random.Int64N(200_000) - 80_000)})
	}
	return config
}

func (w weather) target(random *rand.Rand, symbol *exchange.Symbol) strategy.Target {
	sign := int64(random.IntN(3)) - 1
	if w.market == exchange.Spot {
		sign = max(0, sign)
	}
	switch {
	case random.IntN(4) > 0:
		return strategy.Target{}
	case w.shares && w.market == exchange.Futures:
		return strategy.Size{Equity: exchange.RateOne * 3}.Target(sign)
	case w.shares:
		return strategy.Size{Equity: exchange.RateOne}.Target(sign)
	}
	return strategy.Target{Kind: strategy.ByQuantity, Quantity: exchange.Quantity(sign*(1+random.Int64N(90))) * symbol.QuantityTick * 100}
}

var weathers = []weather{
	{market: exchange.Futures, rough: 120},
	{market: exchange.Futures, rough: 120, latencyMS: 1_500, stop: 1_500_000},
	{market: exchange.Futures, rough: 200, latencyMS: 40_000, stop: 800_000, holes: true, shares: true},
	{market: exchange.Futures, rough: 900, shares: true},
	{market: exchange.Spot, rough: 120},
	{market: exchange.Spot, rough: 120, latencyMS: 250, holes: true, shares: true},
	{market: exchange.Spot, rough: 200, stop: 1_500_000, shares: true},
	{
		market: exchange.Futures,
		rough:  200,
		stop:   800_000,
		holes:  true,
		costs:  backtest.Costs{Slippage: 50_000, VolumeCap: exchange.RateOne / 2, Path: sim.Worst},
	},
	{
		market:    exchange.Futures,
		rough:     200,
		latencyMS: 700,
		stop:      800_000,
		shares:    true,
		costs:     backtest.Costs{Slippage: 10_000, Impact: 100_000, Path: sim.Best},
	},
	{market: exchange.Spot, rough: 120, costs: backtest.Costs{VolumeCap: exchange.RateOne / 2}},
	{
		market:    exchange.Spot,
		rough:     200,
		latencyMS: 700,
		stop:      1_500_000,
		holes:     true,
		costs:     backtest.Costs{Impact: 1_000_000, VolumeCap: exchange.RateOne, Path: sim.Worst},
	},
}

// TestEveryRunAddsUpAndIsRepeatable draws runs and checks the invariants: the executions give the equity, and
// so do the round trips; a second run is the same to the bit, and so is one that plays every path instead of
// skipping quiet candles.
func TestEveryRunAddsUpAndIsRepeatable(t *testing.T) {
	t.Parallel()
	for _, w := range weathers {
		t.Run(w.String(), func(t *testing.T) {
			t.Parallel()
			for seed := range uint64(6) {
				config := w.config(t, seed)
				last := config.Legs[0].Tape.Candles.Close[config.Legs[0].Tape.Candles.Len()-1]
				result := mustRun(t, config)
				if result.Fills < 10 && result.Liquidations == 0 {
					t.Errorf("seed %d: %d fills prove little: %v", seed, result.Fills, result.Warnings)
				}
				if result.Liquidations == 0 { // a bankrupt wallet's loss is not entirely its owner's
					addUp(t, result, config.Legs[0].Tape.Symbol.PriceDecimal(last).String())
				}
				if result.Orders.Placed > 2*result.Candles {
					t.Errorf("seed %d: %d orders in %d candles: a plan and its derivation disagree, again and again", seed, result.Orders.Placed,
						result.Candles)
				}
				again := mustRun(t, w.config(t, seed))
				if again.ResultSHA256 != result.ResultSHA256 {
					t.Errorf("seed %d: want %s again, have %s", seed, result.ResultSHA256, again.ResultSHA256)
				}
				walked := mustRun(t, backtest.Walking(w.config(t, seed)))
				if walked.ResultSHA256 != result.ResultSHA256 {
					t.Errorf("seed %d: playing every path changes the result: want %s, have %s (%d and %d fills)", seed, result.FinalEquity,
						walked.FinalEquity, result.Fills, walked.Fills)
				}
				if t.Failed() {
					return
				}
			}
		})
	}
}

// TestTripsAddUpThroughLiquidations checks that the round trips, together with what the exchange bore, give
// the wallet.
func TestTripsAddUpThroughLiquidations(t *testing.T) {
	t.Parallel()
	liquidated := 0
	for seed := range uint64(10) {
		result := mustRun(t, weathers[3].config(t, seed))
		liquidated += result.Liquidations
		equity := decimal.RequireFromString(result.InitialEquity)
		for _, trip := range result.Trips {
			equity = equity.Add(decimal.RequireFromString(trip.PNL))
		}
		if off := equity.Sub(decimal.RequireFromString(result.FinalEquity)).
			Abs(); result.OpenPosition == nil &&
			off.GreaterThan(decimal.New(1, -12)) {
			t.Errorf("seed %d: want %s, have %s by %d round trips, %d liquidated", seed, result.FinalEquity, equity, result.RoundTrips,
				result.Liquidations)
		}
	}
	if liquidated == 0 {
		t.Error("nothing was liquidated")
	}
}

// TestReplayingTheRecordsGivesTheSameTracker is the property on which the live journal relies.
func TestReplayingTheRecordsGivesTheSameTracker(t *testing.T) {
	t.Parallel()
	config := weathers[1].config(t, 3)
	tracker := reconcile.NewTracker(placement.Bounds{WindowMS: config.Costs.LatencyMS, VisibilityMS: 1, StalenessMS: 1})
	sent := 0
	config.Record = func(r *record.Record) {
		if r.Kind() == record.KindSending {
			sent++
		}
		tracker.Apply(r)
	}
	result := mustRun(t, config)
	if sent < result.Fills || tracker.Epoch() != 1 {
		t.Errorf("want at least the %d fills' placements recorded in epoch 1, have %d in %d", result.Fills, sent, tracker.Epoch())
	}
	held := "0"
	if p := result.OpenPosition; p != nil {
		held = p.Quantity
		if p.Side == "SHORT" {
			held = "-" + held
		}
	}
	for state := range tracker.Symbols() {
		same(t, "position by the records", held, config.Legs[0].Tape.Symbol.QuantityDecimal(state.Known()).String())
	}
}

// TestTheLedgerEqualsTheWallet books the account's money as the live engine does: from the exchange's reports
// alone the ledger must equal the exchange's own books.
func TestTheLedgerEqualsTheWallet(t *testing.T) {
	t.Parallel()
	for _, w := range weathers {
		t.Run(w.String(), func(t *testing.T) {
			t.Parallel()
			for seed := range uint64(3) {
				config := w.config(t, seed)
				without := mustRun(t, config)
				tracker := reconcile.NewTracker(placement.Bounds{WindowMS: config.Costs.LatencyMS, VisibilityMS: 1, StalenessMS: 1})
				config = w.config(t, seed)
				config.Ledger, config.Record = true, tracker.Apply
				result := mustRun(t, config)
				if result.ResultSHA256 != without.ResultSHA256 {
					t.Errorf("seed %d: the ledger changes the result", seed)
				}
				wantBooked(t, w.market, tracker.Ledger(), result)
			}
		})
	}
}

func wantBooked(t *testing.T, market exchange.Market, account *ledger.Ledger, result *backtest.Result) {
	t.Helper()
	sums, unexplained := map[ledger.Account]exchange.Amount{}, account.Unexplained()
	for b := range account.Balances() {
		if b.Asset == "USDT" {
			sums[b.Account] = sums[b.Account].Add(b.Amount)
		}
	}
	if market == exchange.Spot {
		if len(unexplained) > 0 {
			t.Errorf("spot reports all: have %+v", unexplained)
		}
		return
	}
	same(t, "wallet", result.Wallet, sums[ledger.Wallet].String())
	if result.Liquidations > 0 { // the insurance of a bankrupt account is not reported
		return
	}
	if len(unexplained) > 0 {
		t.Errorf("want all explained, have %+v", unexplained)
	}
	paid := decimal.RequireFromString(result.TotalFees).Add(decimal.RequireFromString(result.TotalFunding))
	same(t, "fees and funding", paid.String(), sums[ledger.Fees].Add(sums[ledger.Funding]).String())
	if turnedAtAPayment(result) {
		return
	}
	same(t, "fees", result.TotalFees, sums[ledger.Fees].String())
	same(t, "funding", result.TotalFunding, sums[ledger.Funding].String())
}

// turnedAtAPayment reports whether an order ended and another one filled at a funding time. The exchange then
// reports one change of the wallet, whose parts can only be estimated.
func turnedAtAPayment(result *backtest.Result) bool {
	for i := 1; i < len(result.Executions); i++ {
		before, e := &result.Executions[i-1], &result.Executions[i]
		if e.TimeMS == before.TimeMS && e.TimeMS%(8*int64(exchange.Hour1)) == 0 && e.Purpose != before.Purpose {
			return true
		}
	}
	return false
}
