// Package timeline puts an account's journal, log and incidents into one order: the story of a night.
//
// The log describes the events; the journal proves them and includes users' actions. An event that is
// in both is shown once. The package neither reads the time nor does I/O.
package timeline

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"botd/reconcile/journal"
	"botd/reconcile/record"
	"botd/runtime/ops"
	"botd/runtime/view"
)

// maxEvents bounds a story.
const maxEvents = 20_000

// Event is one fact of the story.
type Event struct {
	At            time.Time `json:"at"`     // UTC
	Source        string    `json:"source"` // log, journal, audit, incident
	Event         string    `json:"event"`  // of the log, or the record's kind
	Level         string    `json:"level,omitempty"`
	Strategy      string    `json:"strategy,omitempty"`
	Market        string    `json:"market,omitempty"`
	Symbol        string    `json:"symbol,omitempty"`
	ClientOrderID string    `json:"client_order_id,omitempty"`
	Text          string    `json:"text"`

	Again int        `json:"again,omitempty"` // further occurrences of a repeated event
	Until *time.Time `json:"until,omitempty"` // the time of the last occurrence
}

// Story collects events. Its zero value takes everything.
type Story struct {
	Since, Until time.Time // zero for no bound
	Strategy     string    // with events of the whole account
	All          bool      // routine lines too
	Left         int       // events beyond maxEvents

	events   []Event
	failing  map[string]int  // the index of the first of a repeated event
	logLines map[string]bool // event and order of a line of the log
	when     []loggedEvent   // events of the log without an order
}

// loggedEvent is an event of the log and its time.
type loggedEvent struct {
	event string
	at    time.Time
}

// routine are the events of the log that add no information to their neighbors.
var routine = []string{"daemon.strategy", "exchange.unmeasured", "intent.derived", "market.candle", "order.acknowledged", "reconcile.round",
	"risk.approved", "strategy.tick"}

// repeated are the events of the log that an outage repeats every few seconds. After forgetAfter without one, the next is an event of its
// own.
var repeated = []string{"exchange.unavailable"}

const forgetAfter = 2 * time.Minute

// words are the records that a line of the log describes: the line's event, or its prefix.
var words = map[record.Kind]string{
	record.KindSending: "order.placed", record.KindAcknowledged: "order.acknowledged", record.KindRefused: "order.refused",
	record.KindUncertain: "order.uncertain", record.KindFill: "order.fill", record.KindEnded: "order.settled", record.KindFound: "order.found",
	record.KindQuarantined: "symbol.", record.KindAdopted: "position.adopted", record.KindIgnored: "position.ignored", record.KindPlan: "strategy.decision",
	record.KindLatch: "strategy.latch", record.KindHalt: "trading.", record.KindBreaker: "breaker.", record.KindBreach: "limit.",
	record.KindLimit: "limit.set", record.KindLiquidated: "position.liquidated", record.KindTransfer: "ledger.transfer", record.KindBoot: "daemon.",
	record.KindConfig: "config.",
}

// alone are the records without a line of the log.
var alone = []record.Kind{record.KindAudit, record.KindWithdrawn}

// near bounds the difference of the times of a record and of its line: the exchange's clock and the
// machine's.
const near = 5 * time.Second

// Line takes a line of the log.
func (s *Story) Line(l *ops.LogLine) {
	at, err := time.Parse(time.RFC3339Nano, l.Time)
	if err != nil || !s.covers(at.Add(-near)) && !s.covers(at.Add(near)) && !s.covers(at) {
		return
	}
	if l.ClientOrderID != "" {
		if s.logLines == nil {
			s.logLines = map[string]bool{}
		}
		s.logLines[l.Event+" "+l.ClientOrderID] = true
	} else {
		s.when = append(s.when, loggedEvent{l.Event, at})
	}
	if !s.All && slices.Contains(routine, l.Event) {
		return
	}
	e := Event{At: at, Source: "log", Event: l.Event, Level: l.Level, Strategy: l.Strategy, Market: l.Market, Symbol: l.Symbol,
		ClientOrderID: l.ClientOrderID, Text: l.Message}
	if slices.Contains(repeated, l.Event) {
		if !s.All && s.again(&e) {
			return
		}
		if why, is := l.Fields["err"].(string); is {
			e.Text += ": " + why
		}
	}
	s.add(e)
}

// again counts a repetition of a recent event; otherwise it stores where the event will be.
func (s *Story) again(e *Event) bool {
	key := strings.Join([]string{e.Event, e.Strategy, e.Market, e.Symbol, e.Text}, "\n")
	if i, known := s.failing[key]; known && i < len(s.events) && s.events[i].Event == e.Event && strings.HasPrefix(s.events[i].Text, e.Text) {
		first := &s.events[i]
		last := first.At
		if first.Until != nil {
			last = *first.Until
		}
		if at := e.At.UTC(); at.Sub(last) < forgetAfter && s.covers(at) {
			first.Again, first.Until = first.Again+1, &at
			return true
		}
	}
	if s.failing == nil {
		s.failing = map[string]int{}
	}
	s.failing[key] = len(s.events)
	return false
}

// Record takes a record of the journal. Lines of the log must be taken first.
func (s *Story) Record(r *journal.Stored) {
	at := time.UnixMilli(r.AtMS).UTC()
	event, worded := words[r.Kind()]
	if !worded && !slices.Contains(alone, r.Kind()) || worded && s.logged(event, r.ClientOrderID, at) {
		return
	}
	if fill, is := r.Body.(record.Fill); is && fill.Filled == 0 { // an order that rests: nothing was filled
		return
	}
	e := Event{At: at, Source: "journal", Event: r.Kind().String(), Strategy: r.Strategy, Symbol: r.Symbol.Name, ClientOrderID: r.ClientOrderID,
		Text: r.Summary()}
	if r.Symbol.Name != "" {
		e.Market = r.Symbol.Market.String()
	}
	if body, is := r.Body.(record.Audit); is {
		e.Source, e.Event = "audit", body.Action
		e.Text = strings.Join(strings.Fields(body.Actor+" "+body.Role+" "+body.Object+" "+body.Detail), " ")
	}
	s.add(e)
}

// logged reports whether a line of the log describes a record.
func (s *Story) logged(event, order string, at time.Time) bool {
	if order != "" {
		return s.logLines[event+" "+order]
	}
	return slices.ContainsFunc(s.when, func(one loggedEvent) bool {
		return strings.HasPrefix(one.event, event) && one.at.Sub(at).Abs() <= near
	})
}

// Incident takes an incident, which the log does not have.
func (s *Story) Incident(i *view.Incident) {
	text := i.ID + ", " + string(i.Severity) + ": " + strings.ToUpper(i.Kind) + ": " + i.Cause
	add := func(at time.Time, event, text string) {
		if !s.logged(event, "", at) {
			s.add(Event{At: at, Source: "incident", Event: event, Strategy: i.Strategy, Market: i.Market, Symbol: i.Symbol, Text: text})
		}
	}
	add(i.Opened, "incident.opened", text)
	if i.Closed != nil {
		add(*i.Closed, "incident.closed", text)
	}
}

func (s *Story) covers(at time.Time) bool {
	return !at.Before(s.Since) && (s.Until.IsZero() || !at.After(s.Until))
}

func (s *Story) add(e Event) {
	e.At = e.At.UTC()
	switch {
	case !s.covers(e.At) || s.Strategy != "" && e.Strategy != "" && e.Strategy != s.Strategy:
	case len(s.events) >= maxEvents:
		s.Left++
	default:
		s.events = append(s.events, e)
	}
}

// Events returns the events in order of time.
func (s *Story) Events() []Event {
	slices.SortStableFunc(s.events, func(a, b Event) int { return cmp.Compare(a.At.UnixNano(), b.At.UnixNano()) })
	return slices.Clip(s.events)
}
