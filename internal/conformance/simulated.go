package conformance

import (
	"botd/exchange"
	"botd/exchange/sim"
)

// simulate opens a world on the simulated exchange itself, called in process.
func simulate(w World) (Venue, error) {
	x, err := w.exchange()
	if err != nil {
		return nil, err
	}
	return simulated{x}, nil
}

type simulated struct{ *sim.Exchange }

// Do executes a request.
func (v simulated) Do(account string, request exchange.Request) (exchange.Answer, error) {
	return v.Exchange.Do(account, &request)
}

// Advance passes time.
func (v simulated) Advance(ms int64) error {
	v.Exchange.Advance(v.NowMS() + ms)
	return nil
}

// Close does nothing.
func (v simulated) Close() error { return nil }

// restart opens a world on a simulated exchange that ends before each step and is restored from its stored
// state: alternately from a snapshot, and from a snapshot with the changes after it.
func restart(w World) (Venue, error) {
	x, err := w.exchange()
	if err != nil {
		return nil, err
	}
	return &restarted{simulated: simulated{x}, world: w}, nil
}

type restarted struct {
	simulated
	world   World
	base    []byte // the snapshot that the changes follow
	stored  int    // number of stores
	changes [][]byte
}

// restarts bounds the restarts: a case with repeated steps has thousands.
const restarts = 50

// restart replaces the exchange by a restored one.
func (v *restarted) restart() error {
	if v.stored++; v.stored > restarts {
		return nil
	}
	var state []byte
	var err error
	if v.base == nil {
		state, err = v.Snapshot()
	} else {
		var change []byte
		if change, err = v.Changes(); err == nil {
			v.changes = append(v.changes, change)
			state, err = sim.Merge(v.base, v.changes)
		}
	}
	if err != nil {
		return err
	}
	x, err := sim.Restore(v.world.config(), state)
	if err != nil {
		return err
	}
	v.world.markets(x)
	v.Exchange = x
	if v.base = nil; v.stored%2 == 1 {
		v.base, v.changes = state, nil
		x.Track()
	}
	return nil
}

// Do executes a request after a restart.
func (v *restarted) Do(account string, request exchange.Request) (exchange.Answer, error) {
	if err := v.restart(); err != nil {
		return exchange.Answer{}, err
	}
	return v.simulated.Do(account, request)
}

// SetPrice sets a price after a restart.
func (v *restarted) SetPrice(key exchange.SymbolKey, price, mark exchange.Price) error {
	if err := v.restart(); err != nil {
		return err
	}
	return v.Exchange.SetPrice(key, price, mark)
}

// Advance passes time after a restart.
func (v *restarted) Advance(ms int64) error {
	if err := v.restart(); err != nil {
		return err
	}
	return v.simulated.Advance(ms)
}
