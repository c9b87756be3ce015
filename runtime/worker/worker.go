// Package worker calls strategies for the engine, each in its own goroutine.
// A strategy that hangs blocks only its own goroutine: nothing waits for it. One that runs in a separate
// process loses that process instead.
package worker

import (
	"sync"
	"time"

	"botd/runtime/engine"
	"botd/strategy"
)

// Process is a strategy that runs in a process of its own. Kill ends the process at any time; a
// call in progress panics with a strategy.LostError.
type Process interface {
	Kill(cause string)
}

// Pool answers questions to strategies, one at a time to each. Its zero value is ready.
type Pool struct {
	// Measure is called before each call of a strategy, and its result afterwards; nil measures
	// nothing.
	Measure func(what engine.Measured, strategy string) (done func())

	mu    sync.Mutex                  // guards turns and asked
	turns map[string]*turn            // by the strategy's name
	asked map[int64]strategy.Strategy // the questions in progress
}

// turn has a strategy answer one question at a time.
type turn struct {
	strategy strategy.Strategy
	token    chan struct{} // holds one while the strategy runs
}

// Put passes a question to a strategy, in its turn.
func (p *Pool) Put(ask *engine.Ask, answer func(strategy.Result)) {
	token := p.begin(ask)
	go func() {
		token <- struct{}{}
		result := p.perform(ask)
		<-token
		p.mu.Lock()
		delete(p.asked, ask.ID)
		p.mu.Unlock()
		answer(result)
	}()
}

// Receive passes a signal to a strategy, in its turn. A signal that is not answered in time is
// marked as late.
func (p *Pool) Receive(r *engine.Reception) {
	p.mu.Lock()
	token := p.turn(r.Name, r.Strategy)
	p.mu.Unlock()
	answered := make(chan engine.Reception, 1)
	go func(r engine.Reception) {
		token <- struct{}{}
		r.Answer()
		<-token
		answered <- r
	}(*r)
	select {
	case *r = <-answered:
	case <-time.After(time.Duration(r.WithinMS) * time.Millisecond):
		r.Late = true
	}
}

func (p *Pool) begin(ask *engine.Ask) (token chan struct{}) {
	p.mu.Lock()
	defer p.mu.Unlock()
	token = p.turn(ask.Name, ask.Strategy)
	p.asked[ask.ID] = ask.Strategy
	return token
}

// turn returns the queue in which calls of a strategy wait.
func (p *Pool) turn(name string, s strategy.Strategy) (token chan struct{}) {
	if p.turns == nil {
		p.turns, p.asked = map[string]*turn{}, map[int64]strategy.Strategy{}
	}
	if p.turns[name] == nil {
		p.turns[name] = &turn{s, make(chan struct{}, 1)}
	}
	return p.turns[name].token
}

func (p *Pool) perform(ask *engine.Ask) strategy.Result {
	if p.Measure != nil {
		defer p.Measure(engine.MeasuredDecision, ask.Name)()
	}
	return ask.Task.Perform(ask.Strategy)
}

// Abandon ends the process of a strategy that has not answered in time. A strategy inside this
// process continues: its question is answered when it returns.
func (p *Pool) Abandon(ask int64) {
	p.mu.Lock()
	s := p.asked[ask]
	p.mu.Unlock()
	kill(s, "it has not answered in time")
}

// End ends the process of a strategy that is no longer called.
func (p *Pool) End(ended *engine.EndedStrategy) {
	p.mu.Lock()
	delete(p.turns, ended.Name)
	p.mu.Unlock()
	kill(ended.Strategy, "it is no longer needed")
}

// Close ends all processes.
func (p *Pool) Close() {
	p.mu.Lock()
	all := p.turns
	p.turns = nil
	p.mu.Unlock()
	for _, turn := range all {
		kill(turn.strategy, "botd has stopped")
	}
}

// kill ends the process of a strategy, or of the one it wraps.
func kill(s strategy.Strategy, cause string) {
	for s != nil {
		if process, is := s.(Process); is {
			process.Kill(cause)
			return
		}
		wrapper, wraps := s.(strategy.Wrapper)
		if !wraps {
			return
		}
		s = wrapper.Wrapped()
	}
}
