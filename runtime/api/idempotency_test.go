package api

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"
)

// A new change replaces the oldest one, and changes older than a day are dropped.
func TestAThousandChangesAreRememberedForADay(t *testing.T) {
	t.Parallel()
	began := time.Unix(1_800_000_000, 0)
	var m idempotency
	first := func(key string, at time.Duration) bool {
		_, first := m.begin(key, [32]byte{}, began.Add(at))
		return first
	}
	for n := range 1_000 {
		if !first(fmt.Sprint(n), 0) {
			t.Fatalf("want change %d new", n)
		}
	}
	if len(m.order) != 1_000 || !first("one more", 0) || len(m.order) != 1_000 || len(m.known) != 1_000 {
		t.Errorf("want a thousand remembered, have %d", len(m.order))
	}
	if first("999", 0) || first("1000th", 0) == false {
		t.Error("want the newest known, and one that is new")
	}
	if m.known["0"] != nil || m.known["1"] != nil {
		t.Error("want the oldest forgotten")
	}
	m = idempotency{}
	if !first("a", 0) || !first("b", time.Hour) || first("a", 24*time.Hour) {
		t.Error("want a change known for a day")
	}
	if !first("a", 24*time.Hour+1) || first("b", 25*time.Hour) || !first("b", 25*time.Hour+1) {
		t.Error("want it forgotten after a day, and no other one")
	}
	m.forget("a")
	if !first("a", 26*time.Hour) || first("b", 26*time.Hour) {
		t.Error("want one that failed forgotten, and no other one")
	}
}

// A key has at most 128 bytes. Another client's key is a different one, and another request under the key is refused.
func TestAKeyIsOfOneClientAndOneRequest(t *testing.T) {
	t.Parallel()
	const path, body = "/api/v1/risk/halt", `{"level":"pause","reason":"a test"}`
	d := newDesk(t)
	asks := func(what, path, body string, change func(*http.Request), code, events int) *httptest.ResponseRecorder {
		t.Helper()
		answer := d.answer(http.MethodPost, path, body, change)
		if answer.Code != code || len(d.sent) != events {
			t.Errorf("%s: want %d and %d events, have %d %s, %d", what, code, events, answer.Code, answer.Body, len(d.sent))
		}
		return answer
	}
	long := strings.Repeat("k", 128)
	first := asks("128 bytes", path, body, keyed(long), 202, 1)
	if p := decoded[Problem](t, asks("129 bytes", path, body, keyed(long+"k"), 400, 1).Body.String()); !strings.Contains(p.Detail, "longer than 128 bytes") {
		t.Errorf("129 bytes: have %+v", p)
	}
	again := asks("again", path, body, keyed(long), 202, 1)
	if again.Body.String() != first.Body.String() || again.Header().Get("Idempotency-Replayed") != "true" ||
		again.Header().Get("Cache-Control") != "no-store" ||
		again.Header().Get("Content-Type") != first.Header().Get("Content-Type") {
		t.Errorf("again: want the same answer, have %v %s", again.Header(), again.Body)
	}
	asks("another query", path+"?dry_run=true", body, keyed(long), 422, 1)
	if p := decoded[Problem](t, asks("another path", "/api/v1/risk/rearm", `{}`, keyed(long), 422, 1).Body.String()); p.Code != "idempotency_key" {
		t.Errorf("another path: have %+v", p)
	}
	asks("from another address", path, body, func(r *http.Request) { keyed(long)(r); r.RemoteAddr = "192.0.2.7:99" }, 202, 2)
	asks("without a key", path, body, bearer(testToken), 202, 3)
	asks("without a key, again", path, body, bearer(testToken), 202, 4)
	asks("a bad request", path, `{}`, keyed("bad"), 400, 4)
	if answer := asks("a bad request, again", path, `{}`, keyed("bad"), 400, 4); answer.Header().Get("Idempotency-Replayed") != "true" {
		t.Errorf("a bad request, again: want it replayed, have %v", answer.Header())
	}
}

// The change is done once, both callers get the same answer, and a caller that disconnects gets none.
func TestAChangeThatIsUnderWayIsWaitedFor(t *testing.T) {
	t.Parallel()
	var m idempotency
	begun, finish, done := make(chan struct{}), make(chan struct{}), 0
	handler := m.once(func(w http.ResponseWriter, _ *http.Request) {
		done++
		close(begun)
		<-finish
		answerAs(w, http.StatusAccepted, "done")
	})
	ask := func(ctx context.Context) *httptest.ResponseRecorder {
		answer := httptest.NewRecorder()
		request := httptest.NewRequestWithContext(ctx, http.MethodPost, "/", strings.NewReader("{}"))
		request.Header.Set("Idempotency-Key", "one")
		handler(answer, request)
		return answer
	}
	var first, second *httptest.ResponseRecorder
	var group sync.WaitGroup
	group.Go(func() { first = ask(t.Context()) })
	<-begun
	abandoned, leave := context.WithCancel(t.Context())
	leave()
	if answer := ask(abandoned); answer.Body.Len() != 0 {
		t.Errorf("who is gone: want no answer, have %s", answer.Body)
	}
	group.Go(func() { second = ask(t.Context()) })
	close(finish)
	group.Wait()
	if done != 1 || first.Code != 202 || second.Code != 202 || first.Body.String() != "\"done\"\n" || second.Body.String() != first.Body.String() {
		t.Errorf("want it done once and answered twice, have it %d times, %d %s, %d %s", done, first.Code, first.Body, second.Code, second.Body)
	}
}

// The lines are written manually. An unreadable line in the middle is an error: a change would be done twice.
func TestIdempotencyFileIsRead(t *testing.T) {
	t.Parallel()
	now := time.Date(2027, 1, 15, 8, 0, 0, 0, time.UTC)
	line := func(name, at string, status int, body string) string {
		return fmt.Sprintf(`{"name":%q,"asked":"%064d","at":%q,"status":%d,"type":"application/json","body":%q}`+"\n", name, 0, at, status, body)
	}
	const hour, day, older = "2027-01-15T07:00:00Z", "2027-01-14T08:00:00Z", "2027-01-14T07:59:59Z"
	for name, c := range map[string]struct {
		text  string
		known []string // name, status and body
		wrong bool
	}{
		"nothing":                 {"", nil, false},
		"two":                     {line("a", hour, 202, "b25l") + line("b", hour, 400, ""), []string{"a 202 one", "b 400 "}, false},
		"begun and answered":      {line("a", hour, 0, "") + line("a", hour, 202, "b25l"), []string{"a 202 one"}, false},
		"a day old":               {line("a", day, 202, ""), []string{"a 202 "}, false},
		"older":                   {line("a", older, 202, "") + line("b", hour, 200, ""), []string{"b 200 "}, false},
		"it failed":               {line("a", hour, 0, "") + line("a", hour, 500, "") + line("b", hour, 499, ""), []string{"b 499 "}, false},
		"torn at its end":         {line("a", hour, 202, "") + `{"name":"b`, []string{"a 202 "}, false},
		"a whole line, not ended": {line("a", hour, 202, "") + strings.TrimSpace(line("b", hour, 202, "")), []string{"a 202 "}, false},
		"torn in its middle":      {`{"name":"b` + "\n" + line("a", hour, 202, ""), nil, true},
		"of no request":           {`{"name":"a","asked":"00","at":"` + hour + `"}` + "\n" + line("b", hour, 202, ""), []string{"b 202 "}, false},
		"of what is no hash":      {`{"name":"a","asked":"xyz","at":"` + hour + `"}` + "\n", nil, false},
	} {
		var m idempotency
		err := m.load([]byte(c.text), now)
		var have []string
		for _, name := range m.order {
			one := m.known[name]
			select {
			case <-one.done:
			default:
				t.Errorf("%s: want %s answered, or its client waits for ever", name, name)
			}
			if media := one.header.Get("Content-Type"); media != "application/json" && one.body != nil {
				t.Errorf("%s: want the kind of its answer, have %q", name, media)
			}
			have = append(have, fmt.Sprint(name, " ", one.status, " ", string(one.body)))
		}
		if (err != nil) != c.wrong || !c.wrong && fmt.Sprint(have) != fmt.Sprint(c.known) {
			t.Errorf("%s: want %v, wrong %t, have %v, %v", name, c.known, c.wrong, have, err)
		}
	}
}

// An answer longer than 64 KiB is stored as unanswered, and a file of more than 4 MiB is rewritten without outdated entries.
func TestTheFileOfAnsweredChangesIsBounded(t *testing.T) {
	t.Parallel()
	for size, status := range map[int]string{64 << 10: `"status":202`, 64<<10 + 1: ""} {
		r := &repeat{status: 202, header: http.Header{"Content-Type": {"text/plain"}}, body: []byte(strings.Repeat("x", size))}
		if text := string(r.line("a", true)); strings.Contains(text, `"status"`) != (status != "") || strings.Contains(text, `"body"`) != (status != "") {
			t.Errorf("%d bytes: want %q, have %.200s", size, status, text)
		}
		if text := string(r.line("a", false)); strings.Contains(text, "status") || strings.Contains(text, "body") || !strings.HasSuffix(text, "}\n") {
			t.Errorf("begun: have %.200s", text)
		}
	}
	path := filepath.Join(t.TempDir(), RepeatsFile)
	m := idempotency{known: map[string]*repeat{"kept": {done: make(chan struct{})}}, order: []string{"kept"}}
	writes := make(chan repeatWrite)
	ended := make(chan struct{})
	go func() { defer close(ended); m.write(path, writes, func(err error) { t.Error(err) }) }()
	write := func(text string) int64 {
		done := make(chan struct{})
		writes <- repeatWrite{[]byte(text), done}
		<-done
		info, err := os.Stat(path)
		if err != nil {
			t.Fatal(err)
		}
		return info.Size()
	}
	whole := write("begun: the first write writes all that is known")
	if text, err := os.ReadFile(path); err != nil || string(text) != string(m.all()) || whole != int64(len(text)) {
		t.Errorf("want all that is known, have %s, %v", text, err)
	}
	if have := write(strings.Repeat("x", 1_000)); have != whole+1_000 {
		t.Errorf("want a line appended, have %d bytes", have)
	}
	if have := write(strings.Repeat("x", 4<<20-int(whole)-1_000)); have != 4<<20 {
		t.Errorf("want 4 MiB, have %d bytes", have)
	}
	if have := write("x"); have != whole {
		t.Errorf("want it written again, have %d bytes", have)
	}
	close(writes)
	<-ended
}

// Each failure is reported, and the next successful write contains everything.
func TestFailedIdempotencyWritesAreRetried(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "gone", RepeatsFile)
	var m idempotency
	for _, name := range []string{"a", "b", "c"} {
		m.begin(name, sha256.Sum256([]byte(name)), time.Unix(1_800_000_000, 0))
	}
	writes, ended, failures := make(chan repeatWrite), make(chan struct{}), 0
	go func() { defer close(ended); m.write(path, writes, func(error) { failures++ }) }()
	write := func() {
		done := make(chan struct{})
		writes <- repeatWrite{[]byte("a line\n"), done}
		<-done
	}
	write()
	write()
	if _, err := os.Stat(path); !errors.Is(err, os.ErrNotExist) || failures != 2 {
		t.Errorf("want two failures, have %d, %v", failures, err)
	}
	if err := os.Mkdir(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	write()
	if text, err := os.ReadFile(path); err != nil || string(text) != string(m.all()) || strings.Count(string(text), "\n") != 3 {
		t.Errorf("want all three, have %s, %v", text, err)
	}
	write()
	if text, err := os.ReadFile(path); err != nil || string(text) != string(m.all())+"a line\n" {
		t.Errorf("want a line appended, have %s, %v", text, err)
	}
	if err := os.RemoveAll(filepath.Dir(path)); err != nil {
		t.Fatal(err)
	}
	write()
	if err := os.Mkdir(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	close(writes)
	<-ended
	if text, err := os.ReadFile(path); err != nil || string(text) != string(m.all()) || failures != 3 {
		t.Errorf("at the end: want all that is known, have %s, %v, %d failures", text, err, failures)
	}
	d, directory := newDesk(t), t.TempDir()
	file := filepath.Join(directory, RepeatsFile)
	for _, spoil := range []func() error{
		func() error { return os.WriteFile(file, []byte("no change\n"), 0o600) },
		func() error { return errors.Join(os.Remove(file), os.Mkdir(file, 0o700)) },
	} {
		if err := spoil(); err != nil {
			t.Fatal(err)
		}
		if closing, err := d.server.OpenRepeats(directory, time.Now(), func(error) {}); err == nil || closing != nil {
			t.Errorf("a file that cannot be read: want an error, have %v", err)
		}
	}
}
