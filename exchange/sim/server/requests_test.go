package server

import (
	"fmt"
	"strings"
	"testing"
)

// A request whose answer is delayed is in its place, and listed while it waits.
func TestTheJournalHasRequestsInTheOrderOfTheirArrival(t *testing.T) {
	t.Parallel()
	_, c := startServer(t, nil)
	c.fault(`{"match":"GET /fapi/v1/health","kind":"delay","delay_ms":1500,"count":1}`)
	answered := make(chan answer, 1)
	go func() { answered <- c.send("GET", "/fapi/v1/health", "", nil) }()
	journal := func() (text string) {
		var list struct {
			Requests []struct {
				ID      int64
				Path    string
				Status  int
				Pending bool
				Fault   string
			}
		}
		c.control("GET", "/control/v1/requests", "").read(t, &list)
		for _, r := range list.Requests {
			text += strings.TrimSpace(fmt.Sprintf("%d %s %d %v %s", r.ID, r.Path, r.Status, r.Pending, r.Fault)) + "\n"
		}
		return text
	}
	for journal() == "" { // until the request has arrived
	}
	c.send("GET", "/fapi/v1/ping", "", nil).want(t, 200)
	if want, have := "1 /fapi/v1/health 0 true\n2 /fapi/v1/ping 200 false\n", journal(); have != want {
		t.Errorf("while it waits: want\n%shave\n%s", want, have)
	}
	c.advance(1_500)
	(<-answered).want(t, 200)
	if want, have := "1 /fapi/v1/health 200 false delay\n2 /fapi/v1/ping 200 false\n", journal(); have != want {
		t.Errorf("then: want\n%shave\n%s", want, have)
	}
	c.send("POST", "/fhapi/v1/order", strings.Repeat("x", maxBody+1), nil).want(t, 400)
	if have := journal(); !strings.HasSuffix(have, "3 /fhapi/v1/order 400 false\n") {
		t.Errorf("want a request that is too long too, have\n%s", have)
	}
}
