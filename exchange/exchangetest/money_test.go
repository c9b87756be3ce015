package exchangetest

import (
	"testing"

	"github.com/shopspring/decimal"
	"pgregory.net/rapid"

	"botd/exchange"
	"botd/exchange/sim"
)

// The ledger is what the fills, the ground truth, say that every account must
// hold. It counts in decimals, knows no margin and no mean price, and shares no line
// with the exchange.
//
//	wallet + unrealised = deposits + sold - bought + position x mark - fees - funding + insurance
//	asset of spot       = deposits + received - given - fees
type ledger struct {
	r     *rapid.T
	x     *sim.Exchange
	names []string
}

const (
	payday    = StartMS + 8*int64(exchange.Hour1)
	paidShare = 75_000 // of 1e-8: what SetFunding says is paid on BTC-USDT
)

// TestMoneyIsNeitherMadeNorLost lets three accounts do anything on both markets,
// and holds every wallet, asset, position and order against the fills after each
// step, to the last digit.
func TestMoneyIsNeitherMadeNorLost(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(r *rapid.T) {
		x, err := sim.New(sim.Config{Symbols: sim.DefaultSymbols(), StartMS: payday - 60_000, OppositeOrder: rapid.SampledFrom([]string{"reject", "net"}).Draw(r, "opposite"),
			OrderDelayMS: rapid.SampledFrom([]int64{0, 5}).Draw(r, "delay"), Seed: 1})
		if err != nil {
			r.Fatal(err)
		}
		l := ledger{r: r, x: x, names: []string{"alice", "bob", "carol"}}
		moving := rapid.IntRange(0, 9).Draw(r, "moving") == 9
		for _, symbol := range sim.DefaultSymbols() {
			if moving && (symbol.Base == "BTC" || symbol.Base == "ETH") {
				x.SetMarket(symbol.Key(), sim.Random(rapid.Uint64().Draw(r, "seed")))
			}
		}
		for _, name := range l.names {
			if err := x.AddAccount(sim.DefaultAccount(name)); err != nil {
				r.Fatal(err)
			}
		}
		x.SetFunding("BTC-USDT", []sim.FundingPoint{{TimeMS: payday, Rate: paidShare}})
		x.SetFunding("ETH-USDT", []sim.FundingPoint{{}})
		x.SetFunding("PEPE-USDT", []sim.FundingPoint{{}})
		for range rapid.IntRange(1, 40).Draw(r, "steps") {
			mark := l.markOf("BTC-USDT")
			before := x.NowMS()
			l.anything()
			if !moving && before < payday && x.NowMS() >= payday {
				l.checkFunding(mark)
			}
			l.check()
		}
	})
}

func (l *ledger) key() exchange.SymbolKey {
	return exchange.SymbolKey{
		Market: rapid.SampledFrom([]exchange.Market{exchange.Futures, exchange.Spot}).Draw(l.r, "market"),
		Name:   rapid.SampledFrom([]string{"BTC-USDT", "ETH-USDT", "PEPE-USDT"}).Draw(l.r, "symbol"),
	}
}

// anything is one step: a price, some time, a cancel, a leverage or an order.
func (l *ledger) anything() {
	r, x, key := l.r, l.x, l.key()
	name, symbol := rapid.SampledFrom(l.names).Draw(r, "account"), x.Symbol(key)
	last, _ := x.Price(key)
	near := func(label string, percent int) exchange.Price {
		return symbol.FloorPrice(last/1000*exchange.Price(1000+rapid.IntRange(-10*percent, 10*percent).Draw(r, label))) + symbol.PriceTick
	}
	switch rapid.IntRange(0, 9).Draw(r, "step") {
	case 0, 1:
		if err := x.SetPrice(key, near("price", 8), 0); err != nil {
			r.Fatal(err)
		}
	case 2:
		x.Advance(x.NowMS() + rapid.SampledFrom([]int64{1, 5, 2_000, 60_000}).Draw(r, "advance"))
	case 3:
		operation := rapid.SampledFrom([]exchange.Operation{exchange.FuturesCancel, exchange.SpotCancel, exchange.FuturesCancelAll, exchange.SpotCancelAll, exchange.FuturesSetLeverage}).Draw(r, "operation")
		_, _ = x.Do(name, &exchange.Request{Operation: operation, Symbol: key.Name, OrderID: rapid.Int64Range(1, 30).Draw(r, "id"), Leverage: rapid.IntRange(1, 50).Draw(r, "leverage")})
	default:
		l.order(name, symbol, last, near)
	}
}

func (l *ledger) order(name string, symbol *exchange.Symbol, last exchange.Price, near func(string, int) exchange.Price) {
	r := l.r
	order := exchange.NewOrder{Market: symbol.Market, Symbol: symbol.Name, Type: exchange.OrderType(rapid.IntRange(1, 6).Draw(r, "type")),
		Side: rapid.SampledFrom([]exchange.Side{exchange.Buy, exchange.Sell}).Draw(r, "side")}
	value := exchange.AmountOf(rapid.SampledFrom([]int64{7, 100, 3_000, 80_000}).Draw(r, "value"))
	order.Quantity = symbol.QuantityFor(value, last)
	if symbol.Market == exchange.Spot && order.Type == exchange.MarketOrder {
		order.Quantity, order.QuoteAmount = 0, value
	}
	if order.Type.Priced() {
		order.Price = near("limit", 2)
	}
	if order.Type.Conditional() {
		order.StopPrice, order.WorkingType = near("stop", 2), exchange.ContractPrice
	}
	if p, open := l.x.Position(name, symbol.Name); open && symbol.Market == exchange.Futures {
		switch rapid.IntRange(0, 3).Draw(r, "reduce") {
		case 0:
			order.ReduceOnly, order.Quantity = true, p.Remaining
		case 1:
			order.ClosePosition, order.Quantity = true, 0
		}
	}
	operation := exchange.FuturesPlace
	if symbol.Market == exchange.Spot {
		operation = exchange.SpotPlace
	}
	_, _ = l.x.Do(name, &exchange.Request{Operation: operation, Order: order}) // a refusal changes nothing, which check sees
}

func (l *ledger) markOf(symbol string) decimal.Decimal {
	key := exchange.SymbolKey{Market: exchange.Futures, Name: symbol}
	_, mark := l.x.Price(key)
	return l.x.Symbol(key).PriceDecimal(mark)
}

// check holds every account against its fills.
func (l *ledger) check() {
	for _, name := range l.names {
		account, assets, held := decimal.NewFromInt(10_000), map[string]decimal.Decimal{"USDT": decimal.NewFromInt(10_000), "BTC": decimal.NewFromInt(1)}, map[string]decimal.Decimal{}
		for _, fill := range l.x.Fills() {
			if fill.Account != name {
				continue
			}
			symbol := l.x.Symbol(exchange.SymbolKey{Market: fill.Market, Name: fill.Symbol})
			quantity := symbol.QuantityDecimal(fill.Quantity).Mul(decimal.NewFromInt(fill.Side.Sign()))
			value := symbol.PriceDecimal(fill.Price).Mul(quantity)
			if fill.Market == exchange.Futures {
				account = account.Sub(value).Sub(fill.Fee.Decimal())
				held[fill.Symbol] = held[fill.Symbol].Add(quantity)
				continue
			}
			assets[symbol.Base] = assets[symbol.Base].Add(quantity)
			assets["USDT"] = assets["USDT"].Sub(value)
			assets[fill.FeeAsset] = assets[fill.FeeAsset].Sub(fill.Fee.Decimal())
		}
		l.checkFutures(name, account, held)
		l.checkSpot(name, assets)
	}
}

func (l *ledger) checkFutures(name string, account decimal.Decimal, held map[string]decimal.Decimal) {
	money := l.x.Money(name)
	for _, symbol := range []string{"BTC-USDT", "ETH-USDT", "PEPE-USDT"} {
		have := decimal.Zero
		if p, open := l.x.Position(name, symbol); open {
			have = l.x.Symbol(exchange.SymbolKey{Market: exchange.Futures, Name: symbol}).QuantityDecimal(p.Signed())
		}
		if !held[symbol].Equal(have) {
			l.r.Fatalf("%s %s: want a position of %s by the fills, have %s", name, symbol, held[symbol], have)
		}
		account = account.Add(have.Mul(l.markOf(symbol)))
	}
	want := account.Sub(money.Funding.Decimal()).Add(money.Insurance.Decimal())
	answer, err := l.x.Do(name, &exchange.Request{Operation: exchange.FuturesAccount})
	if err != nil {
		l.r.Fatal(err)
	}
	told := answer.Account
	if have := told.WalletBalance.Add(told.UnrealizedPNL).Decimal(); !have.Equal(want) {
		l.r.Fatalf("%s: want wallet + unrealised %s by the fills, have %s", name, want, have)
	}
	if used := told.OrderMargin.Add(told.PositionMargin); told.MarginUsed != used || told.AvailableBalance != told.WalletBalance.Add(told.UnrealizedPNL).Sub(used) {
		l.r.Fatalf("%s: margins do not add up: %+v", name, told)
	}
	if told.OrderMargin.Sign() < 0 || told.PositionMargin.Sign() < 0 || l.x.OpenOrders(name, exchange.Futures) == 0 && !told.OrderMargin.IsZero() {
		l.r.Fatalf("%s: margin that nothing holds: %+v", name, told)
	}
	if len(held) > 0 && money.Liquidations == 0 && !money.Insurance.IsZero() {
		l.r.Fatalf("%s: insurance %s without a liquidation", name, money.Insurance)
	}
}

func (l *ledger) checkSpot(name string, assets map[string]decimal.Decimal) {
	answer, err := l.x.Do(name, &exchange.Request{Operation: exchange.SpotWallet})
	if err != nil {
		l.r.Fatal(err)
	}
	for _, have := range answer.Balances.Items() {
		if sum := have.Free.Add(have.Frozen).Decimal(); !sum.Equal(assets[have.Asset]) {
			l.r.Fatalf("%s %s: want %s by the fills, have %s", name, have.Asset, assets[have.Asset], sum)
		}
		if have.Free.Sign() < 0 || have.Frozen.Sign() < 0 || l.x.OpenOrders(name, exchange.Spot) == 0 && !have.Frozen.IsZero() {
			l.r.Fatalf("%s %s: free %s, frozen %s in %d open orders", name, have.Asset, have.Free, have.Frozen, l.x.OpenOrders(name, exchange.Spot))
		}
	}
}

// checkFunding holds what was paid against the positions the fills had made by
// then, at the mark that stood.
func (l *ledger) checkFunding(mark decimal.Decimal) {
	symbol := l.x.Symbol(exchange.SymbolKey{Market: exchange.Futures, Name: "BTC-USDT"})
	for _, name := range l.names {
		held := decimal.Zero
		for _, fill := range l.x.Fills() {
			if fill.Account == name && fill.Market == exchange.Futures && fill.Symbol == symbol.Name && fill.TimeMS < payday {
				held = held.Add(symbol.QuantityDecimal(fill.Quantity).Mul(decimal.NewFromInt(fill.Side.Sign())))
			}
		}
		want := held.Mul(mark).Mul(exchange.Rate(paidShare).Decimal())
		if have := l.x.Money(name).Funding.Decimal(); !have.Equal(want) {
			l.r.Fatalf("%s: want %s paid for %s at %s, have %s", name, want, held, mark, have)
		}
	}
}
