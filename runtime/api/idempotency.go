package api

import (
	"bytes"
	"net/http"
	"slices"
	"sync"
	"time"
)

// Bounds of the answers that are stored under an Idempotency-Key.
const (
	maxRepeats  = 1_000
	repeatLife  = 24 * time.Hour
	maxRepeatID = 128 // bytes of a key
)

// idempotency stores the answers to changes, so that a request sent again under its Idempotency-Key
// gets the same answer and is done once.
type idempotency struct {
	mu    sync.Mutex // guards all below
	known map[string]*repeat
	order []string // oldest first

	writes chan repeatWrite // to the goroutine that saves them; nil for none
}

// repeat is one change under its key.
type repeat struct {
	digest [32]byte // of method, path and body
	at     time.Time
	done   chan struct{} // closed when it was answered
	status int
	header http.Header
	body   []byte
}

// begin returns the entry of a key; first reports that the caller is to perform the change.
func (m *idempotency) begin(key string, digest [32]byte, now time.Time) (known *repeat, first bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.known == nil {
		m.known = map[string]*repeat{}
	}
	for len(m.order) > 0 && (len(m.order) >= maxRepeats || now.Sub(m.known[m.order[0]].at) > repeatLife) {
		delete(m.known, m.order[0])
		m.order = m.order[1:]
	}
	if one := m.known[key]; one != nil {
		return one, false
	}
	one := &repeat{digest: digest, at: now, done: make(chan struct{})}
	m.known[key] = one
	m.order = append(m.order, key)
	return one, true
}

// forget drops a change without an effect, so that it can be retried.
func (m *idempotency) forget(key string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.drop(key)
}

func (m *idempotency) drop(key string) {
	delete(m.known, key)
	m.order = slices.DeleteFunc(m.order, func(k string) bool { return k == key })
}

// again repeats the stored answer.
func (r *repeat) again(w http.ResponseWriter, request *http.Request, digest [32]byte) {
	if r.digest != digest {
		problem(w, request, http.StatusUnprocessableEntity, "idempotency_key", "the Idempotency-Key was used for another request")
		return
	}
	select {
	case <-r.done:
	case <-request.Context().Done():
		return
	}
	if r.status == 0 {
		problem(w, request, http.StatusConflict, "unanswered", "this change was already begun under its Idempotency-Key, but botd ended, or could not "+
			"store the answer: see in the audit log whether it was done; another key does it again")
		return
	}
	for _, name := range []string{"Content-Type", "Cache-Control"} {
		w.Header().Set(name, r.header.Get(name))
	}
	w.Header().Set("Idempotency-Replayed", "true")
	w.WriteHeader(r.status)
	_, _ = w.Write(r.body) // a disconnected client gets no answer
}

// recorder keeps a copy of an answer.
type recorder struct {
	http.ResponseWriter
	status int
	body   bytes.Buffer
}

func (w *recorder) WriteHeader(status int) {
	w.status = status
	w.ResponseWriter.WriteHeader(status)
}

func (w *recorder) Write(text []byte) (int, error) {
	w.body.Write(text)
	return w.ResponseWriter.Write(text)
}

// Unwrap returns the underlying writer for http.ResponseController.
func (w *recorder) Unwrap() http.ResponseWriter { return w.ResponseWriter }
