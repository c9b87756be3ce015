package backtest

import (
	"cmp"
	"encoding/json"
	"errors"
	"maps"
	"slices"
	"strconv"
	"time"

	"botd/exchange"
	"botd/exchange/sim"
	"botd/reconcile/placement"
	"botd/risk"
	"botd/runtime/engine"
)

// OrderCounts counts the outcomes of orders: derived, refused by rule, placed, ended.
type OrderCounts struct {
	Derived    int         `json:"derived"`  // intents, each counted once
	Refused    []RuleCount `json:"refused"`  // by botd's own rules
	Placed     int         `json:"placed"`   // sent to the exchange
	Rejected   []RuleCount `json:"rejected"` // by the exchange, at the placement
	Filled     int         `json:"filled"`
	Part       int         `json:"part_filled"` // ended after a partial fill
	Canceled   int         `json:"canceled"`    // ended without a fill
	Unfinished int         `json:"waiting"`     // not ended at the last candle
}

// UnmarshalJSON also reads the key of earlier versions, "wanted" for "derived".
func (c *OrderCounts) UnmarshalJSON(text []byte) error {
	type plain OrderCounts
	old := struct {
		*plain
		Earlier *int `json:"wanted"`
	}{plain: (*plain)(c)}
	if err := json.Unmarshal(text, &old); err != nil {
		return err
	}
	if old.Earlier != nil {
		c.Derived = *old.Earlier
	}
	return nil
}

// RuleCount is the number of refusals by a rule.
type RuleCount struct {
	Rule  string `json:"rule"`
	Count int    `json:"count"`
}

// tag describes the purpose of an order.
type tag struct {
	purpose string // entry, exit, order, exit_order, stop_loss, take_profit, liquidation
	why     string // the plan's reason, or the order's key
	level   int    // of a stop or a target, from 1; 0 for none
}

// Level is a stop or a target and the time it stood on the exchange.
type Level struct {
	Symbol       exchange.SymbolKey
	FromMS, ToMS int64 // ToMS is 0 while it stands
	Price        exchange.Price
	Stop         bool // otherwise a target
}

// maxLevels limits the levels stored for the report's chart.
const maxLevels = 50_000

// events are the facts of a run that the report must show.
type events struct {
	counts         OrderCounts
	refused        map[string]int // by rule
	rejected       map[string]int
	refusal        string // the first one
	rejection      string
	failure        string // which strategy was stopped first, and why
	quarantine     string
	halt           string
	unacknowledged map[string]tag // by client order id
	tags           map[int64]tag  // by order id, until it is settled
	alone          tag            // of the only order in flight, sent by the direct machine
	aloneID        int64
	levels         []Level

	notTraded    []NotTraded
	breaches     []EndedBy      // limits that hold entries back now
	heldBack     map[string]int // number of holds, by rule, for limits that end by themselves
	firstHeld    string
	ended        *EndedBy
	liquidatedMS int64
	notices      *Notices
}

// Notices counts the notices of strategies. A backtest sends none of them.
type Notices struct {
	Count    int `json:"count"`
	Withheld int `json:"withheld"` // those that a live run would suppress: too many in an hour
}

// notice counts one notice.
func (e *events) notice(fact *engine.NoteNotice) {
	if e.notices == nil {
		e.notices = &Notices{}
	}
	if e.notices.Count++; fact.Withheld {
		e.notices.Withheld++
	}
}

// count records the facts that the report shows.
func (e *events) count(note *engine.Note, equity exchange.Amount) {
	switch fact := note.Fact.(type) {
	case engine.NoteIntent:
		if places(fact.Intent.Purpose) {
			e.counts.Derived++
		}
	case engine.NoteDecision:
		e.decided(note.Strategy, note.Symbol, fact.Plan.Target, fact.Last, equity)
	case engine.NoteLatch:
		if fact.Signal {
			e.suppressed(note.Strategy, latched, func() string { return utc(note.AtMS).Format(time.RFC3339) + ": " + fact.Reason })
		}
	case engine.NoteNotice:
		e.notice(&fact)
	case engine.NoteLimit:
		e.limited(note, &fact)
	case engine.NoteLiquidated:
		e.liquidatedMS = note.AtMS
	case engine.NoteRejection:
		e.refuses(note.Strategy, fact.Rejection)
	case engine.NotePlaced:
		e.counts.Placed++
		if e.unacknowledged == nil {
			e.unacknowledged, e.tags = map[string]tag{}, map[int64]tag{}
		}
		e.unacknowledged[fact.ClientOrderID] = tag{fact.Purpose.String(), fact.Reason, e.level(note, &fact)}
	case engine.NoteAcknowledged:
		e.tags[fact.OrderID] = e.unacknowledged[fact.ClientOrderID]
		delete(e.unacknowledged, fact.ClientOrderID)
	case engine.NoteRefused:
		delete(e.unacknowledged, fact.ClientOrderID)
		e.rejected = counted(e.rejected, ruleOf(fact.Err))
		e.suppressed(note.Strategy, rejectedBy+ruleOf(fact.Err), func() string { return fact.Reason })
		e.rejection = cmp.Or(e.rejection, fact.Reason)
	case engine.NoteSettled:
		e.settled(note.AtMS, &fact)
	case engine.NoteStrategyFailed:
		e.failure = cmp.Or(e.failure, note.Strategy+" failed and was stopped: "+fact.Reason)
		e.ends(note, "strategy_failed", fact.Reason)
	case engine.NoteQuarantine:
		e.quarantine = cmp.Or(e.quarantine, fact.Reason)
		e.ends(note, "quarantine", fact.Reason)
	case engine.NoteHalt:
		e.halt = cmp.Or(e.halt, fact.Reason)
		e.ends(note, "halt", fact.Reason)
	}
}

// refuses counts a strategy's intent that a rule refused.
func (e *events) refuses(strategy string, rejection *risk.Rejection) {
	e.refused = counted(e.refused, rejection.Rule)
	e.suppressed(strategy, refusedBy+rejection.Rule, rejection.Error)
	if e.refusal == "" {
		e.refusal = rejection.Error()
	}
}

// ruleOf names the exchange's rule that an order violated.
func ruleOf(err error) string {
	var refusal *exchange.Refusal
	if !errors.As(err, &refusal) {
		return "unknown"
	}
	for _, rule := range sim.Rules() {
		if rule.Code == refusal.Code {
			return rule.Name
		}
	}
	return strconv.Itoa(refusal.Code)
}

// settled counts the end of an order.
func (e *events) settled(atMS int64, fact *engine.NoteSettled) {
	switch {
	case fact.State == placement.Filled:
		e.counts.Filled++
	case fact.Filled > 0:
		e.counts.Part++
	default:
		e.counts.Canceled++
	}
	if at := e.tags[fact.OrderID].level; at > 0 {
		e.levels[at-1].ToMS = atMS
	}
	delete(e.tags, fact.OrderID)
}

// level records where a stop or a target stands.
func (e *events) level(note *engine.Note, fact *engine.NotePlaced) int {
	stop, target := fact.Purpose == placement.StopLoss, fact.Purpose == placement.TakeProfit
	if !stop && !target || len(e.levels) == maxLevels || note.Symbol == nil {
		return 0
	}
	e.levels = append(e.levels, Level{Symbol: note.Symbol.Key(), FromMS: note.AtMS, Price: fact.Order.StopPrice, Stop: stop})
	return len(e.levels)
}

// sent counts an order of the direct machine.
func (e *events) sent(id int64, of tag) {
	e.counts.Derived++
	e.counts.Placed++
	e.alone, e.aloneID = of, id
}

// filled counts a complete fill of that order.
func (e *events) filled() { e.counts.Filled++ }

// rests counts an order that the direct machine put into the order book.
func (e *events) rests(id int64, of tag) {
	e.counts.Derived++
	e.counts.Placed++
	if e.tags == nil {
		e.tags = map[int64]tag{}
	}
	e.tags[id] = of
}

// over counts the end of such an order.
func (e *events) over(id int64, filled exchange.Quantity, whole bool) {
	switch {
	case whole:
		e.counts.Filled++
	case filled > 0:
		e.counts.Part++
	default:
		e.counts.Canceled++
	}
	delete(e.tags, id)
}

// places reports whether an intent places an order.
func places(p placement.Purpose) bool { return p != placement.Cancel && p != placement.Leverage }

func counted(counts map[string]int, rule string) map[string]int {
	if counts == nil {
		counts = map[string]int{}
	}
	counts[rule]++
	return counts
}

// tagOf returns the purpose of an execution.
func (e *events) tagOf(f *sim.Fill) tag {
	switch f.OrderID {
	case 0:
		return tag{purpose: "liquidation", why: "the margin was used up"}
	case e.aloneID:
		return e.alone
	}
	return e.tags[f.OrderID]
}

// closed returns the counts of a finished run.
func (e *events) closed() OrderCounts {
	f := e.counts
	f.Refused, f.Rejected = ranked(e.refused), ranked(e.rejected)
	f.Unfinished = f.Placed - f.Filled - f.Part - f.Canceled - sum(f.Rejected)
	return f
}

// ranked lists counts, the largest first.
func ranked(counts map[string]int) []RuleCount {
	list := make([]RuleCount, 0, len(counts))
	for _, rule := range slices.Sorted(maps.Keys(counts)) {
		list = append(list, RuleCount{rule, counts[rule]})
	}
	slices.SortStableFunc(list, func(a, b RuleCount) int { return b.Count - a.Count })
	return list
}

func sum(list []RuleCount) (n int) {
	for _, each := range list {
		n += each.Count
	}
	return n
}
