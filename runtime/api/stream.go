package api

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"botd/internal/jsonalias"
	"botd/runtime/api/auth"
	"botd/runtime/ops"
	"botd/runtime/view"
)

// Limits of the stream.
const (
	maxEvents     = 10_000  // held for clients that come back,
	maxBytes      = 4 << 20 // and at most so many bytes
	maxQueued     = 256     // per client; one that is slower is dropped
	maxClients    = 32      // streams,
	maxViewers    = 20      // of them viewers': the others are for operators
	maxOfViewer   = 12      // of one viewer's credential
	pingEvery     = 15 * time.Second
	streamRetryMS = 2000
)

// allTopics are the kinds of event, each with its content. Logs are sent only on request.
var allTopics = []Topic{
	{"status", reflect.TypeFor[view.Status](), "it changed; its `strategies` are empty"},
	{"account", reflect.TypeFor[view.AccountEvent](), "every second"},
	{"strategy", reflect.TypeFor[view.Strategy](), "it changed"},
	{"decision", reflect.TypeFor[view.Decision](), "a strategy changed its plan"},
	{"intent", reflect.TypeFor[view.Intent](), "derived, and at each step"},
	{"order", reflect.TypeFor[view.Order](), "placed, and at each change"},
	{"fill", reflect.TypeFor[view.Fill](), "polled"},
	{"trade", reflect.TypeFor[view.ClosedPosition](), "a round trip was booked"},
	{"position", reflect.TypeFor[view.PositionChange](), "a position changed"},
	{"risk", reflect.TypeFor[view.Notice](), "a halt, a breaker or a limit began or ended"},
	{"reconcile", reflect.TypeFor[view.Notice](), "quarantined, adopted, found, stale"},
	{"candle", reflect.TypeFor[view.CandleEvent](), "a candle closed"},
	{"notice", reflect.TypeFor[view.Notice](), "a notice for people"},
	{"audit", reflect.TypeFor[view.Audit](), "a change was journalled"},
	{"backtest", reflect.TypeFor[BacktestRun](), "a backtest that was started here progressed, four times a second at most, or ended"},
	{"log", reflect.TypeFor[ops.LogLine](), "a line was written; only on request, by `topics`"},
}

// Topic is one kind of event.
type Topic struct {
	Name    string
	Content reflect.Type
	When    string // it is sent
}

func topicNames() []string {
	names := make([]string, len(allTopics))
	for i := range allTopics {
		names[i] = allTopics[i].Name
	}
	return names
}

// event is one event of the stream, encoded once for all clients.
type event struct {
	sequence int64
	topic    string
	frame    []byte
}

// Stream is the live event stream. Its events are numbered, and the newest are held so that a
// client that reconnects misses none, or learns that it missed some. Safe for several goroutines.
type Stream struct {
	epoch   string
	metrics *ops.Metrics

	mu      sync.Mutex // guards all below
	last    int64      // sequence of the newest event
	ring    []event    // oldest first
	bytes   int        // of their frames
	clients map[*subscriber]bool
	closed  bool
}

// subscriber is one open stream.
type subscriber struct {
	requester auth.Identity
	topics    []string // nil for all but log
	queue     chan event
	slow      chan struct{} // closed when it was dropped
}

func (s *subscriber) subscribes(topic string) bool {
	if s.topics == nil {
		return topic != "log"
	}
	return slices.Contains(s.topics, topic)
}

// newStream returns a stream whose ids begin with the epoch, which differs with every start
// of botd.
func newStream(epoch string, metrics *ops.Metrics) *Stream {
	return &Stream{epoch: epoch, metrics: metrics, clients: map[*subscriber]bool{}}
}

// Publish sends an event to every client and waits for none of them.
func (s *Stream) Publish(topic string, content any) {
	text, err := jsonalias.Marshal(content)
	if err != nil {
		panic(fmt.Sprintf("api: event %s: %v", topic, err)) // a type of botd that does not marshal to JSON
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return
	}
	s.last++
	e := event{s.last, topic, frame(s.id(s.last), topic, text)}
	s.hold(e)
	for client := range s.clients {
		if !client.subscribes(topic) {
			continue
		}
		select {
		case client.queue <- e:
		default: // the client is too slow
			delete(s.clients, client)
			close(client.slow)
		}
	}
}

// hold adds an event to those held. When they are a tenth too many, or together a tenth too
// large, the oldest are dropped.
func (s *Stream) hold(e event) {
	s.ring = append(s.ring, e)
	s.bytes += len(e.frame)
	if len(s.ring) < maxEvents+maxEvents/10 && s.bytes < maxBytes+maxBytes/10 {
		return
	}
	dropped := 0
	for ; len(s.ring)-dropped > maxEvents || s.bytes > maxBytes && dropped < len(s.ring)-1; dropped++ {
		s.bytes -= len(s.ring[dropped].frame)
	}
	s.ring = slices.Delete(s.ring, 0, dropped)
}

// lastID returns the id of the newest event. A client that reads a snapshot and then follows from
// the id in it misses nothing.
func (s *Stream) lastID() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.id(s.last)
}

func (s *Stream) id(sequence int64) string { return s.epoch + "-" + strconv.FormatInt(sequence, 10) }

// frame returns an event as it is sent.
func frame(id, topic string, text []byte) []byte {
	var b bytes.Buffer
	if id != "" {
		fmt.Fprintf(&b, "id: %s\n", id)
	}
	fmt.Fprintf(&b, "event: %s\ndata: %s\n\n", topic, text)
	return bytes.Clone(b.Bytes()) // without the spare capacity of the buffer, since it is held
}

// Hello is the first event of every stream.
type Hello struct {
	Epoch   string `json:"epoch"`
	Version string `json:"version"`
	Oldest  string `json:"oldest_id"` // the oldest id after which a stream can resume
	Last    string `json:"last_id"`
}

// Gap is a report that events were missed: the resources that they changed must be read again.
type Gap struct {
	After  string `json:"after_id"`
	Last   string `json:"last_id"`
	Reason string `json:"reason" was:"why"`
}

var (
	errTooManyClients = errors.New("too many open event streams")
	errTooManyViewers = errors.New("too many open event streams of viewers, or of this token")
	errStreamEnded    = errors.New("botd is stopping")
)

// join subscribes, and returns the events after an id, with a gap if some of them have been
// dropped.
func (s *Stream) join(requester *auth.Identity, topics []string, after string) (client *subscriber, missed []event, gap *Gap, hello Hello, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.closed:
		return nil, nil, nil, hello, errStreamEnded
	case len(s.clients) >= maxClients:
		return nil, nil, nil, hello, errTooManyClients
	case s.crowded(requester):
		return nil, nil, nil, hello, errTooManyViewers
	}
	oldest := s.last - int64(len(s.ring)) // the event before the oldest one held
	hello = Hello{Epoch: s.epoch, Oldest: s.id(oldest), Last: s.id(s.last)}
	client = &subscriber{requester: *requester, topics: topics, queue: make(chan event, maxQueued), slow: make(chan struct{})}
	s.clients[client] = true
	if after == "" {
		return client, nil, nil, hello, nil
	}
	sequence, why := s.parse(after)
	switch {
	case why != "":
	case sequence < oldest:
		why = "the events after it are no longer held"
	case sequence > s.last:
		why = "there was no such event"
	}
	if why != "" {
		return client, nil, &Gap{after, s.id(s.last), why}, hello, nil
	}
	for i := sequence - oldest; i < int64(len(s.ring)); i++ {
		if e := s.ring[i]; client.subscribes(e.topic) {
			missed = append(missed, e)
		}
	}
	return client, missed, nil, hello, nil
}

// crowded reports whether viewers, or this one, have reached their limit of streams.
func (s *Stream) crowded(requester *auth.Identity) bool {
	if requester.Role == auth.Operator {
		return false
	}
	all, own := 0, 0
	for client := range s.clients {
		if client.requester.Role == auth.Operator {
			continue
		}
		if all++; client.requester.Credential() == requester.Credential() {
			own++
		}
	}
	return all >= maxViewers || own >= maxOfViewer
}

// parse reads an id of this stream.
func (s *Stream) parse(id string) (sequence int64, why string) {
	epoch, number, found := strings.Cut(id, "-")
	sequence, err := strconv.ParseInt(number, 10, 64)
	switch {
	case !found || err != nil || sequence < 0:
		return 0, "it is not an event id"
	case epoch != s.epoch:
		return 0, "botd was restarted"
	}
	return sequence, ""
}

func (s *Stream) leave(client *subscriber) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.clients, client)
	s.metrics.StreamClients(len(s.clients))
}

// clientCount returns how many streams are open.
func (s *Stream) clientCount() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.clients)
}

// Close ends the stream: later events are dropped.
func (s *Stream) Close() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.closed = true
}

var streamRoutes = []route{
	{id: "events", tag: "stream", method: "GET", path: "/api/v1/events", minimum: auth.Viewer, endpoint: raw("text/event-stream", (*Server).events),
		summary: "The live event stream.", fails: []int{503},
		takes: []parameter{{name: "topics", text: "Topics, separated by commas; all but log by default."},
			{name: "since", text: "An event id to resume after, like the header Last-Event-ID."}}},
}

func (s *Server) events(w http.ResponseWriter, r *request) error {
	var topics []string
	if text := r.query.Get("topics"); text != "" {
		topics = strings.Split(text, ",")
		for _, topic := range topics {
			if known := topicNames(); !slices.Contains(known, topic) {
				return badParameter(fmt.Sprintf("topic %q is unknown (known: %s)", topic, strings.Join(known, ", ")))
			}
		}
	}
	requester := requester(r.Request)
	client, missed, gap, hello, err := s.stream.join(&requester, topics, cmp.Or(r.Header.Get("Last-Event-ID"), r.query.Get("since")))
	if err != nil {
		return &failure{http.StatusServiceUnavailable, "stream", err.Error()}
	}
	s.metrics.StreamClients(s.stream.clientCount())
	defer s.stream.leave(client)
	hello.Version = s.config.Build.Version
	header := w.Header()
	header.Set("Content-Type", "text/event-stream")
	header.Set("Cache-Control", "no-store")
	header.Set("X-Accel-Buffering", "no")
	flow := &flow{w: w, control: http.NewResponseController(w)}
	flow.write(fmt.Appendf(nil, "retry: %d\n\n", streamRetryMS))
	flow.send("", "hello", hello)
	if gap != nil {
		flow.send(gap.Last, "gap", gap)
	}
	for _, e := range missed {
		flow.write(e.frame)
	}
	flow.flush()
	s.metrics.StreamEnded(s.follow(r.Context(), flow, client, requester.Key.Hash))
	return nil
}

// follow writes events until a side closes the stream, or the named token that opened it is
// revoked or ends. It returns why the stream ended.
func (s *Server) follow(ctx context.Context, flow *flow, client *subscriber, hash string) (reason string) {
	ping := time.NewTicker(pingEvery)
	defer ping.Stop()
	for flow.err == nil {
		select {
		case e := <-client.queue:
			flow.write(e.frame)
			for more := true; more; { // events that are already queued are sent at once
				select {
				case e := <-client.queue:
					flow.write(e.frame)
				default:
					more = false
				}
			}
		case <-ping.C:
			if _, valid := s.config.Keyring.Find(hash, time.Now()); hash != "" && !valid {
				return "other"
			}
			flow.write([]byte(": ping\n\n"))
		case <-client.slow:
			return "slow"
		case <-s.stopping:
			return "shutdown"
		case <-ctx.Done():
			return "client"
		}
		flow.flush()
	}
	return "client"
}

// flow writes to a client and remembers the first failure.
type flow struct {
	w       http.ResponseWriter
	control *http.ResponseController
	err     error
}

// streamWriteTimeout bounds one write: a client that reads nothing for so long is dropped.
const streamWriteTimeout = 20 * time.Second

func (f *flow) write(text []byte) {
	if f.err == nil {
		// The server's own timeout covers a whole answer; a stream has one for each write.
		if f.err = f.control.SetWriteDeadline(time.Now().Add(streamWriteTimeout)); errors.Is(f.err, http.ErrNotSupported) {
			f.err = nil
		}
	}
	if f.err == nil {
		_, f.err = f.w.Write(text)
	}
}

func (f *flow) send(id, topic string, content any) {
	text, err := jsonalias.Marshal(content)
	if err != nil {
		panic(fmt.Sprintf("api: event %s: %v", topic, err))
	}
	f.write(frame(id, topic, text))
}

func (f *flow) flush() {
	if f.err == nil {
		f.err = f.control.Flush()
	}
}
