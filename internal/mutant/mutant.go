// Package mutant names rules of the protocol that a build made for that breaks on purpose.
//
// The simulation is only worth what it catches. A build with the tag "mutants"
// can break one rule at a time, and the simulation must fail then:
//
//	go run -tags mutants ./cmd/botd simulate --mutants
//
// Without the tag Is is a constant false, and the compiler leaves nothing of it.
package mutant

import "fmt"

// Rule is a rule of the protocol broken on purpose.
type Rule uint8

// The rules. The word after the dash is what the mutant does instead.
const (
	None Rule = iota

	// An answer that did not come, or can not be read, is an unknown outcome.
	TimeoutIsRefused
	ServerErrorIsRefused
	MalformedIsRefused
	BlindRetry
	EmptyForFailed
	NotKnownIsCanceled
	VanishedIsCanceled
	CancelIsTheEnd
	RefusedCancelIsTheEnd

	// Absence proves nothing before the fence.
	NoFence
	NoWindow
	NoVisibility
	NoStaleness
	OneSnapshot
	MovedSnapshot
	FillsMeanwhile
	UnseenIgnored
	AwaitedIgnored
	NeverDecided
	AlwaysAbsent
	InferredWhole
	ClosedOnce
	LostAtOnce
	FillsGoBack
	SecondOrderIgnored
	DifferenceAtOnce
	DoubleAtOnce
	EverythingAdopted

	// Durable before the first byte, in order, and never an id twice.
	SentBeforeDurable
	FailedCommitHolds
	RecordsReversed
	ForgottenSending
	ForgottenFills
	ForgottenHalts
	ForgottenQuarantine
	SameEpoch
	NoTimeToLive

	// Uncertainty blocks what opens.
	UnsettledOpens
	SeveralOpen
	OpensBesideExit
	OpensDespiteNews
	NeverCalledBack
	HaltedOpens
	BlindOpens
	BrokenOpens
	QuarantinedOpens
	StoppingOpens
	BreachedOpens
	CrowdedOpens
	LimitIgnored
	TermsIgnored
	LeverageUnconfirmed
	LatchIgnored

	// Reducing is never blocked, and never more than there is.
	OppositeOpens
	ExitAtOnce
	ExitBlocked
	StopMissing
	KeyRefilled
	DustOrdered
	TicksIgnored

	// What botd did not make.
	PrefixIgnored
	AlienIgnored
	ShortSold

	// The rest of the house.
	CandleTwice
	CandleEarly
	Hurried
	Hoarding
	End
)

// Row is what is known of a rule.
type Row struct {
	Rule  Rule
	Name  string
	Does  string // instead of what the rule says
	Where string // the rule: a case of docs/exactly-once.md, or its section
	Shown string // the test that shows it where seeds do so seldom or never
}

// Table is all rules, in their order.
var Table = []Row{
	{TimeoutIsRefused, "timeout_is_refused", "a placement without an answer counts as failed", "1", ""},
	{ServerErrorIsRefused, "server_error_is_refused", "a placement answered by 5xx counts as failed", "1", ""},
	{MalformedIsRefused, "malformed_is_refused", "a placement answered by what nobody can read counts as failed", "2", ""},
	{BlindRetry, "blind_retry", "a placement without an answer is sent again under its id", "class N", ""},
	{EmptyForFailed, "empty_for_failed", "a read that failed is an empty list", "principle", ""},
	{NotKnownIsCanceled, "not_known_is_canceled", "an acknowledged order that GET does not know yet counts as canceled", "12", ""},
	{VanishedIsCanceled, "vanished_is_canceled", "an order that left the open list counts as canceled", "28", ""},
	{CancelIsTheEnd, "cancel_is_the_end", "PRE_CANCELED counts as the end", "27", ""},
	{RefusedCancelIsTheEnd, "refused_cancel_is_the_end", "a refused cancel means that the order never was", "28", ""},

	{NoFence, "no_fence", "an unknown placement is decided at once", "principle", "internal/simulation TestRehearsal"},
	{NoWindow, "no_window", "the fence forgets how long a signed request is admitted", "W", "internal/simulation TestRehearsal"},
	{NoVisibility, "no_visibility", "the fence forgets how long an order takes to show", "D", "internal/simulation TestRehearsal"},
	{NoStaleness, "no_staleness", "reads are taken to be fresh", "L", ""},
	{OneSnapshot, "one_snapshot", "one snapshot decides an unknown placement", "equation", "internal/simulation TestRehearsal"},
	{MovedSnapshot, "moved_snapshot", "a snapshot counts though the position moved while it was taken", "snapshot", "reconcile TestASnapshotInWhichThePositionMovedDoesNotCount"},
	{FillsMeanwhile, "fills_meanwhile", "an unknown placement is decided while known orders fill", "equation", "reconcile TestAnUnknownIsNotDecidedWhileKnownOrdersFill"},
	{UnseenIgnored, "unseen_ignored", "an accepted order nobody has seen yet counts as without fills", "11", "internal/simulation TestRehearsal"},
	{AwaitedIgnored, "awaited_ignored", "the equation does not wait for placements without an answer", "equation", "internal/simulation TestRehearsal"},
	{NeverDecided, "never_decided", "an unknown placement stays unknown", "principle", ""},
	{AlwaysAbsent, "always_absent", "a residual is never an unknown placement's", "equation", ""},
	{InferredWhole, "inferred_whole", "an inferred fill is always the whole order", "equation", ""},
	{ClosedOnce, "closed_once", "what filled and closed unseen is booked as filled only", "9", ""},
	{LostAtOnce, "lost_at_once", "an acknowledged order that GET does not know is lost at the first look", "12", ""},
	{FillsGoBack, "fills_go_back", "a smaller fill is believed", "13", ""},
	{SecondOrderIgnored, "second_order_ignored", "a second order under one id is not looked at", "14", ""},
	{DifferenceAtOnce, "difference_at_once", "a difference counts as foreign without waiting for L", "equation", ""},
	{DoubleAtOnce, "double_at_once", "two positions in one torn list are believed", "38", ""},
	{EverythingAdopted, "everything_adopted", "a stranger's position is adopted whatever the policy", "16", ""},

	{SentBeforeDurable, "sent_before_durable", "a placement goes out before its record is durable", "journal", ""},
	{FailedCommitHolds, "failed_commit_holds", "a commit that failed is taken to hold", "7", ""},
	{RecordsReversed, "records_reversed", "records of one batch are written in reverse", "journal", ""},
	{ForgottenSending, "forgotten_sending", "what was being sent at a crash was never sent", "6", ""},
	{ForgottenFills, "forgotten_fills", "a restart forgets the fills", "journal", ""},
	{ForgottenHalts, "forgotten_halts", "a restart arms a halted account", "kill switch", ""},
	{ForgottenQuarantine, "forgotten_quarantine", "a restart ends a quarantine", "equation", ""},
	{SameEpoch, "same_epoch", "every start counts its ids from the same epoch", "journal", ""},
	{NoTimeToLive, "no_time_to_live", "a placement goes out however old it is", "22", ""},

	{UnsettledOpens, "unsettled_opens", "openings go out while something on the symbol is unknown", "class N", ""},
	{SeveralOpen, "several_open", "several openings of a symbol go out in one round", "class N", ""},
	{OpensBesideExit, "opens_beside_exit", "an opening goes out beside an exit in the name of a stop", "19", "internal/simulation TestRehearsal"},
	{OpensDespiteNews, "opens_despite_news", "an opening is not looked at again when its record is durable", "class N", ""},
	{NeverCalledBack, "never_called_back", "an opening that waits for the request budget goes out whatever happened meanwhile", "class N", ""},
	{HaltedOpens, "halted_opens", "the kill switch holds nothing back", "kill switch", ""},
	{BlindOpens, "blind_opens", "openings go out while reads fail", "23", ""},
	{BrokenOpens, "broken_opens", "openings go out while the breaker is tripped", "25", ""},
	{QuarantinedOpens, "quarantined_opens", "openings go out on a quarantined symbol", "equation", ""},
	{StoppingOpens, "stopping_opens", "openings go out after SIGTERM", "33", ""},
	{BreachedOpens, "breached_opens", "openings go out after a limit of loss was passed", "limit", ""},
	{CrowdedOpens, "crowded_opens", "openings go out while the disk is nearly full", "journal", ""},
	{LimitIgnored, "limit_ignored", "the position limit is not looked at", "risk", ""},
	{TermsIgnored, "terms_ignored", "an opening that was approved under other limits goes out", "risk", ""},
	{LeverageUnconfirmed, "leverage_unconfirmed", "openings do not wait for the leverage", "32", ""},
	{LatchIgnored, "latch_ignored", "a position its stop ended is opened again by the same plan", "latch", ""},

	{OppositeOpens, "opposite_opens", "an order against the position goes out without reduceOnly", "classes", ""},
	{ExitAtOnce, "exit_at_once", "an exit of unknown fate is sent again without a pause", "20", ""},
	{ExitBlocked, "exit_blocked", "an exit waits until nothing is unknown", "20", ""},
	{StopMissing, "stop_missing", "no stop is placed", "protection", ""},
	{KeyRefilled, "key_refilled", "what filled under a key is placed again", "plan", ""},
	{DustOrdered, "dust_ordered", "what is too small is ordered all the same", "36", ""},
	{TicksIgnored, "ticks_ignored", "prices are not rounded to their tick", "risk", ""},

	{PrefixIgnored, "prefix_ignored", "another botd under our prefix is not noticed", "15", ""},
	{AlienIgnored, "alien_ignored", "the spot history is not asked for orders the journal does not know", "35", ""},
	{ShortSold, "short_sold", "on spot what the wallet misses is sold all the same", "16", "internal/simulation TestRehearsal"},

	{CandleTwice, "candle_twice", "a candle is given twice", "candles", ""},
	{CandleEarly, "candle_early", "a candle is given before it closed", "candles", ""},
	{Hurried, "hurried", "rounds follow each other without a pause", "budget", ""},
	{Hoarding, "hoarding", "ended placements stay in memory", "memory", ""},
}

// String returns the rule's name.
func (r Rule) String() string {
	if r > None && r < End {
		return Table[r-1].Name
	}
	return fmt.Sprintf("rule(%d)", r)
}

// Find returns the rule of a name.
func Find(name string) (Rule, error) {
	for _, row := range Table {
		if row.Name == name {
			return row.Rule, nil
		}
	}
	return None, fmt.Errorf("unknown mutant %q", name)
}
