package cluster

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/nats-io/nats.go/jetstream"
)

// These tests run a worker with one message, and a coordinator with its server, in virtual time and without a
// network.

// delivery is one message from the queue.
type delivery struct {
	jetstream.Msg
	text       []byte
	count      uint64 // of its deliveries; 0 if that is not known
	began      time.Time
	progress   []time.Duration // of the lease
	acked, nak time.Duration   // 0 for not
}

func (d *delivery) Data() []byte { return d.text }

func (d *delivery) Metadata() (*jetstream.MsgMetadata, error) {
	if d.count == 0 {
		return nil, errAway
	}
	return &jetstream.MsgMetadata{NumDelivered: d.count}, nil
}

func (d *delivery) InProgress() error {
	d.progress = append(d.progress, time.Since(d.began))
	return nil
}
func (d *delivery) Ack() error { d.acked = time.Since(d.began); return nil }

func (d *delivery) NakWithDelay(delay time.Duration) error { d.nak = delay; return nil }

// publisher takes messages, or waits for the end of their time.
type publisher struct {
	jetstream.JetStream
	silent bool
	taken  []string
}

func (p *publisher) Publish(ctx context.Context, subject string, _ []byte, _ ...jetstream.PublishOpt) (*jetstream.PubAck, error) {
	if p.silent {
		<-ctx.Done()
		return nil, ctx.Err()
	}
	p.taken = append(p.taken, subject)
	return &jetstream.PubAck{}, nil
}

// TestALeaseIsExtendedWhileAWorkerIsBusy uses a server that does not answer for 22 seconds. The worker keeps
// the message, returns it to the queue, and acknowledges it after others had time to take it. If it cannot
// return the message, the server delivers it again.
func TestALeaseIsExtendedWhileAWorkerIsBusy(t *testing.T) {
	t.Parallel()
	for silence, want := range map[bool]time.Duration{false: 22*time.Second + silent/2, true: 0} {
		synctest.Test(t, func(t *testing.T) {
			queue := &publisher{silent: silence}
			w, log := working(&store{js: queue, sweeps: &flaky{get: func() error { <-time.After(22 * time.Second); return errAway }}}, "one")
			text, err := json.Marshal(&message{Sweep: keyOf("x"), Jobs: []job{{Job: "j0"}}})
			if err != nil {
				t.Fatal(err)
			}
			d := &delivery{text: text, began: time.Now()}
			w.work(t.Context(), d)
			took := time.Since(d.began)
			synctest.Wait()
			if d.acked != want || !log.has("; the work goes back") || d.nak != 0 {
				t.Errorf("want it acknowledged after %s, have %s, %s", want, d.acked, log.text())
			}
			if silence && took != 27*time.Second {
				t.Errorf("a server that does not take it back: want five seconds waited, have %s", took-22*time.Second)
			}
			if !silence && !slices.Equal(queue.taken, []string{subjectOf(program, keyOf("x"))}) {
				t.Errorf("want it given back once, have %v", queue.taken)
			}
			if len(d.progress) < 4 || !slices.Equal(d.progress[:4], []time.Duration{ackWait / 3, 2 * ackWait / 3, ackWait, 4 * ackWait / 3}) {
				t.Errorf("want the lease extended every %s, have %v", ackWait/3, d.progress)
			}
			extended := len(d.progress)
			<-time.After(time.Minute)
			if len(d.progress) != extended {
				t.Errorf("afterwards: want it extended no more, have %v", d.progress)
			}
		})
	}
}

// TestAMessageThatComesAgainIsLookedUp checks that a worker looks for the rows of a repeated message, but not
// for those of a new one.
func TestAMessageThatComesAgainIsLookedUp(t *testing.T) {
	t.Parallel()
	for count, want := range map[uint64]int{0: 0, 1: 0, 2: 1} {
		synctest.Test(t, func(t *testing.T) {
			asked := 0
			w, _ := working(&store{js: &publisher{}, sweeps: &flaky{get: fails}, rows: &flaky{get: func() error { asked++; return errAway }}}, "one")
			text, err := json.Marshal(&message{Sweep: keyOf("x"), Jobs: []job{{Job: "j0"}}})
			if err != nil {
				t.Fatal(err)
			}
			if w.work(t.Context(), &delivery{text: text, count: count, began: time.Now()}); asked != want {
				t.Errorf("delivered %d times: want %d questions, have %d", count, want, asked)
			}
		})
	}
}

// TestWorkThatIsNotTakenIsTriedAgainLater checks that a coordinator waits five seconds for its server.
func TestWorkThatIsNotTakenIsTriedAgainLater(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c, log := coordinating(t, nil, "x")
		c.store = &store{js: &publisher{silent: true}}
		began := time.Now()
		sent, err := c.send(t.Context(), &message{})
		if sent || err != nil || time.Since(began) != 5*time.Second || !log.has("the server does not take work: ") {
			t.Errorf("want it not sent after five seconds, have %t, %v after %s", sent, err, time.Since(began))
		}
		ended, cancel := context.WithCancelCause(t.Context())
		stopped := errors.New("stopped by a signal")
		cancel(stopped)
		if _, err := c.send(ended, &message{}); !errors.Is(err, stopped) {
			t.Errorf("want the cause, have %v", err)
		}
	})
}

// TestASweepShowsItsProgressEverySecondAtFirst expects that for the first hundred trials, and every three
// seconds later.
func TestASweepShowsItsProgressEverySecondAtFirst(t *testing.T) {
	t.Parallel()
	for timed, want := range map[int]int{99: 10, 100: 3} {
		synctest.Test(t, func(t *testing.T) {
			c, _ := coordinating(t, nil, "x")
			beats := 0
			c.timed, c.store = timed, &store{sweeps: &flaky{get: func() error { beats++; return errAway }}, workers: &flaky{watch: fails}}
			within, cancel := context.WithTimeout(t.Context(), 10*time.Second+time.Millisecond)
			defer cancel()
			if err := c.until(within, requested(0), func() bool { return false }); !errors.Is(err, context.DeadlineExceeded) || beats != want {
				t.Errorf("after %d trials: want %d beats in ten seconds, have %d, %v", timed, want, beats, err)
			}
		})
	}
}

// TestTheNamesOfWorkAreThoseOfItsProgramAndSweep checks the names by which workers find work.
func TestTheNamesOfWorkAreThoseOfItsProgramAndSweep(t *testing.T) {
	t.Parallel()
	if have := subjectOf(program, keyOf("x")); have != "botd.jobs.0a0a0a0a0a0a0a0a.2d711642b726b044" {
		t.Errorf("have %s", have)
	}
}
