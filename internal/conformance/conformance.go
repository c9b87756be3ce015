// Package conformance tests every exchange alike: the simulated one, the client over its server, and a real venue.
//
// The cases are text a trader can read (rules/*.txt), grouped by what of the
// interface they are about (Subjects). Every case runs on the simulated exchange
// directly and on the signed client over its server; those that speak HTTP
// themselves run on the server alone. What they expect is typed from the interface
// and decisions.md. Read asks any venue, simulated or real, for what it may be asked
// without changing anything, and checks that its answers tell one story.
package conformance

import (
	"errors"
	"fmt"

	"botd/exchange"
)

// Venue is what a case runs on: an exchange with the accounts and symbols of a
// World, whose prices and clock stand still until they are told.
type Venue interface {
	Do(account string, request exchange.Request) (exchange.Answer, error)
	Tell(key exchange.SymbolKey, price, mark exchange.Price) error // mark 0 is the price
	Advance(ms int64) error
	Close() error
}

// Open makes a venue of a world.
type Open func(World) (Venue, error)

// Wired is a Venue that can be asked over HTTP by hand.
type Wired interface {
	Send(Call) (Reply, error)
}

// Run runs one case on a fresh venue. Its error names file, line, step, and what
// was wanted before what was had.
func Run(c *Case, open Open) (err error) {
	venue, err := open(c.World)
	if err != nil {
		return fmt.Errorf("%s: %w", c, err)
	}
	defer func() { err = errors.Join(err, venue.Close()) }()
	r := runner{venue: venue, symbols: tableOf(c.World.Symbols()), ids: map[string]int64{}}
	r.account, r.key = "alice", exchange.SymbolKey{Market: exchange.Futures, Name: "BTC-USDT"}
	return r.run(c.File, c.steps)
}
