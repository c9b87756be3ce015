package library

import (
	"fmt"
	"hash/fnv"
	"time"

	"botd/exchange"
	"botd/strategy"
)

type signalParams struct {
	Mode   string        `param:"mode" default:"long_only" oneof:"long_only|long_short" help:"long_short: signals can request short positions"`
	Expiry time.Duration `param:"expiry" default:"24h" min:"0s" max:"8760h" help:"validity of a signal, after which the position is closed. 0s: until the next"`
	MaxAge time.Duration `param:"max_age" default:"1m" min:"1s" max:"24h" help:"a signal older than this on arrival is refused"`
}

// signals holds the position that external signals request: the configured size, or a share of it,
// on either side, until the next signal or the expiry. Its memory is in the journal, so a restart
// changes nothing and a repeated signal is recognized.
//
// It loses as much as the signals lose, and more, because they arrive late.
func signals() strategy.Definition {
	return strategy.Define("signal", "holds the position that external signals request: TradingView alerts and other webhooks",
		func(setting strategy.Setting, p signalParams) (strategy.Strategy, error) {
			if err := shorts(setting, p.Mode); err != nil {
				return nil, err
			}
			return &receiving{symbol: setting.Symbol, size: sized(setting), shorts: p.Mode == "long_short", expiryMS: p.Expiry.Milliseconds(),
				maxAgeMS: p.MaxAge.Milliseconds()}, nil
		})
}

type receiving struct {
	symbol             *exchange.Symbol
	size               strategy.Size
	shorts             bool
	expiryMS, maxAgeMS int64
}

// Memory keys.
const (
	signalSide    = "signal.side"
	signalShare   = "signal.share"
	signalAt      = "signal.at"
	signalExpires = "signal.expires" // 0 for never
	signalNext    = "signal.next"    // slot of the next id
)

// knownSignals is the number of remembered ids. Ids of signals older than the last one need not be
// remembered: their time refuses them.
const knownSignals = 16

func signalID(i int64) string { return fmt.Sprintf("signal.id%d", i) }

func signalContent(i int64) string { return fmt.Sprintf("signal.content%d", i) }

// contentOf returns a fingerprint of the position that a signal requests. A repeated id with
// different content is a sender's mistake, not a repeated signal.
func contentOf(s *strategy.Signal) int64 { return fingerprint(fmt.Sprint(s.Side, s.Share)) }

// fingerprint returns the number that memory stores for an id or a content.
func fingerprint(id string) int64 {
	sum := fnv.New64a()
	sum.Write([]byte(id))
	return int64(sum.Sum64())
}

func (*receiving) Warmup() int           { return 0 }
func (*receiving) Candle(*strategy.View) {}

// Receive accepts a signal unless it is a repeat, older than the last one, or late.
func (s *receiving) Receive(view *strategy.View, signal *strategy.Signal, plan *strategy.Plan) error {
	id := fingerprint(signal.ID)
	for i := range int64(knownSignals) {
		if known, is := view.Memory.Get(signalID(i)); is && known == id {
			if content, stored := view.Memory.Get(signalContent(i)); stored && content != contentOf(signal) {
				return strategy.ErrReused
			}
			return strategy.ErrRepeated
		}
	}
	last, _ := view.Memory.Get(signalAt)
	expires := signal.ExpiresMS
	if s.expiryMS != 0 && (expires == 0 || expires > signal.AtMS+s.expiryMS) {
		expires = signal.AtMS + s.expiryMS
	}
	switch {
	case signal.AtMS > view.NowMS+s.maxAgeMS:
		return strategy.ErrEarly
	case signal.AtMS < view.NowMS-s.maxAgeMS, expires != 0 && expires <= view.NowMS:
		return strategy.ErrLate
	case signal.AtMS < last:
		return strategy.ErrSuperseded
	case signal.Side < 0 && !s.shorts:
		return fmt.Errorf("%w: the strategy is long only (params.mode)", strategy.ErrUnable)
	case signal.Share <= 0 || signal.Share > exchange.RateOne:
		return fmt.Errorf("%w: a size of %s is not above 0 and at most 1, the configured size", strategy.ErrUnable, signal.Share)
	case signal.Side != 0 && s.target(int64(signal.Side), signal.Share).Sign() == 0:
		return fmt.Errorf("%w: %s of its size is less than the symbol's smallest quantity", strategy.ErrUnable, signal.Share)
	}
	next, _ := view.Memory.Get(signalNext)
	plan.Remember(signalID(next), id)
	plan.Remember(signalContent(next), contentOf(signal))
	plan.Remember(signalNext, (next+1)%knownSignals)
	plan.Remember(signalSide, int64(signal.Side))
	plan.Remember(signalShare, int64(signal.Share))
	plan.Remember(signalAt, signal.AtMS)
	plan.Remember(signalExpires, expires)
	return nil
}

func (s *receiving) Decide(view *strategy.View, plan *strategy.Plan) {
	side, known := view.Memory.Get(signalSide)
	if !known {
		return // no signal yet
	}
	share, _ := view.Memory.Get(signalShare)
	expires, _ := view.Memory.Get(signalExpires)
	plan.SignalMS, _ = view.Memory.Get(signalAt)
	if expires != 0 && view.NowMS >= expires {
		plan.Hold(strategy.Flat(), "the last signal has expired")
		return
	}
	reason := [...]string{"a signal requested a short position", "a signal requested no position", "a signal requested a long position"}[side+1]
	plan.Hold(s.target(side, exchange.Rate(share)), reason)
}

// Conditions returns the last signal, and whether it is in force.
func (s *receiving) Conditions(view *strategy.View) []strategy.Condition {
	c := strategy.Condition{Name: "last signal", Value: "no signal yet"}
	side, known := view.Memory.Get(signalSide)
	if !known {
		return []strategy.Condition{c}
	}
	at, _ := view.Memory.Get(signalAt)
	share, _ := view.Memory.Get(signalShare)
	expires, _ := view.Memory.Get(signalExpires)
	c.Value = fmt.Sprintf("%s, %s of the size, %s", [...]string{"short", "flat", "long"}[side+1], exchange.Rate(share), moment(at))
	c.Met = true
	if expires != 0 {
		c.Requires, c.Met = "until "+moment(expires), view.NowMS < expires
	}
	return []strategy.Condition{c}
}

// target returns a share of the configured size.
func (s *receiving) target(side int64, share exchange.Rate) strategy.Target {
	size := s.size
	if share != exchange.RateOne {
		size.Equity = exchange.Rate(exchange.AmountOf(1).MulRate(size.Equity).MulRate(share).Ratio(exchange.AmountOf(1)))
		size.Quote = size.Quote.MulRate(share)
		size.Quantity = s.symbol.FloorQuantity(s.symbol.QuantityOf(s.symbol.QuantityAmount(size.Quantity).MulRate(share)))
		if size.IsZero() {
			return strategy.Flat()
		}
	}
	return size.Target(side)
}
