package api

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"botd/reconcile/record"
	"botd/runtime/api/auth"
	"botd/runtime/ops"
	"botd/runtime/view"
)

func decoded[T any](t *testing.T, text string) (out T) {
	t.Helper()
	if err := json.Unmarshal([]byte(text), &out); err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return out
}

// listener is an open stream of a real server.
type listener struct {
	t     testing.TB
	lines *bufio.Scanner
	close func()
}

type heard struct{ id, topic, data string }

// serve has the desk answer on a port until the test ends.
func (d *desk) serve() (address string, stop func() time.Duration) {
	d.t.Helper()
	tcp, err := Listen("127.0.0.1:0", Access{})
	if err != nil {
		d.t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(d.t.Context())
	ended := make(chan error, 1)
	go func() { ended <- d.server.Serve(ctx, tcp) }()
	stopped := false
	stop = func() time.Duration {
		if stopped {
			return 0
		}
		stopped = true
		began := time.Now()
		cancel()
		if err := <-ended; err != nil {
			d.t.Error(err)
		}
		return time.Since(began)
	}
	d.t.Cleanup(func() { stop() })
	return "http://" + tcp.Addr().String(), stop
}

func listen(t testing.TB, address, query, after string) *listener {
	t.Helper()
	return listenAs(t, viewerToken, address, query, after)
}

func listenAs(t testing.TB, token, address, query, after string) *listener {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, address+"/api/v1/events"+query, nil)
	if err != nil {
		t.Fatal(err)
	}
	bearer(token)(request)
	if after != "" {
		request.Header.Set("Last-Event-ID", after)
	}
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	response, err := client.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	if response.StatusCode != 200 || response.Header.Get("Content-Type") != "text/event-stream" || response.Header.Get("X-Accel-Buffering") != "no" {
		t.Fatalf("want a stream, have %d %v", response.StatusCode, response.Header)
	}
	l := &listener{t, bufio.NewScanner(response.Body), func() { response.Body.Close(); client.CloseIdleConnections() }}
	t.Cleanup(l.close)
	return l
}

// next reads the next event; ended if there is none any more.
func (l *listener) next() (e heard, ended bool) {
	for l.lines.Scan() {
		name, rest, _ := strings.Cut(l.lines.Text(), ": ")
		switch name {
		case "id":
			e.id = rest
		case "event":
			e.topic = rest
		case "data":
			e.data = rest
		case "":
			if e.topic != "" {
				return e, false
			}
		}
	}
	return e, true
}

func (l *listener) want(topics ...string) (last heard) {
	l.t.Helper()
	for _, topic := range topics {
		e, ended := l.next()
		if ended || e.topic != topic {
			l.t.Fatalf("want event %s, have %+v, ended %t", topic, e, ended)
		}
		last = e
	}
	return last
}

func TestReconnectedClientReceivesMissedEvents(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	address, _ := d.serve()
	l := listen(t, address, "", "")
	hello := decoded[Hello](t, l.want("hello").data)
	if hello.Epoch != "e1" || hello.Last != "e1-0" || hello.Version != "1.2.3" {
		t.Errorf("want epoch, version and last id, have %+v", hello)
	}
	d.server.stream.Publish("notice", map[string]int{"n": 1})
	first := l.want("notice")
	l.close()
	for n := 2; n <= 5; n++ {
		d.server.stream.Publish("notice", map[string]int{"n": n})
	}
	for query, after := range map[string]string{"": first.id, "?since=" + first.id: ""} {
		l = listen(t, address, query, after)
		l.want("hello")
		for n := 2; n <= 5; n++ {
			if e := l.want("notice"); e.data != fmt.Sprintf(`{"n":%d}`, n) || e.id != fmt.Sprintf("e1-%d", n) {
				t.Errorf("want event %d, have %+v", n, e)
			}
		}
		d.server.stream.Publish("risk", map[string]int{}) // and continues live
		l.want("risk")
		l.close()
		d.server.stream.mu.Lock()
		d.server.stream.last, d.server.stream.ring = 5, d.server.stream.ring[:5]
		d.server.stream.mu.Unlock()
	}
}

func TestUnresumableStreamReportsGap(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	address, _ := d.serve()
	for n := range maxEvents + maxEvents/10 { // then the oldest tenth is dropped
		d.server.stream.Publish("notice", n)
	}
	for after, why := range map[string]string{
		"e0-5": "restarted", "e1-999": "no longer held", "e1-99999": "no such event", "nonsense": "not an event id", "e1--1": "not an event id",
	} {
		l := listen(t, address, "", after)
		l.want("hello")
		gap := l.want("gap")
		if g := decoded[Gap](t, gap.data); !strings.Contains(g.Reason, why) || g.After != after || gap.id != d.server.stream.lastID() || g.Last != gap.id {
			t.Errorf("after %s: want a gap because %q, up to the newest, have %+v", after, why, gap)
		}
		l.close()
	}
	l := listen(t, address, "", "e1-1000") // the oldest event from which it can be resumed
	l.want("hello", "notice")
}

func TestEventBufferIsBoundedInBytes(t *testing.T) {
	t.Parallel()
	s := newStream("e1", ops.NewMetrics("demo", ops.Build{}))
	large, most := strings.Repeat("x", 10_000), 0
	for range 3 * maxBytes / len(large) {
		s.Publish("status", large)
		sum, room := 0, 0
		for i := range s.ring {
			sum, room = sum+len(s.ring[i].frame), room+cap(s.ring[i].frame)
		}
		if sum != s.bytes {
			t.Fatalf("want %d bytes counted, have %d", sum, s.bytes)
		}
		most = max(most, room)
	}
	if most < maxBytes || most > maxBytes*5/4 {
		t.Errorf("want about %d bytes kept at most, have %d", maxBytes, most)
	}
	s.Publish("status", strings.Repeat("x", 2*maxBytes))
	if len(s.ring) != 1 {
		t.Errorf("one event larger than all that is kept: want it alone, have %d", len(s.ring))
	}
}

func TestTopicsAreSelectable(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	address, _ := d.serve()
	all, some := listen(t, address, "", ""), listen(t, address, "?topics=log,fill", "")
	all.want("hello")
	some.want("hello")
	for _, topic := range []string{"log", "notice", "fill"} {
		d.server.stream.Publish(topic, 1)
	}
	all.want("notice", "fill")
	some.want("log", "fill")
}

func TestASlowClientIsDroppedAndCounted(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	client, _, _, _, err := d.server.stream.join(&auth.Identity{}, nil, "")
	if err != nil {
		t.Fatal(err)
	}
	for n := range maxQueued + 1 {
		d.server.stream.Publish("notice", n)
	}
	select {
	case <-client.slow:
	default:
		t.Error("want the client dropped")
	}
	if have := d.server.stream.clientCount(); have != 0 {
		t.Errorf("clients: want 0, have %d", have)
	}
	// A waiting follow returns the reason, once the queued events are written.
	reason := d.server.follow(t.Context(), &flow{w: discard{http.Header{}}, control: http.NewResponseController(discard{http.Header{}})}, client, "")
	if reason != "slow" {
		t.Errorf("want slow, have %s", reason)
	}
	d.metrics.StreamEnded("slow")
	if have, _ := d.scrape(`botd_sse_disconnects_total{reason="slow"}`); have != 1 {
		t.Errorf("counted: want 1, have %v", have)
	}
}

type discard struct{ header http.Header }

func (d discard) Header() http.Header            { return d.header }
func (d discard) Write(text []byte) (int, error) { return len(text), nil }
func (d discard) WriteHeader(int)                {}
func (d discard) Flush()                         {}

func TestStreamsAreBounded(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	address, _ := d.serve()
	for range maxOfViewer {
		listen(t, address, "", "").want("hello")
	}
	if code, text := d.ask(http.MethodGet, "/api/v1/events", "", bearer(viewerToken)); code != 503 || !strings.Contains(text, "of this token") {
		t.Errorf("one more of a viewer: want 503, have %d %s", code, text)
	}
	for range maxClients - maxOfViewer {
		listenAs(t, testToken, address, "", "").want("hello")
	}
	if code, text := d.ask(http.MethodGet, "/api/v1/events", "", bearer(testToken)); code != 503 || !strings.Contains(text, "too many") {
		t.Errorf("one more of all: want 503, have %d %s", code, text)
	}
	if have, _ := d.scrape("botd_sse_clients"); have != maxClients {
		t.Errorf("botd_sse_clients: want %d, have %v", maxClients, have)
	}
}

func TestOpenStreamsDoNotKeepTheServerFromStopping(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	address, stop := d.serve()
	l := listen(t, address, "", "")
	l.want("hello")
	if took := stop(); took > time.Second {
		t.Errorf("stopping with an open stream: want it at once, have %s", took)
	}
	if _, ended := l.next(); !ended {
		t.Error("want the stream ended")
	}
}

func TestAStatusAndTheStreamJoinWithoutAHole(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	address, _ := d.serve()
	d.board.Show(d.status)
	status := decoded[view.Status](t, d.want(200, "/api/v1/status"))
	d.status.Halt.Level = record.LevelPause
	d.board.Show(d.status)
	l := listen(t, address, "?since="+status.EventID, "")
	l.want("hello")
	if e := l.want("status"); decoded[view.Status](t, e.data).Halted != record.LevelPause {
		t.Errorf("want the halt reported, have %s", e.data)
	}
	d.board.Show(d.status) // nothing changed
	d.server.stream.Publish("notice", 1)
	l.want("notice")
}

func TestLogsAreFilteredAndTheirLevelIsChangedWhileItRuns(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	console := ops.NewConsole(discard{}, ops.Format{JSON: true}, d.metrics, d.logs)
	console.Say("daemon.started", "started with %d", 3)
	console.Warn("clock.jumped", "the clock jumped")
	messages := func(query string) (all []string) {
		for _, line := range decoded[List[ops.LogLine]](t, d.want(200, "/api/v1/logs"+query)).Items {
			all = append(all, line.Message)
		}
		return all
	}
	for query, want := range map[string][]string{
		"": {"the clock jumped", "started with 3"}, "?level=warn": {"the clock jumped"}, "?event=daemon.": {"started with 3"},
		"?event=daemon": nil, "?text=WITH": {"started with 3"}, "?strategy=trend": nil, "?limit=1": {"the clock jumped"},
	} {
		if have := messages(query); !slices.Equal(want, have) {
			t.Errorf("%q: want %v, have %v", query, want, have)
		}
	}
	if code, text := d.ask(http.MethodPut, "/api/v1/log-level", `{"level":"warn"}`, bearer(testToken)); code != 200 {
		t.Fatalf("want the level changed, have %d %s", code, text)
	}
	console.Say("daemon.started", "not written any more")
	console.Warn("clock.jumped", "still written")
	if have := messages("?limit=2"); !slices.Equal(have, []string{"still written", "the clock jumped"}) {
		t.Errorf("at level warn: have %v", have)
	}
}

func TestViewersLeaveStreamsToTheOperator(t *testing.T) {
	t.Parallel()
	stream := newDesk(t).server.stream
	for i := range maxViewers {
		viewer := auth.Identity{Role: auth.Viewer, Key: auth.Key{Hash: fmt.Sprint(i)}}
		if _, _, _, _, err := stream.join(&viewer, nil, ""); err != nil {
			t.Fatal(err)
		}
	}
	if _, _, _, _, err := stream.join(&auth.Identity{Role: auth.Viewer}, nil, ""); !errors.Is(err, errTooManyViewers) {
		t.Errorf("one viewer more: want it refused, have %v", err)
	}
	for range maxClients - maxViewers {
		if _, _, _, _, err := stream.join(&auth.Identity{Role: auth.Operator}, nil, ""); err != nil {
			t.Errorf("an operator beside %d viewers: %v", maxViewers, err)
		}
	}
}

// The first id after which a stream can resume is the one before the first event.
func TestStreamResumesAfterAnyStoredEvent(t *testing.T) {
	t.Parallel()
	s := newStream("e1", ops.NewMetrics("demo", ops.Build{}))
	for n := range 3 {
		s.Publish("notice", n)
	}
	s.Publish("log", 3)
	viewer := auth.Identity{Role: auth.Viewer}
	for after, want := range map[string]int{"": -1, "e1-0": 3, "e1-1": 2, "e1-3": 0, "e1-4": 0} {
		client, missed, gap, hello, err := s.join(&viewer, nil, after)
		if err != nil || gap != nil || len(missed) != max(0, want) || want > 0 && missed[0].sequence != int64(4-want) || hello.Oldest != "e1-0" ||
			hello.Last != "e1-4" {
			t.Errorf("after %q: want %d events, have %+v, %+v, %+v, %v", after, want, missed, gap, hello, err)
		}
		s.leave(client)
	}
	for after, why := range map[string]string{"e1-5": "there was no such event", "e2-1": "botd was restarted", "e1-x": "it is not an event id",
		"e1": "it is not an event id"} {
		client, missed, gap, _, err := s.join(&viewer, nil, after)
		if err != nil || missed != nil || gap == nil || *gap != (Gap{after, "e1-4", why}) {
			t.Errorf("after %q: want a gap, have %+v, %+v, %v", after, missed, gap, err)
		}
		s.leave(client)
	}
	_, all, _, _, _ := s.join(&viewer, []string{"log"}, "e1-0")
	if len(all) != 1 || all[0].topic != "log" || string(all[0].frame) != "id: e1-4\nevent: log\ndata: 3\n\n" {
		t.Errorf("of the logs alone: have %+v", all)
	}
	s.Close()
	if s.Publish("notice", 1); s.lastID() != "e1-4" {
		t.Errorf("closed: want nothing published, have %s", s.lastID())
	}
	if _, _, _, _, err := s.join(&viewer, nil, ""); !errors.Is(err, errStreamEnded) {
		t.Errorf("closed: want no client, have %v", err)
	}
}

// The time is two seconds. If a missing event is requested, the stream lists the available ones.
func TestStreamSendsRetryInterval(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	ctx, leave := context.WithCancel(t.Context())
	leave() // it ends once it has started
	answer := d.answer(http.MethodGet, "/api/v1/events", "", func(r *http.Request) { bearer(viewerToken)(r); *r = *r.WithContext(ctx) })
	if text := answer.Body.String(); !strings.HasPrefix(text, "retry: 2000\n\nevent: hello\n") || answer.Header().Get("Cache-Control") != "no-store" {
		t.Errorf("have %v %s", answer.Header(), text)
	}
	if have, _ := d.scrape(`botd_sse_disconnects_total{reason="client"}`); have != 1 {
		t.Errorf("want its end counted, have %v", have)
	}
	if have, _ := d.scrape("botd_sse_clients"); have != 0 {
		t.Errorf("want no client left, have %v", have)
	}
	if text := d.want(400, "/api/v1/events?topics=fill,weather"); !strings.Contains(text, `topic \"weather\" is unknown (known: status, account, strategy,`) {
		t.Errorf("have %s", text)
	}
}
