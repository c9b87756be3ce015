package sim

import (
	"fmt"
	"slices"

	"botd/exchange"
)

// DefaultLeverage is a symbol's leverage until it is set.
const DefaultLeverage = 10

const quoteAsset = "USDT"

// AccountConfig is the initial state of an account. Do identifies an account by its name, which is
// the key over HTTP.
type AccountConfig struct {
	Name         string
	FuturesUSDT  exchange.Amount
	Spot         map[string]exchange.Amount // free balances
	FuturesMaker exchange.Rate
	FuturesTaker exchange.Rate
	SpotMaker    exchange.Rate
	SpotTaker    exchange.Rate
	ReadOnly     bool // refuses every call that changes state
	Leverage     int  // initial leverage of every symbol; 0 is DefaultLeverage
	FeeFromQuote bool // charge spot fees in USDT on both sides, for backtests; otherwise in the received asset
}

// DefaultAccount returns the account of docs/exchange.md: 10000 USDT on futures,
// 10000 USDT and 1 BTC on spot; maker 0.02 %, taker 0.05 %, spot 0.1 %.
func DefaultAccount(name string) AccountConfig {
	return AccountConfig{
		Name: name, FuturesUSDT: exchange.AmountOf(10_000),
		Spot:         map[string]exchange.Amount{quoteAsset: exchange.AmountOf(10_000), "BTC": exchange.AmountOf(1)},
		FuturesMaker: 20_000, FuturesTaker: 50_000, SpotMaker: 100_000, SpotTaker: 100_000, Leverage: DefaultLeverage,
	}
}

// account is one account on both markets.
type account struct {
	config AccountConfig

	money          Money // all but Unrealized
	orderMargin    exchange.Amount
	positionMargin exchange.Amount
	profits, needs positionSum      // of positions: unrealized profit, maintenance margin
	holdings       []holding        // by index of the order book
	positions      []*position      // open ones, by id
	history        []*position      // closed, oldest first
	spare          spares[position] // dropped from the history
	closed         int              // number of all closed positions, including forgotten ones
	futuresOrders  orderList
	unsettled      bool // listed in Exchange.unsettled

	balances   []balance // by index of the asset
	spotOrders []*order  // oldest first
	spotList   orderList
	trades     []exchange.UserTrade // oldest first

	tracked bool // listed in the tracker
	written struct {
		known  bool // Changes has written the account's settings
		closed int  // number of closed positions that Changes has written
	}
}

// holding is an account's state on one futures symbol.
type holding struct {
	leverage int
	position *position
	reducing exchange.Quantity // quantity that open reduceOnly orders may still fill
	funding  exchange.Amount   // net funding paid since the exchange was created; not in snapshots
}

// balance is one asset of the spot wallet.
type balance struct{ free, frozen exchange.Amount }

// Money is an account's futures wallet and its origin, exact to the last digit:
//
//	Wallet = Deposits + Realized - Funding - Fees + Insurance
//
// Insurance is the amount that the exchange covered when liquidations would have left the wallet
// below zero. It is zero for an account that never went bankrupt.
type Money struct {
	Wallet         exchange.Amount
	Deposits       exchange.Amount
	Realized       exchange.Amount // price differences of closed quantities
	Funding        exchange.Amount // net paid
	Fees           exchange.Amount // liquidation fees included
	LiquidationFee exchange.Amount // the part of Fees charged by liquidations
	Insurance      exchange.Amount
	Unrealized     exchange.Amount // at the mark prices
	Liquidations   int             // positions closed by liquidation
}

// Equity returns the wallet plus unrealized profit.
func (m *Money) Equity() exchange.Amount { return m.Wallet.Add(m.Unrealized) }

// AddAccount opens an account.
func (x *Exchange) AddAccount(config AccountConfig) error {
	switch {
	case config.Name == "":
		return fmt.Errorf("an account needs a name")
	case x.byName[config.Name] != nil:
		return fmt.Errorf("account %q exists", config.Name)
	case len(x.accounts) >= maxAccounts:
		return fmt.Errorf("an exchange has at most %d accounts", maxAccounts)
	case config.FuturesUSDT.Sign() < 0:
		return fmt.Errorf("account %q: futures wallet %s is below 0", config.Name, config.FuturesUSDT)
	case config.Leverage < 0:
		return fmt.Errorf("account %q: leverage %d is below 1", config.Name, config.Leverage)
	}
	if err := config.checkFees(); err != nil {
		return err
	}
	if config.Leverage == 0 {
		config.Leverage = DefaultLeverage
	}
	for asset, amount := range config.Spot {
		if amount.Sign() < 0 {
			return fmt.Errorf("account %q: balance %s %s is below 0", config.Name, amount, asset)
		}
	}
	x.join(config)
	return nil
}

// named returns an account, or nil. It caches the last one, because a backtest has a single account
// and looks it up all the time.
func (x *Exchange) named(name string) *account {
	if a := x.lastAccount; a != nil && a.config.Name == name {
		return a
	}
	a := x.byName[name]
	x.lastAccount = a
	return a
}

// SetFees changes an account's fees to those of a configuration.
func (x *Exchange) SetFees(config AccountConfig) error {
	a := x.byName[config.Name]
	if a == nil {
		return fmt.Errorf("account %q is unknown", config.Name)
	}
	if err := config.checkFees(); err != nil {
		return err
	}
	c := &a.config
	c.FuturesMaker, c.FuturesTaker, c.SpotMaker, c.SpotTaker = config.FuturesMaker, config.FuturesTaker, config.SpotMaker, config.SpotTaker
	a.written.known = false
	x.noteAccount(a)
	return nil
}

func (c *AccountConfig) checkFees() error {
	for _, rate := range []exchange.Rate{c.FuturesMaker, c.FuturesTaker, c.SpotMaker, c.SpotTaker} {
		if rate < -exchange.RateOne/10 || rate > exchange.RateOne/10 {
			return fmt.Errorf("account %q: fee %s is outside -0.1..0.1", c.Name, rate)
		}
	}
	return nil
}

func (x *Exchange) join(config AccountConfig) *account {
	a := &account{config: config, holdings: make([]holding, len(x.orderBooks))}
	a.money.Wallet, a.money.Deposits = config.FuturesUSDT, config.FuturesUSDT
	for i := range a.holdings {
		a.holdings[i].leverage = config.Leverage
	}
	for asset := range config.Spot {
		x.addAsset(asset)
	}
	a.balances = make([]balance, len(x.assets))
	for asset, amount := range config.Spot {
		a.balances[x.asset(asset)].free = amount
	}
	x.accounts = append(x.accounts, a)
	x.byName[config.Name] = a
	x.noteAccount(a)
	return a
}

// addAsset adds a new asset and renumbers the indexes behind it.
func (x *Exchange) addAsset(asset string) {
	at, found := slices.BinarySearch(x.assets, asset)
	if found {
		return
	}
	x.assets = slices.Insert(x.assets, at, asset)
	for _, a := range x.accounts {
		a.balances = slices.Insert(a.balances, at, balance{})
	}
	x.indexAssets()
}

func (x *Exchange) indexAssets() {
	for _, b := range x.orderBooks {
		b.base, b.quote = x.asset(b.symbol.Base), x.asset(b.symbol.Quote)
	}
}

func (x *Exchange) asset(name string) int {
	at, _ := slices.BinarySearch(x.assets, name)
	return at
}

func (a *account) open(market exchange.Market) *orderList {
	if market == exchange.Futures {
		return &a.futuresOrders
	}
	return &a.spotList
}

// forgetSpotOrders drops orders that the exchange has forgotten.
func (a *account) forgetSpotOrders(orders *orderStore) {
	a.spotOrders = slices.DeleteFunc(a.spotOrders, func(o *order) bool {
		return orders.of(a, exchange.Spot, o.ID) == nil
	})
}

// Money returns an account's futures money, or zero for an unknown account.
func (x *Exchange) Money(name string) Money {
	a := x.named(name)
	if a == nil {
		return Money{}
	}
	money := a.money
	money.Unrealized = a.unrealized()
	return money
}

// Settled returns an account's futures wallet, and what liquidations did to it: the parts of Money that need no sum over
// positions.
func (x *Exchange) Settled(name string) (wallet, insurance exchange.Amount, liquidations int) {
	a := x.named(name)
	if a == nil {
		return wallet, insurance, 0
	}
	return a.money.Wallet, a.money.Insurance, a.money.Liquidations
}

// Position returns an account's open position of a symbol without allocating.
func (x *Exchange) Position(name, symbol string) (exchange.Position, bool) {
	a, b := x.named(name), x.find(exchange.SymbolKey{Market: exchange.Futures, Name: symbol})
	if a == nil || b == nil || a.holdings[b.index].position == nil {
		return exchange.Position{}, false
	}
	return a.holdings[b.index].position.report(), true
}

// Held is the part of a Position that its owner needs, without the fields that only the interface
// shows.
type Held struct {
	ID       int64
	Quantity exchange.Quantity // signed
	Cost     exchange.Amount   // sum of price x quantity
}

// Held returns an account's position in a symbol, or zero if there is none.
func (x *Exchange) Held(name, symbol string) Held {
	a, b := x.named(name), x.find(exchange.SymbolKey{Market: exchange.Futures, Name: symbol})
	if a == nil || b == nil || a.holdings[b.index].position == nil {
		return Held{}
	}
	p := a.holdings[b.index].position
	if p.Side == exchange.Short {
		return Held{p.ID, -p.Remaining, p.Cost}
	}
	return Held{p.ID, p.Remaining, p.Cost}
}

// Margin returns an account's futures equity as the account sees it, and the part available for
// orders.
func (x *Exchange) Margin(name string) (equity, available exchange.Amount) {
	a := x.named(name)
	if a == nil {
		return equity, available
	}
	return a.money.Wallet.Add(a.visibleProfit()), a.available()
}

// Balance returns an account's spot balance of an asset without allocating.
func (x *Exchange) Balance(name, asset string) (free, frozen exchange.Amount) {
	a := x.named(name)
	at, found := slices.BinarySearch(x.assets, asset)
	if a == nil || !found {
		return free, frozen
	}
	return a.balances[at].free, a.balances[at].frozen
}

// FundingPaid returns the net funding that an account has paid on a symbol.
func (x *Exchange) FundingPaid(name, symbol string) exchange.Amount {
	a, b := x.named(name), x.find(exchange.SymbolKey{Market: exchange.Futures, Name: symbol})
	if a == nil || b == nil {
		return exchange.Amount{}
	}
	return a.holdings[b.index].funding
}

// OpenOrders returns the number of unfinished orders of an account and market.
func (x *Exchange) OpenOrders(name string, market exchange.Market) int {
	if a := x.named(name); a != nil {
		return a.open(market).count
	}
	return 0
}

// Leverage returns an account's leverage on a symbol, or 0 if unknown.
func (x *Exchange) Leverage(name, symbol string) int {
	a, b := x.named(name), x.find(exchange.SymbolKey{Market: exchange.Futures, Name: symbol})
	if a == nil || b == nil {
		return 0
	}
	return a.holdings[b.index].leverage
}

// Transfer moves money into an account's wallet, or out of it if the amount is negative, like a
// deposit or a withdrawal.
func (x *Exchange) Transfer(name string, market exchange.Market, asset string, amount exchange.Amount) error {
	a := x.named(name)
	if a == nil {
		return fmt.Errorf("account %q is unknown", name)
	}
	if market == exchange.Futures {
		if asset != quoteAsset || a.available().Add(amount).Sign() < 0 {
			return fmt.Errorf("transfer of %s %s: the futures wallet has %s %s available", amount, asset, a.available(), quoteAsset)
		}
		a.money.Wallet, a.money.Deposits = a.money.Wallet.Add(amount), a.money.Deposits.Add(amount)
	} else {
		at, found := slices.BinarySearch(x.assets, asset)
		if !found || a.balances[at].free.Add(amount).Sign() < 0 {
			return fmt.Errorf("transfer of %s %s: not that much is free", amount, asset)
		}
		a.balances[at].free = a.balances[at].free.Add(amount)
	}
	x.clearing.markChanged(a) // its positions now liquidate at other prices
	return nil
}
