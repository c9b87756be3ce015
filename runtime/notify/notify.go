// Package notify notifies people through the services that they read, bounded and asynchronously.
//
// Every log line is offered to every channel; a channel accepts lines by severity and event. Lines
// that come close together form one message, messages are paced, and a failed one is retried.
// Failures are counted and logged, and trading never waits for a notification.
package notify

import (
	"context"
	"path"
	"slices"
	"strings"
	"sync"
	"time"
)

// Severity is how much an event matters.
type Severity uint8

// The severities correspond to the levels of the log.
const (
	Info Severity = iota
	Warning
	Error
)

// Severities are the names of the severities.
var Severities = []string{"info", "warning", "error"}

// String returns the severity's name.
func (s Severity) String() string { return Severities[s] }

// Event is one fact for people.
type Event struct {
	At       time.Time
	Severity Severity
	Name     string // as in the log: trading.halted
	Text     string
	Subject  string // for the subject of a mail: kind and scope; empty: the severity and the text's beginning
	Ended    bool   // it reports the end of a condition: it is selected by its severity but shown without it
	Covered  bool   // an incident reports the same: a channel that accepts incidents omits this event
}

// Sender delivers one message. It is called by one goroutine at a time, and may hang.
type Sender interface {
	Send(subject, text string) error
}

// Route is one channel: its destination and its selection of events.
type Route struct {
	Name        string
	Sender      Sender
	MinSeverity Severity
	Also        []string // patterns of events taken at any severity: daemon.*
	Never       []string // patterns of events that are never accepted
	Quiet       Quiet    // when only errors are sent
}

// Quiet is the time of a day, in UTC, in which only errors are sent; other events are sent when it has
// ended.
type Quiet struct{ From, Until int } // minutes after midnight; equal values mean no quiet hours

// left returns how long the quiet hours still last.
func (q Quiet) left(now time.Time) time.Duration {
	if q.From == q.Until {
		return 0
	}
	now = now.UTC()
	const day = 24 * 60
	minute := now.Hour()*60 + now.Minute()
	if (minute-q.From+day)%day >= (q.Until-q.From+day)%day {
		return 0
	}
	return following(now, q.Until%day).Sub(now)
}

// accepts reports whether the channel accepts an event.
func (r *Route) accepts(e *Event) bool {
	switch {
	case strings.HasPrefix(e.Name, own) || matches(r.Never, e.Name):
		return false
	case e.Covered && matches(r.Also, incidents):
		return matches(r.Also, e.Name)
	case e.Severity >= r.MinSeverity:
		return true
	}
	return matches(r.Also, e.Name)
}

// incidents is the event that reports an incident.
const incidents = "incident.opened"

// own is the prefix of this package's own events: notifying about a failed notification would never end.
const own = "notify."

func matches(patterns []string, name string) bool {
	for _, pattern := range patterns {
		if found, err := path.Match(pattern, name); err == nil && found {
			return true
		}
	}
	return false
}

// Results of messages: the values of a metric's label.
const (
	Sent    = "sent"
	Failed  = "failed"  // after all attempts; sent again with the next message
	Dropped = "dropped" // an event arrived while the queue was full
)

// Results lists all results.
var Results = []string{Sent, Failed, Dropped}

// Limits and intervals.
const (
	maxQueue  = 256              // queued events per channel
	gather    = time.Second      // after the first event, to collect related ones
	again     = time.Minute      // after a failed message
	burst     = 3                // messages exempt from the pace limit
	perSend   = 15 * time.Second // one attempt
	lastTries = 5 * time.Second  // for the remaining events when botd stops
)

// backoff is the wait before each further attempt to send a message.
var backoff = []time.Duration{2 * time.Second, 10 * time.Second, 30 * time.Second}

// Config configures a notifier.
type Config struct {
	Title  string // first line of each message
	Every  time.Duration
	Routes []Route
	Count  func(channel, result string, count int)
	Log    func(event, text string) // called when a channel fails, and when it works again
}

// Notifier passes events to its channels.
type Notifier struct {
	channels []*channel
}

// New returns a notifier; Run makes it send.
func New(config Config) *Notifier {
	n := &Notifier{}
	for _, route := range config.Routes {
		n.channels = append(n.channels, newChannel(route, &config))
	}
	return n
}

// Notify offers an event to every channel and returns at once.
func (n *Notifier) Notify(e Event) {
	for _, c := range n.channels {
		if c.route.accepts(&e) {
			c.offer(e)
		}
	}
}

// NotifyAll sends an event to every channel, regardless of its selection: the daily summary.
func (n *Notifier) NotifyAll(e Event) {
	for _, c := range n.channels {
		c.offer(e)
	}
}

// Failing reports whether every channel fails, so that no notification arrives.
func (n *Notifier) Failing() bool {
	return len(n.channels) > 0 && !slices.ContainsFunc(n.channels, func(c *channel) bool { return !c.failing.Load() })
}

// Run sends events until the context ends, and then the remaining ones, in one attempt within seconds.
func (n *Notifier) Run(ctx context.Context) {
	var all sync.WaitGroup
	for _, c := range n.channels {
		all.Go(func() { c.run(ctx) })
	}
	all.Wait()
}
