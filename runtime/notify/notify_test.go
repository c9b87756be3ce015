package notify

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// inbox is a service that stores its messages.
type inbox struct {
	mu       sync.Mutex // guards all below
	messages []string
	at       []time.Time
	failures int           // number of tries that fail first
	hangs    chan struct{} // a try waits for it unless it is nil
	tries    int
	tried    []time.Time
}

func (b *inbox) Send(_, text string) error {
	b.mu.Lock()
	b.tries++
	b.tried = append(b.tried, time.Now())
	hangs, fails := b.hangs, b.failures > 0
	if fails {
		b.failures--
	}
	b.mu.Unlock()
	if hangs != nil {
		<-hangs
	}
	if fails {
		return errors.New("the service is down")
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.messages, b.at = append(b.messages, text), append(b.at, time.Now())
	return nil
}

func (b *inbox) all() []string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return append([]string(nil), b.messages...)
}

// desk is a running notifier with one inbox, in virtual time.
type desk struct {
	*Notifier
	inbox  *inbox
	counts map[string]int
	logged []string
	mu     sync.Mutex // guards counts and logged
	stop   func()
}

func open(t *testing.T, b *inbox, route Route) *desk {
	t.Helper()
	d := &desk{inbox: b, counts: map[string]int{}}
	route.Name, route.Sender = "phone", b
	d.Notifier = New(Config{Title: "botd main", Every: time.Minute, Routes: []Route{route},
		Count: func(channel, result string, count int) {
			d.mu.Lock()
			defer d.mu.Unlock()
			d.counts[channel+" "+result] += count
		},
		Log: func(event, text string) {
			d.mu.Lock()
			defer d.mu.Unlock()
			d.logged = append(d.logged, event+" "+text)
		}})
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan struct{})
	go func() { defer close(done); d.Run(ctx) }()
	d.stop = func() { cancel(); <-done }
	t.Cleanup(d.stop)
	return d
}

func (d *desk) counted(t *testing.T, want map[string]int) {
	t.Helper()
	d.mu.Lock()
	defer d.mu.Unlock()
	if !maps.Equal(d.counts, want) {
		t.Errorf("want counts %v, have %v", want, d.counts)
	}
}

func halted(text string) Event {
	return Event{At: time.Now(), Severity: Error, Name: "trading.halted", Text: text}
}

func TestEventsOfOneSecondAreOneMessageAndRepeatsAreCounted(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		d := open(t, &inbox{}, Route{MinSeverity: Warning})
		for range 3 {
			d.Notify(halted("HALTED operator"))
		}
		d.Notify(Event{At: time.Now(), Severity: Warning, Name: "order.uncertain", Text: "UNCERTAIN a1"})
		time.Sleep(2 * time.Second)
		want := "botd main\n00:00:00 ERROR HALTED operator (3 times, last 00:00:00)\n00:00:00 WARNING UNCERTAIN a1"
		if have := d.inbox.all(); len(have) != 1 || have[0] != want {
			t.Errorf("want one message\n%s\nhave %q", want, have)
		}
		d.counted(t, map[string]int{"phone sent": 1})
	})
}

func TestChannelFiltersBySeverityAndName(t *testing.T) {
	t.Parallel()
	r := Route{MinSeverity: Error, Also: []string{"daemon.*", "order.fill"}, Never: []string{"symbol.*"}}
	for _, c := range []struct {
		name     string
		severity Severity
		want     bool
	}{
		{"trading.halted", Error, true}, {"order.uncertain", Warning, false}, {"order.fill", Info, true}, {"daemon.started", Info, true},
		{"order.filled", Info, false}, {"symbol.quarantined", Error, false}, {"notify.failed", Error, false},
	} {
		if have := r.accepts(&Event{Name: c.name, Severity: c.severity}); have != c.want {
			t.Errorf("%s %s: want %t, have %t", c.severity, c.name, c.want, have)
		}
	}
}

func TestIncidentEventsAreSentOnce(t *testing.T) {
	t.Parallel()
	covered := Event{Name: "exchange.blind", Severity: Error, Covered: true}
	for _, c := range []struct {
		name  string
		route Route
		want  bool
	}{
		{"a route for incidents", Route{MinSeverity: Error, Also: []string{"incident.*"}}, false},
		{"a route that names the event, too", Route{MinSeverity: Error, Also: []string{"incident.*", "exchange.*"}}, true},
		{"a route without incidents", Route{MinSeverity: Error}, true},
	} {
		if have := c.route.accepts(&covered); have != c.want {
			t.Errorf("%s: want %t, have %t", c.name, c.want, have)
		}
	}
}

func TestMessagesAreRateLimitedWithoutLoss(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		d := open(t, &inbox{}, Route{})
		for i := range 600 { // one a second, for ten minutes
			d.Notify(halted(fmt.Sprintf("number %d.", i%5)))
			time.Sleep(time.Second)
		}
		time.Sleep(2 * time.Minute)
		all := d.inbox.all()
		if len(all) < 10 || len(all) > 3+12 {
			t.Errorf("want 3 messages at once and one a minute, have %d in 12 minutes", len(all))
		}
		for i := range len(all) - burst {
			if gap := d.inbox.at[i+burst].Sub(d.inbox.at[i]); gap < time.Minute-gather {
				t.Errorf("want no more than %d messages a minute, have %d within %s", burst, burst+1, gap)
			}
		}
		arrived := 0
		for _, text := range all {
			for _, line := range strings.Split(text, "\n")[1:] {
				count, times := 1, 0
				if _, after, found := strings.Cut(line, " ("); found {
					if _, err := fmt.Sscanf(after, "%d times", &times); err == nil {
						count = times
					}
				}
				arrived += count
			}
		}
		if arrived != 600 {
			t.Errorf("want every one of 600 events sent or counted, have %d", arrived)
		}
	})
}

func TestFailedMessageIsRetried(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		d := open(t, &inbox{failures: 2}, Route{})
		d.Notify(halted("HALTED operator"))
		time.Sleep(time.Minute)
		if have := d.inbox.all(); len(have) != 1 {
			t.Errorf("want the message after two failures, have %q", have)
		}
		d.counted(t, map[string]int{"phone sent": 1})
	})
}

func TestDroppedEventsAreCounted(t *testing.T) {
	t.Parallel()
	dropped := 0
	n := New(Config{Every: time.Minute, Routes: []Route{{Name: "phone"}}, Count: func(_, _ string, count int) { dropped += count }})
	for range maxQueue + 44 {
		n.Notify(halted("nobody takes it"))
	}
	if dropped != 44 {
		t.Errorf("want 44 dropped, have %d", dropped)
	}
}

// TestEventsDuringSendAreSentNext uses a service that takes five seconds. Lines that came
// meanwhile once waited for a minute.
func TestEventsDuringSendAreSentNext(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := &inbox{hangs: make(chan struct{})}
		d := open(t, b, Route{MinSeverity: Warning})
		d.Notify(halted("first"))
		time.Sleep(3 * time.Second)
		d.Notify(halted("second"))
		time.Sleep(3 * time.Second)
		close(b.hangs)
		time.Sleep(3 * time.Second)
		if have := b.all(); len(have) != 2 || !strings.HasSuffix(have[1], "second") {
			t.Errorf("want two messages, have %q", have)
		}
	})
}

func TestAServiceThatIsDownIsCountedAndLoggedOnce(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		d := open(t, &inbox{failures: 8}, Route{})
		d.Notify(halted("HALTED operator"))
		time.Sleep(10 * time.Minute)
		if have := d.inbox.all(); len(have) != 1 || !strings.Contains(have[0], "HALTED operator") {
			t.Errorf("want it reported when the service is up again, have %q", have)
		}
		d.counted(t, map[string]int{"phone failed": 2, "phone sent": 1})
		want := []string{"notify.failed phone: the service is down", "notify.works phone works again"}
		if fmt.Sprint(d.logged) != fmt.Sprint(want) {
			t.Errorf("want %q logged, have %q", want, d.logged)
		}
	})
}

func TestNotifyNeverWaitsForAServiceThatHangs(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := &inbox{hangs: make(chan struct{})}
		d := open(t, b, Route{})
		began := time.Now()
		for i := range 10_000 {
			d.Notify(halted(fmt.Sprint("number ", i)))
		}
		if took := time.Since(began); took != 0 {
			t.Errorf("want no waiting, have %s", took)
		}
		time.Sleep(10 * time.Minute)
		b.mu.Lock()
		tries := b.tries
		b.mu.Unlock()
		if tries != 1 {
			t.Errorf("want one try under way at a service that hangs, have %d", tries)
		}
		d.mu.Lock()
		dropped, failed := d.counts["phone dropped"], d.counts["phone failed"]
		d.mu.Unlock()
		if dropped >= 10_000 || failed == 0 {
			t.Errorf("want the failure counted, and not everything dropped; have %d dropped, %d failed", dropped, failed)
		}
		close(b.hangs)
		b.mu.Lock()
		b.hangs = nil
		b.mu.Unlock()
		time.Sleep(5 * time.Minute)
		if all := strings.Join(b.all(), "\n"); !strings.Contains(all, "number 0\n") || !strings.Contains(all, "more: see botd logs") {
			t.Errorf("want unsent events sent when the service answers again, have %q", all)
		}
	})
}

func TestRemainingMessagesAreSentAtStop(t *testing.T) {
	t.Parallel()
	for _, hangs := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			b := &inbox{}
			if hangs {
				b.hangs = make(chan struct{})
			}
			d := open(t, b, Route{Also: []string{"daemon.*"}, MinSeverity: Error})
			synctest.Wait()
			d.Notify(Event{At: time.Now(), Name: "daemon.stopped", Text: "stopped"})
			began := time.Now()
			d.stop()
			if took := time.Since(began); took > 2*lastTries {
				t.Errorf("hangs %t: want an end within %s, have %s", hangs, 2*lastTries, took)
			}
			if have := b.all(); !hangs && len(have) != 1 {
				t.Errorf("want the last message sent, have %q", have)
			}
			if hangs {
				close(b.hangs)
			}
		})
	}
}

func TestAMessageIsBounded(t *testing.T) {
	t.Parallel()
	const title, most = "botd an-instance-with-a-name-as-long-as-they-may-be-in-botd.yaml-000 (live)", 4_096
	for _, each := range []int{1, 90, 120, 135, 175, 299, 1_000} { // bytes in a line
		var d digest
		for i := range 1_000 {
			for range 10_000 / (i*i + 1) { // the first ones have the largest counts
				d.add(Event{At: time.UnixMilli(0), Severity: Warning, Name: "x", Text: fmt.Sprint(i, strings.Repeat("ä", each/2))})
			}
			d.add(Event{At: time.UnixMilli(0), Severity: Warning, Name: "x", Text: fmt.Sprint(i, strings.Repeat("ä", each/2))})
		}
		if text := d.text(title); len(text) >= most || !strings.Contains(text, "more: see botd logs") {
			t.Errorf("lines of %d bytes: want less than %d bytes and how many were left out, have %d: %s", each, most, len(text), text)
		}
	}
}
