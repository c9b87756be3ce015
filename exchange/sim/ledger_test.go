package sim_test

import (
	"github.com/shopspring/decimal"
	"pgregory.net/rapid"

	"botd/exchange"
	"botd/exchange/sim"
)

// The ledger is what the fills, the ground truth, say that every account must
// hold. It counts in decimals by the sentences of docs/exchange.md, and shares no line
// with the exchange:
//
//	wallet        = deposits + realized - funding - fees + insurance
//	asset of spot = deposits + received - given - fees
type ledger struct {
	r            *rapid.T
	x            *sim.Exchange
	names        []string
	nets, moving bool
	paid         map[string]decimal.Decimal // funding, by account
	states       map[int64]exchange.Order   // as they were a step ago
	ended        map[string]int             // liquidations, by account, a step ago
}

// page is the state of one account according to the fills.
type page struct {
	assets         map[string]decimal.Decimal
	held           map[string]stake // by symbol
	realized, fees decimal.Decimal
}

// stake is a futures position: its quantity, negative for a SHORT, its cost, never negative, and the price of
// its last fill.
type stake struct{ quantity, cost, last decimal.Decimal }

// deposits are the initial futures wallets of the accounts.
var deposits = map[string]int64{"alice": 10_000, "bob": 1_000, "carol": 1_000_000}

const fundingMS = 8 * int64(exchange.Hour1)

// rateAt returns the funding rate of SetFunding for BTC-USDT; it changes its sign.
func rateAt(payday int64) exchange.Rate {
	if payday/fundingMS%2 == 0 {
		return 75_000
	}
	return -40_000
}

func futures(name string) exchange.SymbolKey {
	return exchange.SymbolKey{Market: exchange.Futures, Name: name}
}

func (l *ledger) markOf(symbol string) decimal.Decimal {
	_, mark := l.x.Price(futures(symbol))
	return l.x.Symbol(futures(symbol)).PriceDecimal(mark)
}

// pageOf replays an account's fills up to a time, exclusive.
func (l *ledger) pageOf(name string, untilMS int64) page {
	p := page{map[string]decimal.Decimal{"USDT": decimal.NewFromInt(10_000), "BTC": decimal.NewFromInt(1)}, map[string]stake{}, decimal.Zero, decimal.Zero}
	for _, fill := range l.x.Fills() {
		if fill.Account != name || fill.TimeMS >= untilMS {
			continue
		}
		symbol := l.x.Symbol(exchange.SymbolKey{Market: fill.Market, Name: fill.Symbol})
		quantity := symbol.QuantityDecimal(fill.Quantity).Mul(decimal.NewFromInt(fill.Side.Sign()))
		price, fee := symbol.PriceDecimal(fill.Price), fill.Fee.Decimal()
		if fill.Market == exchange.Futures {
			p.fees = p.fees.Add(fee)
			p.held[fill.Symbol] = p.fill(p.held[fill.Symbol], price, quantity)
			continue
		}
		p.assets[symbol.Base] = p.assets[symbol.Base].Add(quantity)
		p.assets["USDT"] = p.assets["USDT"].Sub(price.Mul(quantity))
		p.assets[fill.FeeAsset] = p.assets[fill.FeeAsset].Sub(fee)
	}
	return p
}

// fill applies a fill to a stake: an opposite fill reduces it at its average cost and realizes the result,
// and the excess opens the other side.
func (p *page) fill(s stake, price, quantity decimal.Decimal) stake {
	if s.quantity.Sign()*quantity.Sign() < 0 {
		part := decimal.Min(quantity.Abs(), s.quantity.Abs())
		share, _ := s.cost.Mul(part).QuoRem(s.quantity.Abs(), 18) // truncated to 18 places
		side := decimal.NewFromInt(int64(s.quantity.Sign()))
		p.realized = p.realized.Add(price.Mul(part).Sub(share).Mul(side))
		s.cost = s.cost.Sub(share)
		s.quantity = s.quantity.Sub(part.Mul(side))
		quantity = quantity.Add(part.Mul(side))
	}
	return stake{s.quantity.Add(quantity), s.cost.Add(price.Mul(quantity.Abs())), price}
}

// pay charges a passed payday: on the positions at that time, at the mark at that time. No step passes two
// paydays.
func (l *ledger) pay(beforeMS int64, mark decimal.Decimal) {
	payday := beforeMS - beforeMS%fundingMS + fundingMS
	if l.x.NowMS() < payday {
		return
	}
	for _, name := range l.names {
		held := l.pageOf(name, payday).held["BTC-USDT"].quantity
		if l.paid == nil {
			l.paid = map[string]decimal.Decimal{}
		}
		l.paid[name] = l.paid[name].Add(held.Mul(mark).Mul(rateAt(payday).Decimal()))
	}
}

// check compares every account with its fills.
func (l *ledger) check() {
	l.checkOrders()
	for _, name := range l.names {
		p := l.pageOf(name, l.x.NowMS()+1)
		l.checkWallet(name, &p)
		l.checkMargins(name, &p)
		l.checkAssets(name, &p)
	}
}

// want fails unless both are the same number.
func (l *ledger) want(name, what string, want, have decimal.Decimal) {
	if !want.Equal(have) {
		l.r.Fatalf("%s: %s: want %s by the fills, have %s", name, what, want, have)
	}
}

func (l *ledger) checkWallet(name string, p *page) {
	money := l.x.Money(name)
	if !l.moving { // otherwise the mark at the payday is unknown
		l.want(name, "funding", l.paid[name], money.Funding.Decimal())
	}
	if orders := l.x.OpenOrders(name, exchange.Futures); money.Liquidations > l.ended[name] && orders > 0 {
		l.r.Fatalf("%s: %d open orders outlived a liquidation", name, orders)
	}
	l.ended[name] = money.Liquidations
	if money.Liquidations == 0 && !money.Insurance.IsZero() {
		l.r.Fatalf("%s: insurance %s without a liquidation", name, money.Insurance)
	}
	l.want(name, "fees", p.fees, money.Fees.Decimal())
	l.want(name, "realized", p.realized, money.Realized.Decimal())
	wallet := decimal.NewFromInt(deposits[name]).Add(p.realized).Sub(money.Funding.Decimal()).Sub(p.fees).Add(money.Insurance.Decimal())
	reported := l.account(name)
	l.want(name, "wallet", wallet, reported.WalletBalance.Decimal())
	l.want(name, "realized by all positions", p.realized, l.realized(name))
	if len(l.positions(name)) == 0 && wallet.IsNegative() {
		l.r.Fatalf("%s: a wallet of %s and nothing open", name, wallet)
	}
}

// realized sums up realizedPNL over the open and the closed positions.
func (l *ledger) realized(name string) decimal.Decimal {
	sum := decimal.Zero
	answer, err := l.x.Do(name, &exchange.Request{Operation: exchange.FuturesPositionsHistory, Limit: 1000})
	if err != nil {
		l.r.Fatal(err)
	}
	for _, position := range append(answer.Positions.Items(), l.positions(name)...) {
		sum = sum.Add(position.RealizedPNL.Decimal())
	}
	return sum
}

func (l *ledger) account(name string) exchange.MarginAccount {
	answer, err := l.x.Do(name, &exchange.Request{Operation: exchange.FuturesAccount})
	if err != nil {
		l.r.Fatal(err)
	}
	return answer.Account
}

func (l *ledger) positions(name string) []exchange.Position {
	answer, err := l.x.Do(name, &exchange.Request{Operation: exchange.FuturesOpenPositions})
	if err != nil {
		l.r.Fatal(err)
	}
	return answer.Positions.Items()
}

// checkAssets compares the spot wallet with the fills, and its frozen amounts with the open orders.
func (l *ledger) checkAssets(name string, p *page) {
	answer, err := l.x.Do(name, &exchange.Request{Operation: exchange.SpotWallet})
	if err != nil {
		l.r.Fatal(err)
	}
	frozen, known := l.frozenBy(name)
	for _, have := range answer.Balances.Items() {
		l.want(name, have.Asset, p.assets[have.Asset], have.Free.Add(have.Frozen).Decimal())
		if have.Free.Sign() < 0 || have.Frozen.Sign() < 0 {
			l.r.Fatalf("%s %s: free %s, frozen %s", name, have.Asset, have.Free, have.Frozen)
		}
		if known {
			l.want(name, have.Asset+" frozen", frozen[have.Asset], have.Frozen.Decimal())
		}
	}
}
