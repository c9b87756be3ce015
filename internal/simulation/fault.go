package simulation

import "fmt"

// Fault names one kind of fault (docs/simulation.md, What a seed draws).
type Fault uint8

// The faults. Those up to Queued are injected into single requests, by probability;
// the others occur spontaneously, at a rate per minute.
const (
	LostRequest Fault = iota // never arrives
	LostAnswer               // executed, the answer is lost
	LateRequest              // arrives after the caller gave up
	Duplicate                // a middlebox delivers it twice
	Hidden                   // accepted, but lists and GET leave it out for a while
	StaleRead                // a replica answers with an earlier state
	TornRead                 // one list whose parts differ in age
	Malformed                // a 2xx that cannot be parsed
	ServerError              // 5xx, executed or not
	RateLimited              // 429, not executed
	SlowAnswer               // the answer takes seconds
	Queued                   // the call waits in the client before its first byte

	Outage        // every request stays unanswered for a while
	ClockError    // the daemon's clock is wrong until it is read again
	ManualTrade   // a person trades on the account
	ManualCancel  // a person cancels one of botd's orders
	PartialFill   // a counterparty takes part of a resting order
	PriceJump     // the price jumps through stops and limits
	Liquidation   // the exchange liquidates a position
	RuleDrift     // ticks, bounds and permissions of a symbol change
	CommitFails   // an append fails, nothing was written
	CommitInDoubt // a commit fails and its outcome is uncertain
	SlowDisk      // a commit takes seconds
	DiskFull      // no append succeeds for a while
	Crash         // the process dies at an input or output
	Stop          // SIGTERM
	Pause         // the process is suspended: SIGSTOP, a closed laptop
	Halt          // a person halts trading, and rearms it later
	SecondBot     // another botd trades under our prefix
	OldBackup     // the process restarts with an old journal, or an empty one

	Resolve // a person ends a quarantine
	Reload  // a new version replaces a running strategy
	DiskLow // the journal's disk is nearly full for a while

	Remove  // a strategy is removed from the configuration, and returns
	Tighten // limits block all openings for a while
	FaultEnd
)

var faultNames = [FaultEnd]string{"lost_request", "lost_answer", "late_request", "duplicate", "hidden", "stale_read", "torn_read", "malformed", "server_error",
	"rate_limited", "slow_answer", "queued", "outage", "clock_error", "manual_trade", "manual_cancel", "partial_fill", "price_jump", "liquidation",
	"rule_drift",
	"commit_fails", "commit_in_doubt", "slow_disk", "disk_full", "crash", "stop", "pause", "halt", "second_bot", "old_backup", "resolve", "reload",
	"disk_low", "remove", "tighten"}

// String returns the fault's name.
func (f Fault) String() string {
	if f < FaultEnd {
		return faultNames[f]
	}
	return fmt.Sprintf("fault(%d)", f)
}

// parseFault finds a fault by its name.
func parseFault(name string) (Fault, error) {
	for i, known := range faultNames {
		if known == name {
			return Fault(i), nil
		}
	}
	return 0, fmt.Errorf("unknown fault %q (known: %v)", name, faultNames)
}

// Weather is the strength of each fault: the probability per request or commit, or the
// rate per minute. Zero is off.
type Weather [FaultEnd]float64

// strongest is the upper bound of each drawn strength. For Crash it is the probability per input or output.
var strongest = Weather{
	LostRequest: 0.15, LostAnswer: 0.25, LateRequest: 0.15, Duplicate: 0.05, Hidden: 0.5, StaleRead: 0.4, TornRead: 0.4, Malformed: 0.15, ServerError: 0.2,
	RateLimited: 0.15, SlowAnswer: 0.2, Queued: 0.3, Outage: 1, ClockError: 1, ManualTrade: 0.5, ManualCancel: 1, PartialFill: 30, PriceJump: 2,
	Liquidation: 0.3, RuleDrift: 0.5,
	CommitFails: 0.1, CommitInDoubt: 0.02, SlowDisk: 0.1, DiskFull: 0.5, Crash: 0.02, Stop: 0.5, Pause: 1, Halt: 0.4, SecondBot: 0.05, OldBackup: 0.1,
	Resolve: 4, Reload: 2, DiskLow: 1, Remove: 4, Tighten: 2,
}

// most returns the largest strength allowed: certainty for a fault with a probability,
// a very high rate for the others.
func (f Fault) most() float64 {
	switch {
	case f < Outage, f == CommitFails, f == CommitInDoubt, f == SlowDisk, f == Crash:
		return 1
	}
	return 1_000
}

// storms are faults that are worst in combination.
var storms = [][]Fault{
	{LostRequest, LostAnswer, StaleRead, TornRead, PartialFill}, // uncertain placements while known orders fill
	{LateRequest, Queued, Hidden, StaleRead, LostRequest},       // every delay close to its bound
	{Crash, CommitInDoubt, Stop, SlowDisk, LostAnswer},          // restarts
	{Duplicate, PartialFill, ManualTrade, PriceJump, StaleRead}, // other traders
}

// drawWeather draws the faults of a seed: one seed in twenty has none, one in ten a
// single one, one in five a storm, the rest about a third of all faults.
func drawWeather(d *draw) (w Weather) {
	kind := d.below(20)
	if storm := d.below(int64(len(storms))); kind >= 16 {
		for _, f := range storms[storm] {
			w[f] = float64(strongest[f] * (0.3 + float64(0.7*d.unit())))
		}
		return w
	}
	only := Fault(d.below(int64(Resolve)))
	for f := range Resolve {
		on, strength := d.chance(0.33), d.unit()
		switch {
		case kind == 0, kind <= 2 && f != only, kind > 2 && !on:
			continue
		}
		w[f] = float64(strongest[f] * (0.05 + float64(0.95*strength*strength)))
	}
	return w
}
