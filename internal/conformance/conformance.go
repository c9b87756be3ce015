// Package conformance tests every exchange alike: the simulated one, the client over its server, and a real venue.
//
// The cases are text that a trader can read (rules/*.txt), grouped by the part of the
// interface that they test (Subjects). Every case runs on the simulated exchange directly
// and through the signed client over its server; cases that send raw HTTP run on the server
// only (Machines). Their expectations are copied from the interface and docs/exchange.md.
//
// Read performs all reads on any venue, simulated or real, and checks that the answers are
// consistent with each other. botd-sim conformance runs both.
package conformance

import (
	"errors"
	"fmt"

	"botd/exchange"
)

// Venue is an exchange with the accounts and symbols of a World. Its prices and its clock
// move only when the case sets them.
type Venue interface {
	Do(account string, request exchange.Request) (exchange.Answer, error)
	SetPrice(key exchange.SymbolKey, price, mark exchange.Price) error // a mark of 0 equals the price
	Advance(ms int64) error
	Close() error
}

// Open creates the venue of a world.
type Open func(World) (Venue, error)

// Wired is a Venue that accepts raw HTTP requests.
type Wired interface {
	Send(Call) (Reply, error)
}

// run runs one case on a new venue that may differ from the cases.
func run(c *Case, open Open, d difference) (err error) {
	venue, err := open(c.World)
	if err != nil {
		return fmt.Errorf("%s: %w", c, err)
	}
	defer func() { err = errors.Join(err, venue.Close()) }()
	r := runner{venue: venue, symbols: tableOf(c.World.Symbols()), ids: map[string]int64{}, difference: d}
	r.account, r.key = "alice", exchange.SymbolKey{Market: exchange.Futures, Name: "BTC-USDT"}
	if err = r.run(c.File, c.steps); errors.Is(err, errEnds) {
		return nil
	}
	return err
}
