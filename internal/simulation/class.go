package simulation

import "fmt"

// Class names one way in which the exchange, or botd's environment, breaks the assumptions of the protocol. Each can be enabled alone.
type Class uint8

// The classes.
const (
	LyingPositions  Class = iota // the position list is empty, short, smaller, torn, or older than L
	LyingWallet                  // the wallet is empty, short, smaller, torn, or older than L
	LyingOrders                  // the list of open orders is wrong in these ways
	LyingHistory                 // order history, user trades or closed positions are wrong in these ways
	HungReads                    // one kind of read is never answered
	ExecutedRefusal              // the exchange executes orders that it refuses
	DoubleExecution              // the exchange executes a placement twice
	RefusedOrders                // the exchange refuses every order of a kind
	NoIDs                        // rows come without client order ids
	Garbage                      // rows that cannot be read, float noise, null for an empty list
	LostSymbol                   // the calls of one symbol fail as if it were delisted
	ChangedRules                 // ticks, bounds, permissions and brackets change in position
	Transfers                    // money is deposited and withdrawn
	Suspended                    // the process is suspended for minutes
	SecondEngine                 // another botd of the same instance runs on the account
	LostJournal                  // the journal's files are unlinked under the running process
	CutJournal                   // the journal is cut, or replaced by an older copy, under the running process
	VanishedFiles                // files of strategies are absent for a moment
	CatchUp                      // the process is suspended, and all its strategies are paced
	Liquidated                   // positions are liquidated
	HungStrategy                 // strategies answer late or never, or their process ends
	ClassEnd
)

var classNames = [ClassEnd]string{"positions", "wallet", "orders", "history", "hung_reads", "executed_refusal", "double_execution", "refused_orders", "no_ids",
	"garbage", "lost_symbol", "changed_rules", "transfers", "suspended", "second_engine", "lost_journal",
	"cut_journal", "vanished_files", "catch_up", "liquidated",
	"hung_strategy"}

// String returns the class's name.
func (c Class) String() string {
	if c < ClassEnd {
		return classNames[c]
	}
	return fmt.Sprintf("class(%d)", c)
}

// ParseClass finds a class by its name.
func ParseClass(name string) (Class, error) {
	for i, known := range classNames {
		if known == name {
			return Class(i), nil
		}
	}
	return 0, fmt.Errorf("unknown class %q (known: %v)", name, classNames)
}

// Beyond selects a run beyond the bounds, with the given classes or with one to three that the seed draws.
type Beyond struct {
	Only   []Class
	Except []Class // never drawn
}
