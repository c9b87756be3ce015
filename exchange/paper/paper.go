// Package paper trades a simulated account on a real venue's public data.
//
// What is public is the venue's own: those operations go through to it. What is
// signed is answered by a simulated exchange with one account, whose market
// stands as the venue's public data were last told: orders match against the real
// book, trades and prices as they come in. No key is needed and nothing is sent
// to the venue but public reads.
//
// It fails closed. Data are good for MaxAge from the moment they were asked for;
// after that the symbol has no quotes, nothing placed on it is accepted, and what
// rests there neither fills nor is triggered until data come again. What the venue
// traded in a gap longer than MaxAge fills nothing.
package paper

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"botd/exchange"
	"botd/exchange/sim"
)

// Account is the name of the one account.
const Account = "paper"

// The pace of the feed unless the configuration says otherwise.
const (
	DefaultPollEvery = time.Second
	DefaultMaxAge    = 10 * time.Second
	fundingEvery     = time.Minute // how often a funding rate is asked for
)

// Public is the venue's public data. Its errors are of package exchange's taxonomy.
type Public interface {
	Do(ctx context.Context, request exchange.Request) (exchange.Answer, error)
}

// Clock tells the venue's time.
type Clock interface {
	ServerNowMS() int64
}

// Store makes the account durable: Keep returns when every change up to the given
// one is. look tells what changed since it was last asked and the number of the
// last change in it; and with all, everything there is.
type Store interface {
	Save(change uint64, look func(all bool) (change, snapshot []byte, newest uint64, err error)) error
}

// Config is what a paper venue is made of.
type Config struct {
	Public  Public
	Clock   Clock
	Symbols []*exchange.Symbol   // as the venue lists them, both markets
	Watch   []exchange.SymbolKey // fed from the start; what has orders or a position is fed too

	Deposit   sim.AccountConfig // deposits count when the account begins, fees always
	DelayMS   int64             // from acceptance to the book
	PollEvery time.Duration     // 0 is DefaultPollEvery
	MaxAge    time.Duration     // 0 is DefaultMaxAge

	State   []byte                   // the account as the store has it, nil for a new one
	Store   Store                    // written before an answer goes out; nil keeps nothing
	Notify  func(event, text string) // for people: data that went stale, or came back; nil is silent. It must not call the venue
	OnStale func(Staleness)          // told whenever data are too old, why, and when they came back; nil is silent. It must not call the venue
}

// Staleness is whether a symbol's data are too old to trade on.
type Staleness struct {
	Key     exchange.SymbolKey
	Stale   bool
	SinceMS int64  // when the data in force were asked for; 0 when there never were any
	Reason  string // what became of the last question; empty when that is not known
}

// Venue is the paper venue. It is safe for several goroutines.
type Venue struct {
	config Config
	wake   chan struct{} // what is due next may have changed

	mu       sync.Mutex // guards all below
	exchange *sim.Exchange
	feeds    map[exchange.SymbolKey]*feed
	kept     uint64 // the last change that is durable
}

// New makes a venue, with the account as the state left it. It asks for nothing.
func New(config Config) (*Venue, error) {
	if config.PollEvery == 0 {
		config.PollEvery = DefaultPollEvery
	}
	if config.MaxAge == 0 {
		config.MaxAge = DefaultMaxAge
	}
	switch {
	case config.Public == nil || config.Clock == nil:
		return nil, errors.New("a paper venue needs public data and a clock")
	case config.PollEvery < 0 || config.MaxAge < config.PollEvery:
		return nil, fmt.Errorf("max_age %s is below the poll of every %s: data would always be too old", config.MaxAge, config.PollEvery)
	}
	if config.Notify == nil {
		config.Notify = func(string, string) {}
	}
	if config.OnStale == nil {
		config.OnStale = func(Staleness) {}
	}
	config.Deposit.Name = Account
	v := &Venue{config: config, wake: make(chan struct{}, 1), feeds: map[exchange.SymbolKey]*feed{}}
	var err error
	if v.exchange, err = open(&config); err != nil {
		return nil, err
	}
	v.exchange.Track()
	for _, key := range config.Watch {
		if v.exchange.Symbol(key) == nil {
			return nil, fmt.Errorf("the venue lists no %s symbol %s", key.Market, key.Name)
		}
		v.feeds[key] = &feed{}
	}
	v.skipDowntime()
	v.watchOpen()
	return v, v.keep()
}

// open makes the simulated exchange, every symbol of it fed.
func open(config *Config) (x *sim.Exchange, err error) {
	settings := sim.Config{Symbols: config.Symbols, StartMS: config.Clock.ServerNowMS(), OrderDelayMS: config.DelayMS}
	if config.State == nil {
		x, err = sim.New(settings)
	} else {
		x, err = sim.Restore(settings, config.State)
	}
	if err != nil {
		return nil, err
	}
	for _, symbol := range config.Symbols {
		x.SetMarket(symbol.Key(), sim.Fed())
	}
	_, err = x.Do(Account, &exchange.Request{Operation: exchange.FuturesLeverages})
	var unknown *exchange.Refusal
	if errors.As(err, &unknown) && unknown.Code == exchange.CodeUnknownKey {
		return x, x.AddAccount(config.Deposit)
	}
	return x, errors.Join(err, x.SetFees(config.Deposit))
}

// skipDowntime brings a restored exchange to the present. The rates of funding
// payments that fell due meanwhile are public no more: they are not charged, and
// that is said.
func (v *Venue) skipDowntime() {
	since, now := v.exchange.NowMS(), v.config.Clock.ServerNowMS()
	for _, p := range v.positions() {
		symbol := v.exchange.Symbol(exchange.SymbolKey{Market: exchange.Futures, Name: p.Symbol})
		every := int64(symbol.FundingIntervalHours) * int64(exchange.Hour1)
		if every == 0 {
			continue
		}
		if missed := now/every - since/every; missed > 0 {
			v.config.Notify("paper.funding_missed", fmt.Sprintf("%s: %d funding payments fell due while botd was not running; their rates are unknown and not charged", p.Symbol, missed))
		}
	}
	v.exchange.Advance(now)
}

// Do performs one operation: a public one at the venue, a signed one on the paper account.
func (v *Venue) Do(ctx context.Context, request exchange.Request) (exchange.Answer, error) {
	return v.DoBefore(ctx, request, exchange.SendLimit{})
}

// DoBefore is Do for a placement that may only be accepted while the venue's time
// is not past a limit, and not after it was recalled.
func (v *Venue) DoBefore(ctx context.Context, request exchange.Request, departure exchange.SendLimit) (exchange.Answer, error) {
	if !request.Operation.Signed() {
		return v.config.Public.Do(ctx, request)
	}
	if err := ctx.Err(); err != nil {
		return exchange.Answer{}, notDone(&request, "the call was canceled", err)
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	defer v.wakeClock()
	v.advance()
	switch {
	case departure.NotAfterMS != 0 && v.exchange.NowMS() > departure.NotAfterMS:
		return exchange.Answer{}, notDone(&request, "its time to live had passed", nil)
	case departure.IsRecalled():
		return exchange.Answer{}, notDone(&request, "it was recalled", nil)
	}
	if request.Operation.Places() {
		if why := v.notReady(request.Order.Key()); why != "" {
			return exchange.Answer{}, notDone(&request, why, nil)
		}
	}
	answer, err := v.exchange.Do(Account, &request)
	v.watchOpen()
	if unwritten := v.keep(); unwritten != nil {
		if err == nil && request.Operation.Places() {
			return exchange.Answer{}, &exchange.Uncertain{Reason: "the paper account could not be written", Err: unwritten}
		}
		return exchange.Answer{}, notDone(&request, "the paper account could not be written", unwritten)
	}
	return answer, err
}

// notDone is the answer to a request of which nothing was done.
func notDone(request *exchange.Request, why string, cause error) error {
	return &exchange.Unavailable{Operation: request.Operation, Reason: "not sent: " + why, Err: cause}
}

// notReady says why nothing can be placed on a symbol now; empty when it can. An
// unknown symbol is the exchange's to refuse.
func (v *Venue) notReady(key exchange.SymbolKey) string {
	if v.exchange.Symbol(key) == nil {
		return ""
	}
	f := v.feeds[key]
	if f == nil {
		f = &feed{}
		v.feeds[key] = f // from now on it is asked for
	}
	now := v.exchange.NowMS()
	switch {
	case f.fresh(now, v.config.MaxAge):
		return ""
	case f.asOfMS == 0:
		return fmt.Sprintf("the venue has told nothing of %s yet%s", key, f.because())
	}
	return fmt.Sprintf("the venue's data of %s are %s old, more than max_age %s%s", key, age(now-f.asOfMS), v.config.MaxAge, f.because())
}

// Watch has a symbol fed from now on.
func (v *Venue) Watch(key exchange.SymbolKey) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.exchange.Symbol(key) != nil && v.feeds[key] == nil {
		v.feeds[key] = &feed{}
	}
}

// advance brings the exchange to the venue's time. Quotes whose age runs out on
// the way are withdrawn at that moment, before anything due later.
func (v *Venue) advance() {
	now := v.config.Clock.ServerNowMS()
	for {
		key, expired := v.nextExpiry()
		if expired >= now {
			break
		}
		v.exchange.Advance(expired)
		v.withdraw(key)
	}
	v.exchange.Advance(now)
}

// keep makes the account durable when it has changed since it last was.
func (v *Venue) keep() error {
	change := v.exchange.Version() + 1
	if v.config.Store == nil || v.kept == change {
		return nil
	}
	if err := v.config.Store.Save(change, v.look); err != nil {
		return fmt.Errorf("keep the paper account: %w", err)
	}
	v.kept = change
	return nil
}

// look tells the store what changed.
func (v *Venue) look(all bool) (change, snapshot []byte, newest uint64, err error) {
	if change, err = v.exchange.Changes(); err == nil && all {
		snapshot, err = v.exchange.Snapshot()
	}
	return change, snapshot, v.exchange.Version() + 1, err
}

func (v *Venue) positions() []exchange.Position {
	answer, err := v.exchange.Do(Account, &exchange.Request{Operation: exchange.FuturesOpenPositions})
	if err != nil {
		return nil // no account yet
	}
	return answer.Positions.Items()
}

// watchOpen has everything fed that has an order or a position.
func (v *Venue) watchOpen() {
	watch := func(market exchange.Market, name string) {
		key := exchange.SymbolKey{Market: market, Name: name}
		if v.feeds[key] == nil {
			v.feeds[key] = &feed{}
		}
	}
	for _, p := range v.positions() {
		watch(exchange.Futures, p.Symbol)
	}
	for _, operation := range [...]exchange.Operation{exchange.FuturesOpenOrders, exchange.SpotOpenOrders} {
		if v.exchange.OpenOrders(Account, operation.Market()) == 0 {
			continue
		}
		answer, err := v.exchange.Do(Account, &exchange.Request{Operation: operation})
		if err != nil {
			continue
		}
		for _, o := range answer.Orders.Items() {
			watch(operation.Market(), o.Symbol)
		}
	}
}
