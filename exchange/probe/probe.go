// Package probe examines a venue from outside, step by step.
//
// It measures what botd must know about an undocumented venue: whether it is reachable, how each
// public operation answers, its clock offset, its signature scheme, the maximum age of a signed
// request (W), and, with one tiny order far from the price, the delay until an order is visible (D)
// and the maximum age of a read (L). Without Trade it places, cancels and changes nothing.
package probe

import (
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"net"
	"slices"
	"time"

	"botd/exchange"
	"botd/exchange/rest"
	"botd/exchange/wire"
)

// Outcome is the result of a step.
type Outcome string

// The outcomes of a step.
const (
	OK   Outcome = "ok"
	Warn Outcome = "warn"
	Fail Outcome = "fail"
	Skip Outcome = "skip" // What holds the reason
)

// Step is one examined aspect.
type Step struct {
	Name      string  `json:"name"`
	Outcome   Outcome `json:"outcome"`
	Status    int     `json:"status,omitempty"`     // HTTP status, of a single request
	LatencyMS float64 `json:"latency_ms,omitempty"` // of a single request
	What      string  `json:"what"`
	Hint      string  `json:"hint,omitempty"`
}

// Report contains all results of a probe.
type Report struct {
	Schema       int               `json:"schema"`
	BaseURL      string            `json:"base_url"`
	Steps        []Step            `json:"steps"`
	Clock        *Clock            `json:"clock"`        // null if it was not reported
	Signature    *Signature        `json:"signature"`    // null if none was accepted or tried
	Window       *Window           `json:"window"`       // null if it was not measured
	Delays       *Delays           `json:"delays"`       // null without Trade
	Lists        []List            `json:"lists"`        // lists of orders that the probe read
	NullLists    bool              `json:"null_lists"`   // a list was written as null
	Habits       []string          `json:"habits"`       // observed habits, under the names of botd exchange --variant
	Words        map[string]string `json:"status_words"` // foreign ones: "spot EXECUTED" is FILLED
	UnknownWords []string          `json:"status_words_unknown"`
	Beyond       bool              `json:"noise_beyond_floats"` // quantities have noise that binary floats do not leave
	Markets      map[string]Delays `json:"markets"`             // delays of each tried market
	Partial      bool              `json:"partial_fill"`        // an order was filled in part
	History      bool              `json:"positions_history"`   // the history contained the closed position
	Filled       bool              `json:"filled"`              // orders were filled, not just placed and canceled
	RateLimits   map[string]string `json:"rate_limits"`         // the last received rate limit headers
	Requests     int               `json:"requests"`            // sent
	RateLimited  int               `json:"rate_limited"`        // number of requests answered 429
	Settings     Settings          `json:"settings"`
	Reached      bool              `json:"-"`
	Refused      bool              `json:"-"` // the venue did not accept key or signature
}

// Clock is the server's time minus the local time.
type Clock struct {
	OffsetMS int64 `json:"offset_ms"`
	BoundMS  int64 `json:"bound_ms"` // maximum error
}

// Signature describes the venue's signature scheme.
type Signature struct {
	Payload  string `json:"payload"`
	Encoding string `json:"encoding"`
	Paths    string `json:"paths"` // full or route: the signed part of an address with a path
}

// Window is the maximum difference of a timestamp from the server's time.
type Window struct {
	PastMS    int64 `json:"past_ms"`
	FutureMS  int64 `json:"future_ms"`
	ErrorMS   int64 `json:"error_ms"`  // error of both bounds: the search step, the clock bound and the slowest read
	Unbounded bool  `json:"unbounded"` // even the oldest timestamp was accepted
}

// Delays are the longest observed delays, measured from sending.
type Delays struct {
	VisibilityMS int64 `json:"visibility_ms"` // until GET and the open list showed the order
	StalenessMS  int64 `json:"staleness_ms"`  // a read was older than an earlier read
	Rounds       int   `json:"rounds"`
}

// Settings are the bounds for the YAML, in milliseconds. measured lists those that this probe
// measured; the others are cautious defaults for a venue that nobody has measured
// (exactly-once.md).
type Settings struct {
	WindowMS     int64    `json:"window_ms"`
	VisibilityMS int64    `json:"visibility_ms"`
	StalenessMS  int64    `json:"staleness_ms"`
	Measured     []string `json:"measured"`

	RequestsPerSecond int `json:"requests_per_second,omitempty"` // final rate of the probe, if it was rate limited
}

// Bounds of a venue that nobody has measured.
const (
	unmeasuredWindow     = 60 * time.Second
	unmeasuredVisibility = 45 * time.Second
	unmeasuredStaleness  = 15 * time.Second
	delayFactor          = 4     // D and L are four times the longest observed delay,
	minDelayMS           = 1_000 // but at least the delays of the simulated exchange: a few orders in a quiet market prove little
)

// Config configures a probe. BaseURL is enough for the public steps.
type Config struct {
	BaseURL string
	Key     string
	Secret  []byte
	Signer  wire.Signer // tried first
	TLS     *tls.Config // nil is the system's

	Trade    bool            // place tiny orders, far from the price, and cancel them
	Symbol   string          // symbol for the public steps and for Trade; empty chooses one
	Distance exchange.Rate   // of the order's price from the best bid; 0 is 20 %
	Rounds   int             // orders placed; 0 is 3
	NoFills  bool            // with Trade: place no orders that fill
	Requests int             // maximum number, except for closing; 0 is 5000
	Spend    exchange.Amount // maximum cost of a partial fill; 0 is the little that the smallest orders need
	Tries    int             // maximum number of refused signatures; 0 is 400

	MaxAge   time.Duration // oldest and newest timestamp tried; 0 is 10 minutes
	MaxWait  time.Duration // for an order to become visible; 0 is a minute
	Progress func(Step)    // called after each step; nil for none

	dial   func(ctx context.Context, network, address string) (net.Conn, error) // nil is the network's
	gap    time.Duration                                                        // initial gap between two requests; 0 is firstGap
	glance time.Duration                                                        // gap between two reads of the order book for a small level; 0 is slowestPoll
}

// prober is a running probe.
type prober struct {
	config Config
	*caller
	report *Report

	listed  map[exchange.Market][]*exchange.Symbol
	plain   exchange.Request // a signed read without query and body that the venue serves
	slowest time.Duration    // slowest read of the window measurement
}

// Run examines a venue. An error is only about the configuration; the report contains the venue's
// behavior.
func Run(ctx context.Context, config Config) (*Report, error) {
	if _, err := rest.New(rest.Config{BaseURL: config.BaseURL, Signer: config.Signer}); err != nil {
		return nil, err // the client has the rules for addresses
	}
	if config.Trade && (config.Key == "" || config.Symbol == "") {
		return nil, errors.New("trading needs keys and a symbol")
	}
	config.fill()
	p := &prober{config: config, caller: newCaller(&config), listed: map[exchange.Market][]*exchange.Symbol{},
		report: &Report{Schema: 1, BaseURL: config.BaseURL, Steps: []Step{}, Lists: []List{}, Markets: map[string]Delays{}}}
	if p.report.Reached = p.reach(ctx); p.report.Reached {
		p.public(ctx)
		p.clock(ctx)
		p.signed(ctx)
		p.limits()
	}
	p.report.RateLimits, p.report.Requests, p.report.RateLimited, p.report.NullLists = p.headers, p.calls, p.limited, p.habits.seen[habitNull]
	p.report.addHabits(p.habits)
	p.report.deriveSettings()
	return p.report, nil
}

func (c *Config) fill() {
	c.Distance = cmp.Or(c.Distance, exchange.RateOne/5)
	c.Rounds = cmp.Or(c.Rounds, 3)
	c.Requests = cmp.Or(c.Requests, 5_000)
	c.Tries = cmp.Or(c.Tries, 400)
	c.MaxAge = cmp.Or(c.MaxAge, 10*time.Minute)
	c.MaxWait = cmp.Or(c.MaxWait, time.Minute)
	c.glance = cmp.Or(c.glance, slowestPoll)
	if c.dial == nil {
		c.dial = (&net.Dialer{Timeout: dialTimeout}).DialContext
	}
	c.gap = cmp.Or(c.gap, firstGap)
	if c.Progress == nil {
		c.Progress = func(Step) {}
	}
}

// signed runs the steps that need keys. Each runs if the previous one succeeded.
func (p *prober) signed(ctx context.Context) {
	switch {
	case p.config.Key == "":
		p.skip("no keys were given", "signature", "window", "delays")
		return
	case p.report.Clock == nil:
		p.skip("without the server's time nothing can be signed", "signature", "window", "delays")
		return
	}
	if !p.signature(ctx) {
		p.skip("no signature was accepted", "window", "delays")
		return
	}
	p.window(ctx)
	if !p.config.Trade {
		p.skip("needs a real order: run with --trade --symbol SYMBOL", "delays")
		return
	}
	p.delays(ctx)
}

// addHabits copies the observed habits into the report.
func (r *Report) addHabits(h *habits) {
	for _, list := range r.Lists {
		switch {
		case list.Echoes:
		case list.List == listNames[exchange.SpotOrderHistory]:
			h.seen[habitHistoryIDs] = true
		default:
			h.seen[habitOpenIDs] = true
		}
	}
	r.Habits, r.Beyond, r.Words, r.UnknownWords = h.names(), h.beyond, map[string]string{}, []string{}
	for market, words := range h.words {
		for word, status := range words {
			r.Words[market.String()+" "+word] = status.String()
		}
	}
	for word := range h.unknownWords {
		if _, meaning := r.Words[word]; !meaning {
			r.UnknownWords = append(r.UnknownWords, word)
		}
	}
	slices.Sort(r.UnknownWords)
}

func (p *prober) add(step Step) {
	p.report.Steps = append(p.report.Steps, step)
	p.config.Progress(step)
}

func (p *prober) skip(why string, names ...string) {
	for _, name := range names {
		p.add(Step{Name: name, Outcome: Skip, What: why})
	}
}

// Failed returns the number of failed steps.
func (r *Report) Failed() (count int) {
	for _, step := range r.Steps {
		if step.Outcome == Fail {
			count++
		}
	}
	return count
}

// deriveSettings converts the measurements into safe bounds.
func (r *Report) deriveSettings() {
	s := &r.Settings
	s.WindowMS, s.VisibilityMS, s.StalenessMS = unmeasuredWindow.Milliseconds(), unmeasuredVisibility.Milliseconds(), unmeasuredStaleness.Milliseconds()
	s.Measured = []string{}
	if w := r.Window; w != nil {
		s.WindowMS = roundUp(w.PastMS+w.ErrorMS, 100)
		s.Measured = append(s.Measured, "window")
		if w.Unbounded {
			s.WindowMS = max(s.WindowMS, unmeasuredWindow.Milliseconds())
		}
	}
	if d := r.Delays; d != nil {
		s.VisibilityMS, s.StalenessMS = d.bounds()
		s.Measured = append(s.Measured, "visibility", "staleness")
	}
}

// Has reports whether a setting was measured.
func (s *Settings) Has(name string) bool { return slices.Contains(s.Measured, name) }

// roundUp returns the first multiple of the step that is at least n.
func roundUp(n, step int64) int64 { return (n + step - 1) / step * step }
