package reconcile

import (
	"botd/reconcile/placement"
	"botd/reconcile/record"
)

// Purpose, State and Settle are the placement package's.
type (
	Purpose = placement.Purpose
	State   = placement.State
	Settle  = placement.Settle
)

// HaltLevel is the record package's.
type HaltLevel = record.HaltLevel

// The levels of a halt.
const (
	LevelNone    = record.LevelNone
	LevelPause   = record.LevelPause
	LevelCancel  = record.LevelCancel
	LevelFlatten = record.LevelFlatten
)

// HaltLevels returns the names of all levels, the mildest first.
func HaltLevels() []string { return record.HaltLevels() }

// ParseHaltLevel reads the name of a level.
func ParseHaltLevel(text string) (HaltLevel, error) { return record.ParseHaltLevel(text) }

// The purposes.
const (
	Entry      = placement.Entry
	Exit       = placement.Exit
	Order      = placement.Order
	ExitOrder  = placement.ExitOrder
	StopLoss   = placement.StopLoss
	TakeProfit = placement.TakeProfit
	Cancel     = placement.Cancel
	Leverage   = placement.Leverage
)

// The states of a placement.
const (
	Sending      = placement.Sending
	Acknowledged = placement.Acknowledged
	Working      = placement.Working
	Uncertain    = placement.Uncertain
	Filled       = placement.Filled
	Canceled     = placement.Canceled
	Rejected     = placement.Rejected
	Refused      = placement.Refused
	Absent       = placement.Absent
	Expired      = placement.Expired
)

// UnmeasuredSettle are the bounds for a venue that was not probed.
var UnmeasuredSettle = placement.UnmeasuredSettle
