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
	var broken, refuses atomic.Bool
	fault := func() string {
		if broken.Load() {
			return "no round has ended"
		}
		return ""
	}
	service := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if refuses.Load() || r.URL.Path != "/ping/canaryTOKENcanary" {
			w.WriteHeader(http.StatusTeapot)
		}
	}))
	defer service.Close()
	results, logged := make(chan string, 1000), make(chan string, 10)
	h := &Heartbeat{URL: service.URL + "/ping/canaryTOKENcanary", Every: time.Millisecond, Fault: fault,
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
	broken.Store(true)
	until(Withheld)
	if want, have := "heartbeat.withheld: none is sent: no round has ended", <-logged; have != want {
		t.Errorf("want %s, have %s", want, have)
	}
	broken.Store(false)
	until(Sent)
	if want, have := "heartbeat.works: it is sent again", <-logged; have != want {
		t.Errorf("want %s, have %s", want, have)
	}
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

func TestHeartbeatErrorsOmitAddress(t *testing.T) {
	t.Parallel()
	for _, address := range []string{"http://127.0.0.1:1/canaryTOKEN", "http://user:canaryTOKEN@127.0.0.1:1/"} {
		h := &Heartbeat{URL: address, Fault: func() string { return "" }}
		err := h.beat(t.Context(), http.DefaultClient)
		if err == nil || strings.Contains(err.Error(), "canaryTOKEN") {
			t.Errorf("%s: want an error without it, have %v", address, err)
		}
	}
}
