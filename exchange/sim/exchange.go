// Package sim simulates the exchange as a pure state machine.
//
// It serves all 35 operations of the interface for any number of accounts, on both markets, and
// follows docs/exchange.md wherever the interface leaves a choice. Time is an argument: state changes
// only in Advance, Do, SetPrice and SlideTo, and the same calls give the same results. It has no
// lock: one owner calls it.
//
// At any given time, funding is paid first, then markets move, then orders reach the order book and
// cancels take effect.
package sim

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"botd/exchange"
)

// DefaultOrderDelayMS is the default time from an order's acceptance to its arrival at the order book.
const DefaultOrderDelayMS = 5

// Limits of one exchange.
const (
	maxAccounts       = 1_000
	maxSymbols        = 2_000
	MaxOpenOrders     = 10_000         // per account and market
	maxOrderDelayMS   = 8 * 86_400_000 // a backtest delays by up to a week's candle
	defaultMaxHistory = 200_000        // stored finished orders, and fills
	maxClientOrderID  = 256            // bytes
)

// Config configures an exchange. Symbols is enough.
type Config struct {
	Symbols []*exchange.Symbol // both markets
	StartMS int64

	OrderDelayMS       int64  // from acceptance to the order book, and for a cancel; 0 is at once, inside Do
	OrderDelaySpreadMS int64  // additional random delay up to this, drawn from Seed for each order
	Seed               uint64 // of the delays
	OppositeOrder      string // "reject" (default) or "net"

	LiquidationFee exchange.Rate // of the notional; 0 is the account's taker fee, negative none
	ReuseLists     bool          // reuse the lists of open orders, valid until the next call, and orders and positions that are not stored any more
	MaxHistory     int           // stored finished orders and fills; 0 is defaultMaxHistory
}

const never = math.MaxInt64

// Exchange is the simulated exchange.
type Exchange struct {
	config Config
	net    bool // an opposite order reduces the position and can flip it
	nowMS  int64

	orderBooks  []*orderBook // by market and name
	byKey       map[exchange.SymbolKey]*orderBook
	recent      *orderBook // the last one looked up
	dueMS       int64      // time of the next market move or funding payment,
	dueKnown    bool       // if it is known
	skipped     bool       // SkipTo moved an order book past moves of its market
	markVersion uint64     // number of mark prices set: with coupled positions, each changes everyone's bounds
	corridor    bool       // the order books' corridors are known
	corridors   uint64     // number of their computations
	coupled     bool       // an account has several positions: the liquidation of each depends on the other marks
	assets      []string
	accounts    []*account
	byName      map[string]*account
	lastAccount *account // the last one looked up
	queue       queue
	lastTurn    int64 // last turn given to a standing order
	tracker     tracker
	pastMinutes pastMinutes
	validating  placement // the order being validated
	orders      orderStore
	fills       fillLog
	clearing    clearing
	reused      [3]reusedList // by market
	version     uint64
}

// New returns an exchange in which every symbol has a still market at its price in docs/exchange.md,
// or at 100 by default.
func New(config Config) (*Exchange, error) {
	if err := config.check(); err != nil {
		return nil, err
	}
	config.MaxHistory = cmp.Or(config.MaxHistory, defaultMaxHistory)
	x := &Exchange{
		config: config, net: config.OppositeOrder == "net", nowMS: config.StartMS,
		byKey: map[exchange.SymbolKey]*orderBook{}, byName: map[string]*account{}, queue: queue{dueMS: never},
		orders: orderStore{most: config.MaxHistory, reuse: config.ReuseLists}, fills: fillLog{most: config.MaxHistory},
	}
	x.clearing.exchange = x
	for _, symbol := range config.Symbols {
		if x.byKey[symbol.Key()] != nil {
			return nil, fmt.Errorf("symbol %s is given twice", symbol.Key())
		}
		b := newOrderBook(x, symbol)
		x.byKey[symbol.Key()] = b
		x.orderBooks = append(x.orderBooks, b)
		x.noteAsset(symbol.Base)
		x.noteAsset(symbol.Quote)
	}
	slices.SortFunc(x.orderBooks, func(a, b *orderBook) int { return a.symbol.Key().Compare(b.symbol.Key()) })
	x.indexAssets()
	for i, b := range x.orderBooks {
		b.index = i
		b.setMarket(Still(StillConfig{SpreadTicks: 1, Price: startPrice(b.symbol)}))
	}
	return x, nil
}

func (c *Config) check() error {
	switch {
	case len(c.Symbols) == 0:
		return fmt.Errorf("an exchange needs symbols: use DefaultSymbols()")
	case len(c.Symbols) > maxSymbols:
		return fmt.Errorf("%d symbols are more than %d", len(c.Symbols), maxSymbols)
	case c.OrderDelayMS < 0 || c.OrderDelayMS > maxOrderDelayMS:
		return fmt.Errorf("order delay %d ms is outside 0..%d", c.OrderDelayMS, maxOrderDelayMS)
	case c.OrderDelaySpreadMS < 0 || c.OrderDelaySpreadMS > maxOrderDelayMS:
		return fmt.Errorf("order delay spread %d ms is outside 0..%d", c.OrderDelaySpreadMS, maxOrderDelayMS)
	case c.OppositeOrder != "" && c.OppositeOrder != "reject" && c.OppositeOrder != "net":
		return fmt.Errorf("opposite order %q is neither reject nor net", c.OppositeOrder)
	case c.MaxHistory < 0:
		return fmt.Errorf("kept %d is below 0", c.MaxHistory)
	}
	for _, symbol := range c.Symbols {
		if symbol == nil || symbol.Market != exchange.Futures && symbol.Market != exchange.Spot {
			return fmt.Errorf("a symbol belongs to neither market")
		}
	}
	return nil
}

func (x *Exchange) noteAsset(asset string) {
	if at, found := slices.BinarySearch(x.assets, asset); !found {
		x.assets = slices.Insert(x.assets, at, asset)
	}
}

// NowMS returns the exchange's clock.
func (x *Exchange) NowMS() int64 { return x.nowMS }

// Version changes with every order, position, balance and setting of any account.
func (x *Exchange) Version() uint64 { return x.version }

// NextMS returns the next time at which something is due: a funding payment, a market's move, an
// order reaching the order book.
func (x *Exchange) NextMS() (int64, bool) {
	x.realign()
	if !x.dueKnown {
		x.findDue()
	}
	due := min(x.queue.dueMS, x.dueMS)
	return max(due, x.nowMS), due != never
}

// findDue finds when an order book's market moves or its funding is paid next.
func (x *Exchange) findDue() {
	x.dueMS, x.dueKnown = never, true
	for _, b := range x.orderBooks {
		if b.tape != nil && b.tape.sliding() { // orders may appear in its path at any time
			b.moveMS, x.dueKnown = b.tape.dueMS(b), false
		}
		x.dueMS = min(x.dueMS, b.fundingMS, b.moveMS)
	}
}

// Advance processes everything due up to nowMS, in order, and sets the clock. It ignores a time
// before the clock's: the clock never goes back.
func (x *Exchange) Advance(nowMS int64) {
	for {
		due, ok := x.NextMS()
		if !ok || due > nowMS {
			break
		}
		x.nowMS = due
		x.passMoment()
	}
	if nowMS > x.nowMS {
		x.nowMS = nowMS
		x.slide()
	}
}

// slide moves prices that change gradually to their current value. Nothing happens on the way;
// otherwise it would have been due earlier.
func (x *Exchange) slide() {
	for _, b := range x.orderBooks {
		if b.tape != nil && b.tape.sliding() && b.moveMS > x.nowMS {
			b.tape.pass(b)
		}
	}
}

// passMoment processes everything due at the current time. Funding precedes any order that fills at
// the same time (docs/exchange.md, funding).
func (x *Exchange) passMoment() {
	x.dueKnown = false
	for _, b := range x.orderBooks {
		if b.fundingMS <= x.nowMS {
			x.clearing.payFunding(b)
		}
	}
	for _, b := range x.orderBooks {
		if b.moveMS <= x.nowMS {
			b.moveMS = b.market.move(b)
		}
	}
	x.slide()
	for x.queue.dueMS <= x.nowMS {
		x.deliver(x.queue.pop())
	}
}

// SetMarket sets the source of a symbol's price from now on. It ignores an unknown symbol.
func (x *Exchange) SetMarket(key exchange.SymbolKey, market Market) {
	if b := x.find(key); b != nil {
		b.setMarket(market)
	}
}

// find returns a symbol's order book, or nil. It caches the last one, because a backtest looks up the
// same symbol all the time.
func (x *Exchange) find(key exchange.SymbolKey) *orderBook {
	if b := x.recent; b != nil && b.symbol.Market == key.Market && b.symbol.Name == key.Name {
		return b
	}
	b := x.byKey[key]
	if b != nil {
		x.recent = b
	}
	return b
}

// realign seeks the next moves of the order books that SkipTo moved.
func (x *Exchange) realign() {
	if !x.skipped {
		return
	}
	x.skipped, x.dueKnown = false, false
	for _, b := range x.orderBooks {
		if !b.skipped {
			continue
		}
		b.skipped = false
		b.moveMS = b.market.seek(b)
		if b.fundingMS <= x.nowMS {
			b.setFundingTime(x.nowMS)
		}
	}
}

// SetPrice sets a symbol's last price, and its mark price too when mark is 0. Triggers, fills and
// liquidations follow at once.
func (x *Exchange) SetPrice(key exchange.SymbolKey, price, mark exchange.Price) error {
	b := x.find(key)
	if b == nil {
		return fmt.Errorf("unknown symbol %s", key)
	}
	mark = cmp.Or(mark, price)
	if err := cmp.Or(b.checkPrice("price", price), b.checkPrice("mark", mark)); err != nil {
		return err
	}
	b.jump(price, mark, false)
	return nil
}

// SlideTo moves a symbol's price to a price through every price between: orders on the way trigger
// and fill there, and positions are liquidated there.
func (x *Exchange) SlideTo(key exchange.SymbolKey, price exchange.Price) error {
	b := x.find(key)
	if b == nil {
		return fmt.Errorf("unknown symbol %s", key)
	}
	if err := b.checkPrice("price", price); err != nil {
		return err
	}
	b.slide(price)
	return nil
}

// Price returns a symbol's last and mark price, 0 for an unknown one.
func (x *Exchange) Price(key exchange.SymbolKey) (last, mark exchange.Price) {
	if b := x.find(key); b != nil {
		return b.last, b.mark
	}
	return 0, 0
}

// Symbol returns a symbol's rules, nil for an unknown one.
func (x *Exchange) Symbol(key exchange.SymbolKey) *exchange.Symbol {
	if b := x.find(key); b != nil {
		return b.symbol
	}
	return nil
}
