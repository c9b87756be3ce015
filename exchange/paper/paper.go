// Package paper trades a simulated account on a real venue's public data.
//
// Public operations go through to the venue. Signed operations are answered by a simulated exchange
// with one account, whose market follows the venue's public data as last read: orders match against
// the real order book, trades and prices as they arrive. It needs no key and sends nothing to the venue
// but public reads.
//
// It fails closed. Data are valid for MaxAge from the moment of their request. After that the
// symbol has no quotes, it accepts no placement, and its resting orders neither fill nor trigger
// until new data arrive. Trades of the venue in a gap longer than MaxAge fill nothing.
package paper

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"botd/exchange"
	"botd/exchange/sim"
)

// Account is the name of the only account.
const Account = "paper"

// Defaults of the feed.
const (
	DefaultPollEvery = time.Second
	DefaultMaxAge    = 10 * time.Second
)

// Public is the venue's public data. Its errors are those of package exchange.
type Public interface {
	Do(ctx context.Context, request exchange.Request) (exchange.Answer, error)
}

// Clock is the venue's clock.
type Clock interface {
	ServerNowMS() int64
}

// Store makes the account durable. Save returns when every change up to the given one is on disk.
// source returns the changes since its last call and the number of the last one; if all is set, it
// also returns a snapshot.
type Store interface {
	Save(change uint64, source func(all bool) (change, snapshot []byte, newest uint64, err error)) error
}

// Config configures a paper venue.
type Config struct {
	Public  Public
	Clock   Clock
	Symbols []*exchange.Symbol   // as listed by the venue for both markets
	Watch   []exchange.SymbolKey // fed from the start; symbols with orders or a position are fed too

	Deposit   sim.AccountConfig // deposits apply when the account is created, fees always
	DelayMS   int64             // from acceptance to the order book
	PollEvery time.Duration     // 0 is DefaultPollEvery
	MaxAge    time.Duration     // 0 is DefaultMaxAge

	State   []byte                   // stored account, nil for a new one
	Store   Store                    // written before an answer is returned; nil stores nothing
	Notify  func(event, text string) // reports to users that data became stale or fresh again; nil is silent. It must not call the venue
	OnStale func(Staleness)          // called when data become stale, with the reason, and when they are fresh again; nil for none. It must not call the venue
}

// Staleness reports whether a symbol's data are too old to trade on.
type Staleness struct {
	Key     exchange.SymbolKey
	Stale   bool
	SinceMS int64  // when the current data were requested; 0 if they never arrived
	Reason  string // result of the last request; empty if unknown
}

// Venue is the paper venue. It is safe for concurrent use.
type Venue struct {
	config Config
	wake   chan struct{} // the next due time may have changed

	mu       sync.Mutex // guards all below
	exchange *sim.Exchange
	feeds    map[exchange.SymbolKey]*feed
	saved    uint64 // the last durable change
}

// New creates a venue with the stored account. It sends no request.
func New(config Config) (*Venue, error) {
	config.PollEvery = cmp.Or(config.PollEvery, DefaultPollEvery)
	config.MaxAge = cmp.Or(config.MaxAge, DefaultMaxAge)
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
	return v, v.save()
}

// open creates the simulated exchange with every symbol fed.
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
	if unknown, ok := errors.AsType[*exchange.Refusal](err); ok && unknown.Code == exchange.CodeUnknownKey {
		return x, x.AddAccount(config.Deposit)
	}
	return x, errors.Join(err, x.SetFees(config.Deposit))
}

// skipDowntime advances a restored exchange to the current time. The rates of funding payments that
// fell due meanwhile are no longer public, so they are not charged; it reports this.
func (v *Venue) skipDowntime() {
	since, now := v.exchange.NowMS(), v.config.Clock.ServerNowMS()
	for _, p := range v.positions() {
		symbol := v.exchange.Symbol(exchange.SymbolKey{Market: exchange.Futures, Name: p.Symbol})
		every := int64(symbol.FundingIntervalHours) * int64(exchange.Hour1)
		if every == 0 {
			continue
		}
		if missed := now/every - since/every; missed > 0 {
			v.config.Notify("paper.funding_missed", fmt.Sprintf("%s: %d funding payments were due while botd was not running; "+
				"their rates are unknown and not charged", p.Symbol, missed))
		}
	}
	v.exchange.Advance(now)
}

// Do performs one operation: a public one on the venue, a signed one on the paper account.
func (v *Venue) Do(ctx context.Context, request exchange.Request) (exchange.Answer, error) {
	return v.DoBefore(ctx, request, exchange.SendLimit{})
}

// DoBefore is Do for a placement that must not be accepted after a time limit or after its recall.
func (v *Venue) DoBefore(ctx context.Context, request exchange.Request, limit exchange.SendLimit) (exchange.Answer, error) {
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
	case limit.NotAfterMS != 0 && v.exchange.NowMS() > limit.NotAfterMS:
		return exchange.Answer{}, notDone(&request, exchange.ReasonExpired, nil)
	case limit.IsRecalled():
		return exchange.Answer{}, notDone(&request, "it was recalled", nil)
	}
	if request.Operation.Places() {
		if why := v.notReady(request.Order.Key()); why != "" {
			return exchange.Answer{}, notDone(&request, why, nil)
		}
	}
	answer, err := v.exchange.Do(Account, &request)
	v.watchOpen()
	if unwritten := v.save(); unwritten != nil {
		if err == nil && request.Operation.Places() {
			return exchange.Answer{}, &exchange.Uncertain{Reason: "the paper account could not be saved", Err: unwritten}
		}
		return exchange.Answer{}, notDone(&request, "the paper account could not be saved", unwritten)
	}
	return answer, err
}

// notDone returns the answer to a request without effect.
func notDone(request *exchange.Request, why string, cause error) error {
	return &exchange.Unavailable{Operation: request.Operation, Reason: "not sent: " + why, Err: cause}
}

// notReady returns the reason why a symbol accepts no placements now, or an empty string. The
// exchange itself refuses an unknown symbol.
func (v *Venue) notReady(key exchange.SymbolKey) string {
	if v.exchange.Symbol(key) == nil {
		return ""
	}
	f := v.feeds[key]
	if f == nil {
		f = &feed{}
		v.feeds[key] = f // the feed requests it from now on
	}
	now := v.exchange.NowMS()
	switch {
	case f.fresh(now, v.config.MaxAge):
		return ""
	case f.asOfMS == 0:
		return fmt.Sprintf("the venue has not reported any data of %s yet%s", key, f.errorSuffix())
	}
	return fmt.Sprintf("the venue's data of %s are %s old, more than max_age %s%s", key, age(now-f.asOfMS), v.config.MaxAge, f.errorSuffix())
}

// Watch adds a symbol to the feed.
func (v *Venue) Watch(key exchange.SymbolKey) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.exchange.Symbol(key) != nil && v.feeds[key] == nil {
		v.feeds[key] = &feed{}
	}
}

// advance brings the exchange to the venue's time. Quotes that expire on the way are withdrawn at
// that time, before later events.
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

// save makes the account durable if it has changed.
func (v *Venue) save() error {
	change := v.exchange.Version() + 1
	if v.config.Store == nil || v.saved == change {
		return nil
	}
	if err := v.config.Store.Save(change, v.collectChanges); err != nil {
		return fmt.Errorf("save the paper account: %w", err)
	}
	v.saved = change
	return nil
}

// collectChanges is the store's source.
func (v *Venue) collectChanges(all bool) (change, snapshot []byte, newest uint64, err error) {
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

// watchOpen adds every symbol with an order or a position to the feed.
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
