package inbound

import (
	"context"
	"crypto/tls"
	"fmt"
	"net"
	"net/http"
	"slices"
	"testing"
	"testing/synctest"
	"time"
)

// arrives admits the connection of that number from a source, and returns the numbers of those that give way.
func arrives(l *Listener, number int64, source string, rank Rank) (out []int64) {
	c := &connection{listener: l, source: source}
	for _, other := range l.admit(c) {
		out = append(out, other.number)
	}
	if c.number != number {
		panic(fmt.Sprint("want connection ", number, ", have ", c.number))
	}
	c.rank = rank
	return out
}

// Each line is the arrival of a connection: its source, the rank that it shows afterwards, and which ones give way to it.
func TestTheConnectionThatMattersLeastGivesWay(t *testing.T) {
	t.Parallel()
	type arrival struct {
		source string
		rank   Rank
		out    []int64
	}
	for _, c := range []struct {
		name     string
		limits   Limits
		arrivals []arrival
	}{
		{"the oldest unknown one of the source", Limits{All: 10, Unknown: 2}, []arrival{
			{"a", Unknown, nil}, {"b", Unknown, nil}, {"a", Unknown, nil}, {"a", Unknown, []int64{1}}, {"a", Unknown, []int64{3}}, {"b", Unknown, nil},
			{"b", Unknown, []int64{2}},
		}},
		{"ranks do not count as unknown", Limits{All: 10, Unknown: 1}, []arrival{
			{"a", Viewer, nil}, {"a", Operator, nil}, {"a", Unknown, nil}, {"a", Unknown, []int64{3}},
		}},
		{"the oldest unknown one of all", Limits{All: 3, Unknown: 3}, []arrival{
			{"a", Viewer, nil}, {"b", Unknown, nil}, {"c", Unknown, nil}, {"d", Operator, []int64{2}}, {"e", Unknown, []int64{3}},
		}},
		{"then the oldest viewer", Limits{All: 3, Unknown: 3}, []arrival{
			{"a", Operator, nil}, {"b", Viewer, nil}, {"c", Viewer, nil}, {"d", Operator, []int64{2}}, {"e", Operator, []int64{3}},
		}},
		{"never an operator", Limits{All: 2, Unknown: 2}, []arrival{
			{"a", Operator, nil}, {"b", Operator, nil}, {"c", Unknown, []int64{3}}, {"c", Operator, []int64{4}},
		}},
		{"the only one that there may be", Limits{All: 1, Unknown: 1},
			[]arrival{{"a", Unknown, nil}, {"a", Unknown, []int64{1}}, {"b", Viewer, []int64{2}}, {"c", Unknown, []int64{3}}}},
	} {
		l := Limit(nil, c.limits)
		for i, a := range c.arrivals {
			if out := arrives(l, int64(i+1), a.source, a.rank); !slices.Equal(out, a.out) {
				t.Errorf("%s: connection %d: want %v to give way, have %v", c.name, i+1, a.out, out)
			}
		}
	}
}

func TestAClosedConnectionCountsNoMore(t *testing.T) {
	t.Parallel()
	l := Limit(nil, Limits{All: 2, Unknown: 2})
	near, far := net.Pipe()
	defer near.Close()
	first := &connection{Conn: far, listener: l, source: "a"}
	if out := l.admit(first); out != nil || !l.has(first) {
		t.Fatalf("want the first one let in, have %v", out)
	}
	if out := arrives(l, 2, "a", Unknown); out != nil {
		t.Errorf("want the second one let in, have %v out", out)
	}
	if err := first.Close(); err != nil || l.has(first) {
		t.Errorf("want it closed, and counted no more, have %v", err)
	}
	if _, err := near.Read(make([]byte, 1)); err == nil {
		t.Error("the other end is not closed")
	}
	if out := arrives(l, 3, "a", Unknown); out != nil {
		t.Errorf("want a third one let in after it, have %v out", out)
	}
}

// A rank is that of the best credential, also over TLS.
func TestARankNeverDecreases(t *testing.T) {
	t.Parallel()
	near, far := net.Pipe()
	defer near.Close()
	defer far.Close()
	c := &connection{Conn: far, listener: Limit(nil, Limits{})}
	for _, ctx := range []context.Context{WithConnection(t.Context(), c),
		WithConnection(t.Context(), tls.Server(c, &tls.Config{MinVersion: tls.VersionTLS13}))} {
		c.rank = Unknown
		for _, step := range []struct{ shown, want Rank }{{Unknown, Unknown}, {Viewer, Viewer}, {Unknown, Viewer}, {Operator, Operator},
			{Viewer, Operator}} {
			if Promote(ctx, step.shown); c.rank != step.want {
				t.Errorf("rank %d is shown: want %d, have %d", step.shown, step.want, c.rank)
			}
		}
	}
}

// A request that is being answered has 2 s to end when the server stops.
func TestARequestInFlightDelaysAStopBy2Seconds(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		near, far := net.Pipe()
		defer near.Close()
		accepted, begun, end := make(chan net.Conn, 1), make(chan struct{}), make(chan struct{})
		accepted <- far
		server := NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { close(begun); <-end }), time.Hour)
		ended := make(chan error, 1)
		go func() {
			ended <- server.Serve(Limit(&once{accepted: accepted, closed: make(chan struct{})}, Limits{All: 1, Unknown: 1}))
		}()
		if _, err := near.Write([]byte("GET / HTTP/1.1\r\nHost: localhost\r\n\r\n")); err != nil {
			t.Fatal(err)
		}
		<-begun
		began := time.Now()
		if stop(server); time.Since(began) != 2*time.Second {
			t.Errorf("want it stopped after 2 s, have %s", time.Since(began))
		}
		if _, err := near.Read(make([]byte, 1)); err == nil {
			t.Error("want the connection closed without an answer")
		}
		close(end)
		<-ended
	})
}
