package reconcile

import (
	"iter"
	"slices"

	"botd/exchange"
)

// evidence is the tracker together with a snapshot. Its methods, and those of its parts (unclaimedRows, walletEvidence,
// positionEvidence), only answer questions: they conclude and change nothing.
type evidence struct {
	tracker *Tracker
	fetched *Snapshot
	margins
}

// survey evaluates one snapshot: it turns evidence into records, and applies each record before it draws
// the next conclusion. Observe calls its parts in order: orderRows, positionComparison, which leads to uncertainOrders or, on spot, to walletComparison
// with unlistedOrders, and refusalChecks; peerOrders works alongside them.
type survey struct {
	evidence
	recorder
	spotList spotList
	old      []exchange.Market // markets whose open lists show less than botd knows: an order that has since ended, or was filled further
}

func (t *Tracker) survey(fetched *Snapshot) *survey {
	compared := margins{account: &t.tracked, observed: &t.observedAccount, inUse: fetched.Account, listed: fetched.Positions}
	return &survey{evidence: evidence{tracker: t, fetched: fetched, margins: compared}, recorder: recorder{into: t, atMS: fetched.EndedMS},
		spotList: spotList{fetched: fetched}}
}

// spotList answers which orders the spot open list shows.
type spotList struct {
	fetched *Snapshot
	ids     []int64 // sorted; nil until needed
}

// shows reports whether the list shows an order.
func (l *spotList) shows(orderID int64) bool {
	if l.ids == nil {
		for i := range l.fetched.SpotOrders.Items() {
			l.ids = append(l.ids, l.fetched.SpotOrders.Items()[i].ID)
		}
		slices.Sort(l.ids)
	}
	_, found := slices.BinarySearch(l.ids, orderID)
	return found
}

// boot begins a new epoch.
func (o *observedAccount) boot(atMS int64) { o.bootMS = atMS }

// Account returns the futures account, as last read.
func (o *observedAccount) Account() exchange.MarginAccount { return o.marginAccount }

// AccountMS returns when the futures account was last read; 0 for never.
func (o *observedAccount) AccountMS() int64 { return o.accountMS }

// ForgetAccount drops the account's read: it must be read again before anything relies on it.
func (o *observedAccount) ForgetAccount() { o.accountMS = 0 }

// OpenPositions yields the open positions on futures, of any symbol, as last read.
func (o *observedAccount) OpenPositions() iter.Seq[exchange.Position] {
	return slices.Values(o.openPositions)
}

// beginRead begins the processing of a snapshot.
func (o *observedAccount) beginRead(s *Snapshot) { o.readEndedMS, o.readBeganMS = s.EndedMS, s.BeganMS }

// note stores the fetched state of the account as a whole.
func (o *observedAccount) note(s *Snapshot) {
	if s.Account != nil {
		o.marginAccount, o.accountMS, o.accountFromMS = *s.Account, s.EndedMS, s.BeganMS
		o.marginShown = o.marginShown || !s.Account.PositionMargin.IsZero()
	}
	if s.Positions.Done() {
		o.openPositions = s.Positions.Items()
	}
	for _, market := range [...]exchange.Market{exchange.Futures, exchange.Spot} {
		if list := s.Orders(market); list.Done() {
			o.listed[market] = openList{list.Items(), s.unreadIDs(market), s.BeganMS}
		}
	}
	o.spotWallet.note(s)
}
