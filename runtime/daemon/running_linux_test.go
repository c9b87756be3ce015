package daemon

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"slices"
	"testing"
	"time"

	"botd/configs"
	"botd/reconcile/journal"
	"botd/reconcile/record"
	"botd/runtime/api"
)

// TestAServerThatEndsWhileTheExchangeIsAwaitedIsAnErrorOfTheRun covers an exchange at whose address nobody listens, and a listener that is closed.
func TestAServerThatEndsWhileTheExchangeIsAwaitedIsAnErrorOfTheRun(t *testing.T) {
	t.Parallel()
	d := newDemo(t, fmt.Sprintf("mode: live\nexchange: {base_url: 'http://127.0.0.1:1', key_file: %q, secret_file: %q,\n"+
		"  settle: {window: 5s, visibility: 1s, staleness: 1s}}\nrisk: {max_daily_loss: 50%%}\n",
		secret(t, "key"), secret(t, "secret")))
	config := d.files.load(t, configs.Live)
	config.Listen = "127.0.0.1:0"
	p := newProcess(config, Options{Stderr: d, LogFormat: "json", Read: d.again})
	var listener net.Listener
	p.accept = func(address string, access api.Access) (_ net.Listener, err error) {
		listener, err = api.Listen(address, access)
		return listener, err
	}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	done := make(chan error, 1)
	go func() { done <- p.run(ctx) }()
	d.await("daemon.waiting")
	d.await("daemon.listening")
	if err := listener.Close(); err != nil {
		t.Fatal(err)
	}
	cancel()
	if err := <-done; !errors.Is(err, net.ErrClosed) {
		t.Errorf("want the end of its server reported, have %v", err)
	}
}

// TestThePauseThatTheExchangeAsksForIsMeasured uses an exchange that answers each request with 429 for ten seconds.
func TestThePauseThatTheExchangeAsksForIsMeasured(t *testing.T) {
	t.Parallel()
	w := newWatched(t, time.Second)
	w.set(func(r *http.Request, next func() (*http.Response, error)) (*http.Response, error) {
		if w.within(30*time.Second, 40*time.Second) {
			return answer(r, http.StatusTooManyRequests, `{"code":-1003,"msg":"too many requests"}`), nil
		}
		return next()
	})
	before, paused := 0, 0
	w.check = func(p *process) {
		until := counted(t, p.metrics, "botd_exchange_backoff_until_timestamp_seconds")
		switch {
		case w.within(0, 30*time.Second):
			if before++; until != 0 {
				t.Errorf("before: want no pause, have one until %v", until)
			}
		case until >= float64(w.began.Add(30*time.Second).Unix()):
			paused++
		}
	}
	w.run(live(t, liveRoot, nil), configs.Live, time.Minute, nil)
	if before < 20 || paused == 0 {
		t.Errorf("want no pause before and one meanwhile, have them %d and %d times", before, paused)
	}
}

// TestACheckpointIsWrittenWhileItTrades uses a journal with so many records after its beginning that one is due.
func TestACheckpointIsWrittenWhileItTrades(t *testing.T) {
	t.Parallel()
	w := newWatched(t, scrapeEvery)
	w.down = []window{{20 * time.Second, 30 * time.Second}}
	w.run(live(t, liveRoot, nil), configs.Live, 55*time.Second, func(p *process) {
		w.until(25 * time.Second)
		store, err := journal.Open(context.Background(), p.path(), p.venue.Binding, journal.Options{})
		if err != nil {
			t.Error(err)
			return
		}
		many := entries(slices.Repeat([]string{"one"}, journal.CheckpointEvery)...)
		if err := errors.Join(store.Append(context.Background(), many), store.Close()); err != nil {
			t.Error(err)
		}
		w.until(50 * time.Second) // the second run trades
		running, err := journal.ReadKeyed(context.Background(), p.path(), nil)
		if err != nil {
			t.Error(err)
			return
		}
		defer running.Close()
		checkpoints := 0
		if err := running.Select(context.Background(), journal.Filter{}, func(s *journal.Stored) error {
			if s.Record.Kind() == record.KindCheckpoint {
				checkpoints++
			}
			return nil
		}); err != nil || checkpoints != 1 {
			t.Errorf("want one checkpoint since the start, have %d, %v", checkpoints, err)
		}
	})
}
