package notify

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// TestWhenAMessageIsTriedAgain uses a service that is down: a message is tried after a second, and 2, 10 and 30 seconds after
// each failure; the next one follows a minute later (docs/operations.md).
func TestWhenAMessageIsTriedAgain(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		d := open(t, &inbox{failures: 100}, Route{})
		began := time.Now()
		d.Notify(halted("HALTED operator"))
		time.Sleep(160 * time.Second)
		d.inbox.mu.Lock()
		defer d.inbox.mu.Unlock()
		var have []float64
		for _, at := range d.inbox.tried {
			have = append(have, at.Sub(began).Seconds())
		}
		if want := "[1 3 13 43 103 105 115 145]"; fmt.Sprint(have) != want {
			t.Errorf("want tries after %s seconds, have %v", want, have)
		}
	})
}

func TestNotificationsDuringRetriesBecomeOneMessage(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		d := open(t, &inbox{failures: 4}, Route{})
		d.Notify(halted("first"))
		time.Sleep(20 * time.Second)
		d.Notify(halted("second"))
		time.Sleep(2 * time.Minute)
		if have := d.inbox.all(); len(have) != 1 || have[0] != "botd main\n00:00:00 ERROR first\n00:00:20 ERROR second" {
			t.Errorf("want both in one message, have %q", have)
		}
	})
}

// TestTheEndOfQuietHoursLosesNoError uses a service that is down when they end.
func TestTheEndOfQuietHoursLosesNoError(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) { // begins at midnight UTC
		d := open(t, &inbox{failures: 4}, Route{Quiet: Quiet{From: 0, Until: 2}})
		d.Notify(Event{At: time.Now(), Name: "trade.opened", Text: "an entry"})
		time.Sleep(100 * time.Second)
		d.Notify(halted("HALTED operator"))
		time.Sleep(5 * time.Minute)
		if have := d.inbox.all(); len(have) != 1 || have[0] != "botd main\n00:00:00 an entry\n00:01:40 ERROR HALTED operator" {
			t.Errorf("want both in one message, have %q", have)
		}
	})
}

func TestRecoveredServiceReceivesMissedNotifications(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := &inbox{hangs: make(chan struct{})}
		d := open(t, b, Route{})
		d.Notify(halted("first"))
		time.Sleep(time.Minute)
		d.Notify(halted("meanwhile"))
		d.mu.Lock()
		want := "[notify.failed phone: the service has not answered an earlier message yet]"
		if have := fmt.Sprint(d.logged); have != want {
			t.Errorf("want %s logged, have %s", want, have)
		}
		d.mu.Unlock()
		close(b.hangs)
		b.mu.Lock()
		b.hangs = nil
		b.mu.Unlock()
		time.Sleep(3 * time.Minute)
		have := b.all()
		if len(have) != 2 || !strings.HasSuffix(have[1], "ERROR first\n00:01:00 ERROR meanwhile") {
			t.Errorf("want the message that hung, and it again with what came meanwhile, have %q", have)
		}
	})
}

// TestAStopWaitsFiveSecondsForAMessage stops the notifier 2 seconds after a try began.
func TestAStopWaitsFiveSecondsForAMessage(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := &inbox{hangs: make(chan struct{})}
		d := open(t, b, Route{})
		d.Notify(halted("HALTED operator"))
		time.Sleep(gather + 2*time.Second)
		began := time.Now()
		d.stop()
		if have := time.Since(began); have != 5*time.Second {
			t.Errorf("want an end after 5s, have %s", have)
		}
		close(b.hangs)
	})
}

func TestASummaryGoesToEveryChannel(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		d := open(t, &inbox{}, Route{MinSeverity: Error, Never: []string{"*"}})
		d.NotifyAll(Event{At: time.Now(), Name: "summary", Text: "daily\x1b summary"})
		time.Sleep(2 * time.Second)
		if have := d.inbox.all(); len(have) != 1 || have[0] != "botd main\n00:00:00 daily\\u001b summary" {
			t.Errorf("want the summary, have %q", have)
		}
	})
}

// TestNobodyIsNotifiedOnlyIfEveryChannelFails is what withholds the heartbeat.
func TestNobodyIsNotifiedOnlyIfEveryChannelFails(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		failing []bool
		want    bool
	}{{nil, false}, {[]bool{false}, false}, {[]bool{true}, true}, {[]bool{true, false}, false}, {[]bool{false, true}, false}, {[]bool{true, true}, true}} {
		n := New(Config{Routes: make([]Route, len(c.failing)), Every: time.Minute})
		for i, failing := range c.failing {
			n.channels[i].failing.Store(failing)
		}
		if have := n.Failing(); have != c.want {
			t.Errorf("%v: want %t, have %t", c.failing, c.want, have)
		}
	}
}

type transport func() (*http.Response, error)

func (f transport) RoundTrip(*http.Request) (*http.Response, error) { return f() }

// TestAHeartbeatReportsThreeFailuresInARow answers a request a minute with the given status; 0 is no answer.
func TestAHeartbeatReportsThreeFailuresInARow(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, statuses string
		want           []string // of the log
		counts         string
	}{
		{"two failures, twice", "200 500 500 200 500 500 299", nil, "sent failed failed sent failed failed sent"},
		{"three failures", "500 0 404 300 200", []string{
			"heartbeat.failed: 3 requests in a row failed, the newest: it answers with status 404", "heartbeat.works: the service answers again"},
			"failed failed failed failed sent"},
		{"three without an answer", "0 0 0", []string{"heartbeat.failed: 3 requests in a row failed, the newest: no route"}, "failed failed failed"},
		{"three failures, twice", "500 500 500 200 500 500 500 200", []string{
			"heartbeat.failed: 3 requests in a row failed, the newest: it answers with status 500", "heartbeat.works: the service answers again",
			"heartbeat.failed: 3 requests in a row failed, the newest: it answers with status 500", "heartbeat.works: the service answers again"},
			"failed failed failed sent failed failed failed sent"},
	} {
		synctest.Test(t, func(t *testing.T) {
			var logged, counted []string
			statuses := strings.Fields(c.statuses)
			h := &Heartbeat{URL: "https://hc.example/canary", Every: time.Minute, Fault: func() string { return "" },
				Count: func(result string) { counted = append(counted, result) },
				Log:   func(event, text string) { logged = append(logged, event+": "+text) },
				Transport: transport(func() (*http.Response, error) {
					status := 0
					fmt.Sscan(statuses[0], &status)
					if statuses = statuses[1:]; status == 0 {
						return nil, errors.New("no route")
					}
					return &http.Response{StatusCode: status, Body: http.NoBody}, nil
				})}
			lasts := time.Duration(len(statuses)-1)*time.Minute + time.Second
			ctx, cancel := context.WithCancel(t.Context())
			go h.Run(ctx)
			time.Sleep(lasts)
			synctest.Wait()
			cancel()
			if have := strings.Join(counted, " "); have != c.counts {
				t.Errorf("%s: want %s, have %s", c.name, c.counts, have)
			}
			if fmt.Sprint(logged) != fmt.Sprint(c.want) {
				t.Errorf("%s: want %q logged, have %q", c.name, c.want, logged)
			}
		})
	}
}
