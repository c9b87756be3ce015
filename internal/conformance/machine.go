package conformance

import (
	"fmt"
	"slices"
	"strings"
)

// Machine is an exchange that the cases run on.
type Machine struct {
	Name string
	Text string
	open Open
	runs func(*Case) bool
}

// Machines returns the exchanges of this repository.
func Machines() []Machine {
	return []Machine{
		{"simulated", "the simulated exchange, called in process", simulate, (*Case).direct},
		{"restarted", "the same, restored from its stored state before each step", restart, (*Case).stored},
		{"served", "its server over HTTP, called by the signed client and by raw requests", overHTTP, func(*Case) bool { return true }},
	}
}

// MachineOf returns a machine by its name.
func MachineOf(name string) (Machine, error) {
	var names []string
	for _, m := range Machines() {
		if m.Name == name {
			return m, nil
		}
		names = append(names, m.Name)
	}
	return Machine{}, fmt.Errorf("unknown machine %q, have %s", name, strings.Join(names, ", "))
}

// Runs reports whether a case can run on the machine.
func (m *Machine) Runs(c *Case) bool { return m.runs(c) }

// Run runs one case on a new exchange. Its error names file, line and step, and the expected value before the received one.
func (m *Machine) Run(c *Case) error { return run(c, m.open, nil) }

// direct reports whether a case calls the exchange, and sends no raw HTTP.
func (c *Case) direct() bool { return !c.Wired() }

// unstored lists the subjects that are not part of an exchange's stored state and start from scratch:
// candles, public trades, the statistics of the day.
var unstored = []string{"candles", "public-trades", "ticker", "limits-default", "limits-maximum"}

// stored reports whether everything that a case checks survives a restart.
func (c *Case) stored() bool { return c.direct() && !slices.Contains(unstored, c.Subject) }
