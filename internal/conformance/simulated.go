package conformance

import (
	"botd/exchange"
	"botd/exchange/sim"
)

// Simulated opens a world on the simulated exchange itself, called in process.
func Simulated(w World) (Venue, error) {
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
