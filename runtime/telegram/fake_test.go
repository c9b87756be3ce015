package telegram

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"
)

// token has the form of Telegram's tokens: a canary that must not occur anywhere.
const token = "123456789:AACANARYcanary-CANARY_canary1234567"

// fake is Telegram: a queue of updates per bot, and the messages sent to it.
type fake struct {
	t    *testing.T
	http *httptest.Server

	mu      sync.Mutex // guards all below
	queue   []queued
	next    int64    // number of the next update
	sent    []string // "chat text"
	polls   int
	news    chan struct{} // closed and replaced when the queue grows
	strange func(w http.ResponseWriter, r *http.Request) bool
}

type queued struct {
	number int64
	json   string
}

func newFake(t *testing.T) *fake {
	f := &fake{t: t, next: 1_000, news: make(chan struct{})}
	f.http = httptest.NewServer(http.HandlerFunc(f.serve))
	t.Cleanup(f.http.Close)
	return f
}

func (f *fake) serve(w http.ResponseWriter, r *http.Request) {
	f.mu.Lock()
	strange := f.strange
	f.mu.Unlock()
	if strange != nil && strange(w, r) {
		return
	}
	if err := r.ParseMultipartForm(1 << 20); err != nil && err != http.ErrNotMultipart && err != io.EOF {
		f.t.Errorf("%s: %v", r.URL.Path, err)
	}
	switch r.URL.Path {
	case "/bot" + token + "/getUpdates":
		f.updates(w, r)
	case "/bot" + token + "/sendMessage":
		f.mu.Lock()
		f.sent = append(f.sent, r.FormValue("chat_id")+" "+r.FormValue("text"))
		f.mu.Unlock()
		fmt.Fprint(w, `{"ok":true,"result":{"message_id":1,"date":1,"chat":{"id":1,"type":"private"}}}`)
	default:
		w.WriteHeader(http.StatusNotFound)
		fmt.Fprint(w, `{"ok":false,"error_code":404,"description":"Not Found"}`)
	}
}

// updates waits as long as requested, and forgets the updates that an offset confirms.
func (f *fake) updates(w http.ResponseWriter, r *http.Request) {
	offset, _ := strconv.ParseInt(r.FormValue("offset"), 10, 64)
	seconds, _ := strconv.Atoi(r.FormValue("timeout"))
	until := time.After(time.Duration(seconds) * time.Second)
	f.mu.Lock()
	f.polls++
	f.mu.Unlock()
	for {
		f.mu.Lock()
		f.queue = slices.DeleteFunc(f.queue, func(u queued) bool { return u.number < offset })
		var all []string
		for _, u := range f.queue {
			all = append(all, u.json)
		}
		news := f.news
		f.mu.Unlock()
		if len(all) > 0 {
			fmt.Fprintf(w, `{"ok":true,"result":[%s]}`, strings.Join(all, ","))
			return
		}
		select {
		case <-news:
		case <-until:
			fmt.Fprint(w, `{"ok":true,"result":[]}`)
			return
		case <-r.Context().Done():
			return
		}
	}
}

// push queues an update with the next number, which is its %d.
func (f *fake) push(json string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.queue = append(f.queue, queued{f.next, fmt.Sprintf(json, f.next)})
	f.next++
	f.wake()
}

// pushAgain queues a copy of the newest update, under its number.
func (f *fake) pushAgain() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.queue = append(f.queue, f.queue[len(f.queue)-1])
	f.wake()
}

// wake ends the waiting of polls; the caller holds f.mu.
func (f *fake) wake() {
	close(f.news)
	f.news = make(chan struct{})
}

// write queues a user's message in a private chat, sent some time ago.
func (f *fake) write(user int64, text string, ago time.Duration) {
	encoded, err := json.Marshal(text)
	if err != nil {
		f.t.Error(err)
	}
	f.push(
		fmt.Sprintf(
			`{"update_id":%%d,"message":{"message_id":7,"date":%d,"text":%s,"from":{"id":%d,"is_bot":false,"first_name":"A"},
				"chat":{"id":%d,"type":"private"}}}`,
			time.Now().Add(-ago).Unix(),
			strings.ReplaceAll(string(encoded), "%", "%%"),
			user,
			user,
		),
	)
}

// replies returns the replies so far.
func (f *fake) replies() []string {
	f.mu.Lock()
	defer f.mu.Unlock()
	return append([]string(nil), f.sent...)
}

// answered waits until that many replies were sent, and returns the last.
func (f *fake) answered(n int) string {
	f.t.Helper()
	late, again := time.After(30*time.Second), time.NewTicker(5*time.Millisecond)
	defer again.Stop()
	for {
		if all := f.replies(); len(all) >= n {
			return all[n-1]
		}
		select {
		case <-again.C:
		case <-late:
			f.t.Fatalf("30 s without reply %d: have %q", n, f.replies())
		}
	}
}
