package sim

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"botd/exchange"
)

var update = flag.Bool("update", false, "write testdata/*.txt")

// sampled writes what a few drawn markets do: a section for each kind of market and order, a line for each fill or row.
type sampled struct {
	*testing.T
	strings.Builder
}

// manyPlaces are the numbers that compilers for other processors may round differently in their last digit.
var manyPlaces = regexp.MustCompile(`\d+\.\d{7,}`)

func (s *sampled) line(format string, values ...any) {
	s.WriteString(manyPlaces.ReplaceAllStringFunc(fmt.Sprintf(format, values...), func(text string) string {
		number, err := strconv.ParseFloat(text, 64)
		if err != nil {
			s.Fatal(err)
		}
		return strconv.FormatFloat(number, 'f', 6, 64)
	}) + "\n")
}

// fills writes fills, with the time since the start.
func (s *sampled) fills(sinceMS int64, all []Fill) {
	for _, f := range all {
		s.line("  %d: %s %d %d at %d, fee %s %s, maker %t, slipped %s", f.TimeMS-sinceMS, f.Side, f.OrderID, f.Quantity, f.Price, f.Fee, f.FeeAsset,
			f.Maker, f.Slipped)
	}
}

// do asks for something on an account, and writes the answer.
func (s *sampled) do(x *Exchange, account string, request exchange.Request) {
	answer, err := x.Do(account, &request)
	if err != nil {
		s.line("  %s: %v", request.Operation, err)
		return
	}
	switch request.Operation {
	case exchange.FuturesAccount:
		s.line("  account %+v", answer.Account)
	case exchange.FuturesOpenPositions:
		for _, p := range answer.Positions.Items() {
			s.line("  position %+v", p)
		}
	case exchange.FuturesOpenOrders, exchange.SpotOpenOrders, exchange.SpotOrderHistory:
		for _, o := range answer.Orders.Items() {
			s.line("  order %+v", o)
		}
	case exchange.FuturesTicker, exchange.SpotTicker:
		s.line("  ticker %+v", answer.Tickers.Items())
	case exchange.FuturesDepth, exchange.SpotDepth:
		s.line("  depth %+v", answer.Depth)
	case exchange.FuturesTrades, exchange.SpotTrades:
		s.line("  trades %+v", answer.Trades.Items())
	case exchange.FuturesCandles, exchange.SpotCandles:
		for i := range answer.Candles.Len() {
			s.line("  candle %+v", answer.Candles.At(i))
		}
	case exchange.SpotWallet:
		s.line("  wallet %+v", answer.Balances.Items())
	}
}

// tapes are the settings of a recorded market that are sampled.
func tapes(seed uint64) TapeConfig {
	random := rand.New(rand.NewPCG(seed, 4))
	c := TapeConfig{Order: PathOrder(seed % 5), Costs: Costs{Bounded: seed%3 != 0, Through: random.IntN(2) == 0,
		Slippage: exchange.Rate(random.IntN(3) * 20_000), Impact: exchange.Rate(random.IntN(2) * 100_000)}}
	if seed%4 == 0 {
		c.Costs.VolumeCap = exchange.RateOne / exchange.Rate(2+random.IntN(10))
	}
	return c
}

func (s *sampled) recorded() {
	for seed := range uint64(15) {
		random := rand.New(rand.NewPCG(seed, 41))
		delay := []int64{0, 1, 250, 4_000}[random.IntN(4)]
		d, config := drawMarket(random, symbolOf(s.T), delay), tapes(seed)
		s.line("spot orders %d, delay %d, detail %t, %+v", seed, delay, d.detail != nil, config)
		for _, o := range d.run(s.T, delay, config) {
			s.fills(startMS, o.parts)
		}
	}
	for seed := range uint64(60) {
		random := rand.New(rand.NewPCG(seed, 42))
		delay := []int64{0, 1, 1_000, 20_000, 100_000}[random.IntN(5)]
		d, config := drawMarket(random, symbolOf(s.T), delay), tapes(seed)
		bar := random.IntN(d.candles.Len() - 8)
		atMS, order := d.candles.OpenMS[bar]+random.Int64N(int64(d.candles.Interval)), drawKind(random, d.candles.Open[bar])
		s.line("one order %d, delay %d, %+v at %d, %+v", seed, delay, order, atMS-startMS, config)
		outcome := d.trigger(s.T, delay, atMS, order, config)
		s.fills(startMS, outcome.parts)
	}
	for seed := range uint64(40) {
		random := rand.New(rand.NewPCG(seed, 43))
		delay := []int64{0, 1, 1_000, 20_000}[random.IntN(4)]
		g, config := drawGuarded(s.T, random, delay), tapes(seed)
		price, capped, fills := g.run(s.T, delay, config)
		s.line("exits %d, delay %d, %+v: %.0f, capped %t", seed, delay, config, price, capped)
		s.fills(startMS, fills)
	}
	for seed := range uint64(25) {
		f := drawFollowed(s.T, seed)
		for _, delay := range []int64{0, 10, 10_000} {
			exit, before, soon, stop := f.run(s.T, delay)
			s.line("trailing stop %d, delay %d: exit %d, %d %d, stop %d", seed, delay, exit, before, soon, stop)
		}
	}
}

// singles places one order at a time in bounded markets, with delays and caps.
func (s *sampled) singles() {
	for seed := range uint64(90) {
		random := rand.New(rand.NewPCG(seed, 46))
		c := drawColumns(random)
		d := drawMarket(random, symbolOf(s.T), c.delayMS[1])
		bar := random.IntN(d.candles.Len() - 8)
		atMS, order, i := d.candles.OpenMS[bar]+random.Int64N(int64(d.candles.Interval)), drawKind(random, d.candles.Open[bar]), random.IntN(3)
		s.line("%d, delay %d, %+v at %d, %+v", seed, c.delayMS[i], order, atMS-startMS, c.config[i])
		outcome := d.trigger(s.T, c.delayMS[i], atMS, order, c.config[i])
		s.fills(startMS, outcome.parts)
	}
}

// seats plays recorded markets that begin anywhere, and writes what their instrument knows and shows at some times.
func (s *sampled) seats() {
	for seed := range uint64(24) {
		random := rand.New(rand.NewPCG(seed, 47))
		d, config := drawMarket(random, symbolOf(s.T), 0), tapes(seed)
		config.Detail, config.Funding, config.SpreadTicks = d.detail, 10_000, int(seed%2)
		desk, c := newDesk(s.T, Config{}), d.candles
		desk.Advance(c.OpenMS[random.IntN(c.Len()/2)] + random.Int64N(int64(c.Interval)))
		desk.SetMarket(solFutures, Tape(c, config))
		seat, _ := desk.Instrument(solFutures)
		s.line("%d, from %d, %+v", seed, desk.NowMS()-startMS, config.Order)
		s.tryOrder(desk, 40)
		for range 8 {
			last, mark := seat.Price()
			untilMS := desk.NowMS() + random.Int64N(4*int64(c.Interval))
			s.line("  %d: %d %d, known %d, quiet %t", desk.NowMS()-startMS, last, mark, seat.Known(), seat.Quiet(last-1, last+1, untilMS))
			desk.Advance(untilMS)
		}
		s.fills(startMS, desk.TakeFills(nil))
		for _, operation := range []exchange.Operation{exchange.FuturesTicker, exchange.FuturesOpenPositions, exchange.FuturesAccount} {
			s.do(desk.Exchange, "alice", exchange.Request{Operation: operation, Symbol: solFutures.Name})
		}
	}
}

func (s *sampled) tryOrder(d *desk, ticks exchange.Quantity) {
	order := exchange.NewOrder{Market: exchange.Futures, Symbol: solFutures.Name, Side: exchange.Buy, Type: exchange.MarketOrder,
		Quantity: ticks * solSymbol().QuantityTick}
	if _, err := d.Do("alice", &exchange.Request{Operation: exchange.FuturesPlace, Order: order}); err != nil {
		s.line("  %v", err)
	}
}

func (s *sampled) trades() {
	for seed := range uint64(60) {
		random := rand.New(rand.NewPCG(seed, 44))
		record, order, atMS := drawTrades(random)
		config := TradesConfig{Queue: exchange.Rate(random.IntN(1e8)), Costs: tapes(seed).Costs}
		s.line("trades %d, %+v at %d, %+v", seed, order, atMS, config)
		x := tradesExchange(s.T, DefaultSymbols()[0], record, config)
		x.Advance(atMS)
		if _, err := x.Do("one", &exchange.Request{Operation: exchange.FuturesPlace, Order: order}); err != nil {
			s.line("  %v", err)
		}
		x.Advance(atMS + 30_000)
		s.fills(0, x.TakeFills(nil))
		s.do(x, "one", exchange.Request{Operation: exchange.FuturesTicker, Symbol: order.Symbol})
		s.do(x, "one", exchange.Request{Operation: exchange.FuturesOpenPositions})
		s.do(x, "one", exchange.Request{Operation: exchange.FuturesAccount})
	}
}

// markets asks random, recorded and still markets of futures and spot for everything public.
func (s *sampled) markets() {
	candles := drawMarket(rand.New(rand.NewPCG(3, 45)), symbolOf(s.T), 0)
	for _, made := range []struct {
		name   string
		market func() Market
	}{
		{"random", func() Market { return Random(8) }},
		{"recorded", func() Market { return Tape(candles.candles, TapeConfig{Order: Worst, SpreadTicks: 2}) }},
		{"still", func() Market { return Still(StillConfig{SpreadTicks: 3}) }},
	} {
		d := newDesk(s.T, Config{OrderDelayMS: 5, StartMS: startMS + 12_345})
		keys := []exchange.SymbolKey{solFutures, {Market: exchange.Spot, Name: "SOL-USDT"}}
		for _, key := range keys {
			d.SetMarket(key, made.market())
		}
		for i, stepMS := range []int64{0, 1_999, 47_000, 61_003, 3_600_000} {
			d.Advance(d.NowMS() + stepMS)
			s.line("%s market, step %d", made.name, i)
			for _, operations := range [][]exchange.Operation{
				{exchange.FuturesTicker, exchange.FuturesDepth, exchange.FuturesTrades, exchange.FuturesCandles},
				{exchange.SpotTicker, exchange.SpotDepth, exchange.SpotTrades, exchange.SpotCandles},
			} {
				for _, operation := range operations {
					request := exchange.Request{Operation: operation, Symbol: "SOL-USDT", Limit: 5}
					if operation == exchange.FuturesCandles || operation == exchange.SpotCandles {
						request.Interval, request.StartMS, request.EndMS = exchange.Minute5, d.NowMS()-1_500_000, d.NowMS()
					}
					s.do(d.Exchange, "", request)
				}
			}
			for _, order := range []exchange.NewOrder{
				{Market: exchange.Futures, Symbol: "SOL-USDT", Side: exchange.Buy, Type: exchange.MarketOrder, Quantity: 30 * solSymbol().QuantityTick},
				{Market: exchange.Spot, Symbol: "SOL-USDT", Side: exchange.Buy, Type: exchange.MarketOrder, QuoteAmount: exchange.AmountOf(77)},
			} {
				operation := exchange.FuturesPlace
				if order.Market == exchange.Spot {
					operation = exchange.SpotPlace
				}
				if _, err := d.Do("alice", &exchange.Request{Operation: operation, Order: order}); err != nil {
					s.line("  %v", err)
				}
			}
			d.Advance(d.NowMS() + 10)
			s.fills(startMS, d.TakeFills(nil))
			for _, operation := range []exchange.Operation{exchange.FuturesAccount, exchange.FuturesOpenPositions, exchange.SpotWallet} {
				s.do(d.Exchange, "alice", exchange.Request{Operation: operation, Symbol: "SOL-USDT"})
			}
		}
	}
}

// compare compares the text with a section of the recorded ones; -update writes it.
func (s *sampled) compare(name string) {
	s.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(path, []byte(s.String()), 0o600); err != nil {
			s.Fatal(err)
		}
	}
	recorded, err := os.ReadFile(path)
	if err != nil {
		s.Fatal(err)
	}
	want, have := strings.Split(string(recorded), "\n"), strings.Split(s.String(), "\n")
	section := ""
	for i := range max(len(want), len(have)) {
		if i < len(want) && !strings.HasPrefix(want[i], " ") {
			section = want[i]
		}
		if i >= len(want) || i >= len(have) || want[i] != have[i] {
			s.Fatalf("%s:%d: in %q: want\n%s\nhave\n%s\n-update writes what is there now; a market that is played otherwise changes results of backtests",
				path, i+1, section, lineAt(want, i), lineAt(have, i))
		}
	}
}

func lineAt(lines []string, at int) string {
	if at < len(lines) {
		return lines[at]
	}
	return "nothing"
}

// TestRecordedMarketsAreFilledAsBefore: drawn candles and orders of every kind have the fills that testdata holds. What is right about
// them is the other tests' matter; this one notices a change.
func TestRecordedMarketsAreFilledAsBefore(t *testing.T) {
	t.Parallel()
	s := &sampled{T: t}
	s.recorded()
	s.compare("fills.txt")
}

// TestRecordedTradesAreFilledAsBefore does so with recorded trades.
func TestRecordedTradesAreFilledAsBefore(t *testing.T) {
	t.Parallel()
	s := &sampled{T: t}
	s.trades()
	s.compare("trades.txt")
}

// TestMarketsAreShownAsBefore does so with everything public, and with an account on each kind of market.
func TestMarketsAreShownAsBefore(t *testing.T) {
	t.Parallel()
	s := &sampled{T: t}
	s.markets()
	s.compare("markets.txt")
}

// TestSingleOrdersAreFilledAsBefore does so with one order of any type in each bounded market.
func TestSingleOrdersAreFilledAsBefore(t *testing.T) {
	t.Parallel()
	s := &sampled{T: t}
	s.singles()
	s.compare("singles.txt")
}

// TestRecordedMarketsBeginAnywhereAsBefore shows what is known of markets that are set while time has passed.
func TestRecordedMarketsBeginAnywhereAsBefore(t *testing.T) {
	t.Parallel()
	s := &sampled{T: t}
	s.seats()
	s.compare("seats.txt")
}
