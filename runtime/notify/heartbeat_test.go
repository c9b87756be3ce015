package notify

import (
	"context"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"
)

func TestAHeartbeatIsSentWhileBotdWorks(t *testing.T) {
	t.Parallel()
	var works, refuses atomic.Bool
	works.Store(true)
	service := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if refuses.Load() || r.URL.Path != "/ping/canaryTOKENcanary" {
			w.WriteHeader(http.StatusTeapot)
		}
	}))
	defer service.Close()
	results, logged := make(chan string, 1000), make(chan string, 10)
	h := &Heartbeat{URL: service.URL + "/ping/canaryTOKENcanary", Every: time.Millisecond, Works: works.Load,
		Count: func(result string) { results <- result }, Log: func(event, text string) { logged <- event + ": " + text }}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	go h.Run(ctx)
	until := func(want string) {
		t.Helper()
		for have := range results {
			if have == want {
				return
			}
		}
	}
	until(Sent)
	works.Store(false)
	until(Withheld)
	works.Store(true)
	until(Sent)
	refuses.Store(true)
	until(Failed)
	if want, have := "heartbeat.failed: 3 requests in a row failed, the newest: it answers with status 418", <-logged; have != want {
		t.Errorf("want %s, have %s", want, have)
	}
	refuses.Store(false)
	until(Sent)
	if have := <-logged; !strings.HasPrefix(have, "heartbeat.works") {
		t.Errorf("want it to work again, have %s", have)
	}
}

func TestNoErrorOfAHeartbeatHoldsItsAddress(t *testing.T) {
	t.Parallel()
	for _, address := range []string{"http://127.0.0.1:1/canaryTOKEN", "http://user:canaryTOKEN@127.0.0.1:1/"} {
		h := &Heartbeat{URL: address, Works: func() bool { return true }}
		err := h.beat(t.Context(), http.DefaultClient)
		if err == nil || strings.Contains(err.Error(), "canaryTOKEN") {
			t.Errorf("%s: want an error without it, have %v", address, err)
		}
	}
}
