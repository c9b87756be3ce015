package isolated

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"time"

	"botd/strategy"
	"botd/strategy/process"
)

// Times of a start with strategies that do not answer.
const (
	startPatience = 2 * time.Second // of a start, for all its strategies together
	reloadWithin  = 5 * time.Second // until a strategy that has loaded is reloaded
)

// Loading makes the strategies of a start, which must not wait for one of them. A process that does not describe
// its needs while the start waits is awaited in the background: until it answers, a substitute takes its place that does not return, and if it hangs
// or ends, one that fails at its first decision. Nothing opens for that strategy; its position, its stop and all other strategies
// are still managed.
type Loading struct {
	Ended chan struct{} // holds a value when a process has answered, or its start time is over

	mu       sync.Mutex // guards the rest
	patience time.Duration
	loads    map[string]*pending
}

// NewLoading returns the loading of a start.
func NewLoading() *Loading {
	return &Loading{Ended: make(chan struct{}, 1), patience: startPatience, loads: map[string]*pending{}}
}

// Definition returns a kind of strategy that read describes, or the kind of its substitute. The key identifies it.
func (l *Loading) Definition(key string, read func() (strategy.Definition, error)) (strategy.Definition, error) {
	definition, substitute, err := l.load(key, read)
	if substitute != nil {
		return strategy.Definition{Name: definition.Name, Summary: "its process has not described it", Silent: true,
			New: func(strategy.Setting, strategy.Values) (strategy.Strategy, error) { return substitute, nil }}, nil
	}
	create := definition.New
	definition.New = func(setting strategy.Setting, values strategy.Values) (strategy.Strategy, error) {
		hello := process.NewHello(key, &setting, values)
		hello.MemoryMB = setting.MemoryMB
		text, err := json.Marshal(hello)
		if err != nil {
			return nil, fmt.Errorf("describe the strategy: %w", err)
		}
		_, substitute, err := l.load(string(text), func() (strategy.Definition, error) {
			_, err := create(setting, values)
			return definition, err
		})
		if substitute != nil || err != nil {
			return substitute, err
		}
		return create(setting, values) // its description is known now
	}
	return definition, err
}

// load has read run in the background, once, and waits for its end as long as the start has patience. It returns a substitute for a strategy whose
// process has not answered.
func (l *Loading) load(key string, read func() (strategy.Definition, error)) (strategy.Definition, strategy.Strategy, error) {
	one, patience := l.begin(key, read)
	began := time.Now()
	select {
	case <-one.ended:
	case <-time.After(patience):
	}
	l.mu.Lock()
	l.patience = max(0, l.patience-time.Since(began))
	l.mu.Unlock()
	select {
	case <-one.ended:
	default:
		return strategy.Definition{}, one, nil
	}
	if cause := silence(one.err); cause != "" {
		return strategy.Definition{}, silent{cause}, nil
	}
	return one.definition, nil, one.err
}

func (l *Loading) begin(key string, read func() (strategy.Definition, error)) (one *pending, patience time.Duration) {
	l.mu.Lock()
	defer l.mu.Unlock()
	one, known := l.loads[key]
	if !known {
		one = &pending{ended: make(chan struct{})}
		l.loads[key] = one
		go func() {
			one.definition, one.err = read()
			close(one.ended)
			select {
			case l.Ended <- struct{}{}:
			default: // it holds a value
			}
		}()
	}
	return one, l.patience
}

// pending is a process that describes a strategy. Until it has, it is the substitute for the strategy: one that does not return.
type pending struct {
	ended      chan struct{} // closed when the rest is known
	definition strategy.Definition
	err        error
}

// Substitutes marks a substitute.
func (*pending) Substitutes() {}

// Warmup is none.
func (*pending) Warmup() int { return 0 }

// Candle ignores the candle.
func (*pending) Candle(*strategy.View) {}

// Watches the events, which the strategy may need.
func (*pending) Watches() strategy.Watching { return strategy.Watching{Events: true} }

// Decide does not return before the process has answered. Then a reload replaces it.
func (o *pending) Decide(*strategy.View, *strategy.Plan) {
	<-o.ended
	cause := silence(o.err)
	if cause == "" {
		time.Sleep(reloadWithin)
	}
	panic(errors.New(cmp.Or(cause,
		"its process has answered after the start, but the configuration is not applied: botd check; correct it and reload (botd reload)")))
}

// silence returns the reason that a process did not answer; empty if it did.
func silence(err error) string {
	var lost *strategy.LostError
	if !errors.As(err, &lost) {
		return ""
	}
	return "at the start: " + lost.Cause + "; fix it and reload (botd reload), or restart botd"
}

// silent is the substitute for a strategy that did not describe its needs.
type silent struct{ cause string }

// Substitutes marks a substitute.
func (silent) Substitutes() {}

// Warmup is none: it fails at once.
func (silent) Warmup() int { return 0 }

// Candle ignores the candle.
func (silent) Candle(*strategy.View) {}

// Decide fails.
func (s silent) Decide(*strategy.View, *strategy.Plan) { panic(errors.New(s.cause)) }
