package api

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"botd/backtest/parity"
	"botd/runtime/api/auth"
)

var parityRoutes = []route{
	{id: "parity", tag: "strategies", method: "GET", path: "/api/v1/strategies/{name}/parity", minimum: auth.Operator,
		endpoint: read((*Server).parity),
		summary: "Compares a running strategy with a backtest over the candles recorded meanwhile, with its present configuration and the " +
			"equity that its market's wallet had: each order next to its counterpart in the backtest, and both profits. It runs in this process, " +
			"in parallel with trading, and is recomputed at most once in 15 seconds.",
		takes: []parameter{{name: "from", text: "Milliseconds; the first fill by default.", kind: milliseconds},
			{name: "to", text: "Milliseconds, exclusive; now by default.", kind: milliseconds}},
		fails: []int{404, 409}},
}

// Limits of comparisons, which run alongside trading.
const (
	parityFresh   = 15 * time.Second
	parityTimeout = 20 * time.Second
	maxParities   = 20 // that are held
)

// parities holds the newest comparisons.
type parities struct {
	mu   sync.Mutex // guards the fields below
	held map[parityKey]heldParity
}

type parityKey struct {
	strategy     string
	fromMS, toMS int64
}

type heldParity struct {
	at     time.Time
	answer *parity.Parity
}

// find returns a comparison that is still fresh.
func (p *parities) find(key parityKey, now time.Time) *parity.Parity {
	p.mu.Lock()
	defer p.mu.Unlock()
	if one := p.held[key]; now.Sub(one.at) < parityFresh {
		return one.answer
	}
	return nil
}

func (p *parities) hold(key parityKey, answer *parity.Parity, now time.Time) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.held == nil || len(p.held) >= maxParities {
		p.held = map[parityKey]heldParity{}
	}
	p.held[key] = heldParity{now, answer}
}

func (s *Server) parity(r *request) (parity.Parity, error) {
	name := r.PathValue("name")
	if _, _, known := s.config.Board.Traded(name); !known {
		return parity.Parity{}, notFound("strategy", name)
	}
	if s.config.Runner == nil {
		return parity.Parity{}, notPossible("this botd runs no backtests")
	}
	key := parityKey{name, r.number("from", 0), r.number("to", 0)}
	if answer := s.parities.find(key, time.Now()); answer != nil {
		return *answer, nil
	}
	if !s.runner.claim() {
		return parity.Parity{}, notPossible("a backtest is running, and only one can run at a time: try again when it has ended")
	}
	defer s.runner.release()
	ctx, cancel := context.WithTimeout(r.Context(), parityTimeout)
	defer cancel()
	answer, err := s.compared(ctx, key)
	switch {
	case errors.Is(err, context.DeadlineExceeded):
		return parity.Parity{}, notPossible("the backtest did not finish within " + parityTimeout.String() + ": botd parity " + name + " runs it outside")
	case err != nil:
		return parity.Parity{}, notPossible(err.Error())
	}
	s.parities.hold(key, answer, time.Now())
	return *answer, nil
}

// compared runs the comparison; a panic of a strategy ends only the comparison.
func (s *Server) compared(ctx context.Context, key parityKey) (answer *parity.Parity, err error) {
	defer func() {
		if cause := recover(); cause != nil {
			err = fmt.Errorf("internal error: %v", cause)
		}
	}()
	return s.config.Runner.Parity(ctx, key.strategy, key.fromMS, key.toMS)
}
