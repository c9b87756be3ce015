package telegram

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"regexp"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"botd/runtime/api"
	"botd/runtime/api/auth"
)

// These are the people of the tests.
const (
	operator = 11
	viewer   = 22
	guest    = 33
)

// office replaces the API: it stores its calls.
type office struct {
	mu    sync.Mutex // guards all below
	calls []string   // "role id METHOD path body"
	known map[string]bool
}

func (o *office) Call(_ context.Context, caller auth.Caller, method, path string, body any) (int, []byte) {
	o.mu.Lock()
	defer o.mu.Unlock()
	text, _ := json.Marshal(body)
	o.calls = append(o.calls, fmt.Sprintf("%s %s %s %s %s %s", caller.Role, caller.By, caller.From, method, path, text))
	var asked api.HaltRequest
	_ = json.Unmarshal(text, &asked)
	switch {
	case method == http.MethodPost && caller.Role < auth.Operator:
		return http.StatusForbidden, []byte(`{"title":"Forbidden","detail":"a viewer may look, and change nothing"}`)
	case asked.Strategy == "trnd":
		return http.StatusNotFound, []byte(`{"title":"Not Found","detail":"there is no strategy \"trnd\" (there are: trend): nothing was changed"}`)
	case method == http.MethodPost:
		what := asked.Level.String()
		if what == "" {
			what = "rearm"
		}
		return http.StatusAccepted, []byte(
			fmt.Sprintf(`{"schema":1,"dry_run":%t,"effects":["%s it all"],"steps":[{"text":"close 0.5 by market"}],"still_blocking":[]}`, asked.DryRun, what),
		)
	case path == "/api/v1/positions":
		return http.StatusOK, []byte(
			`{"items":[{"strategy":"trend","market":"futures","symbol":"BTC-USDT","quantity":"0.5","entry_price":"50000",
				"last_price":"50100","unrealized":"50"}]}`,
		)
	}
	return http.StatusOK, []byte(
		`{"mode":"paper","instance":"main","ready":false,"equity":"5000","checks":[{"name":"market_data","ok":false,"detail":"stale"}],
			"today":{"change":"-3","change_ratio":-0.0006},
		"degraded":[{"state":"blind","scope":"account","cause":"no answer","since":"2026-01-01T00:00:00Z","remedy":"it ends"}],
			"strategies":[{"name":"trend","state":"running","symbol":"BTC-USDT","position":"0.5","target":"0.5","last_price":"50100"}]}`,
	)
}

func (o *office) Journaled(id string) bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.known[id]
}

// changes returns the changing calls.
func (o *office) changes() (all []string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	for _, call := range o.calls {
		if strings.Contains(call, " POST ") && !strings.Contains(call, `"dry_run":true`) {
			all = append(all, call)
		}
	}
	return all
}

// desk is a running bot on a fake Telegram.
type desk struct {
	t      *testing.T
	fake   *fake
	office *office

	mu     sync.Mutex // guards all below
	counts map[string]int
	logged []string
}

func open(t *testing.T) *desk {
	d := &desk{t: t, fake: newFake(t), office: &office{known: map[string]bool{}}, counts: map[string]int{}}
	d.start(d.fake.http.URL)
	return d
}

// start runs a bot until the test ends, or stop is called.
func (d *desk) start(server string) (stop func()) {
	b := New(Config{Token: token, Server: server, Operators: []int64{operator}, Viewers: []int64{viewer}, API: d.office,
		Count: func(result string) { d.mu.Lock(); d.counts[result]++; d.mu.Unlock() }, Say: d.log, Warn: d.log})
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() { defer close(done); b.Run(ctx) }()
	stop = sync.OnceFunc(func() {
		cancel()
		select {
		case <-done:
		case <-time.After(10 * time.Second):
			d.t.Error("the bot does not end within 10 s")
		}
	})
	d.t.Cleanup(stop)
	return stop
}

func (d *desk) log(event, text string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.logged = append(d.logged, event+" "+text)
}

func (d *desk) story() string {
	d.mu.Lock()
	defer d.mu.Unlock()
	return strings.Join(d.logged, "\n")
}

func (d *desk) counted(want map[string]int) {
	d.t.Helper()
	late := time.Now().Add(10 * time.Second)
	for {
		d.mu.Lock()
		have := maps.Clone(d.counts)
		d.mu.Unlock()
		if maps.Equal(have, want) {
			return
		}
		if time.Now().After(late) {
			d.t.Fatalf("want counts %v, have %v", want, have)
		}
		<-time.After(5 * time.Millisecond)
	}
}

func (d *desk) wantChanges(want ...string) {
	d.t.Helper()
	have := d.office.changes()
	if len(have) != len(want) {
		d.t.Fatalf("want %d changes, have %q", len(want), have)
	}
	for i := range want {
		if have[i] != want[i] {
			d.t.Errorf("change %d: want %s, have %s", i, want[i], have[i])
		}
	}
}

const halting = `operator telegram user 11 POST /api/v1/risk/halt `

func TestAnOperatorPausesAtOnceAndGetsAReply(t *testing.T) {
	t.Parallel()
	d := open(t)
	d.fake.write(operator, "/pause", 0)
	if have := d.fake.answered(1); have != "11 Done: pause it all\nsends: close 0.5 by market" {
		t.Errorf("want what was done, have %q", have)
	}
	d.fake.write(operator, "/Halt@my_bot CANCEL trend", 0)
	d.fake.answered(2)
	d.wantChanges(halting+`{"level":"pause","reason":"requested on Telegram by user 11"}`,
		halting+`{"level":"cancel","strategy":"trend","reason":"requested on Telegram by user 11"}`)
	if have := d.story(); !strings.Contains(have, "telegram.command user 11 (operator): pause it all") {
		t.Errorf("want it logged, have %s", have)
	}
}

func TestQuestionsAreAnsweredShortly(t *testing.T) {
	t.Parallel()
	d := open(t)
	d.fake.write(viewer, "/status", 0)
	for _, want := range []string{"22 botd main paper", "NOT READY; market_data: stale", "BLIND (account) since 2026-01-01 00:00:00 UTC: no answer",
		"today -3 (-0.06 %)", "trend running: 0.5 BTC-USDT"} {
		if have := d.fake.answered(1); !strings.Contains(have, want) {
			t.Errorf("status: want %q, have %q", want, have)
		}
	}
	d.fake.write(viewer, "/positions", 0)
	if have := d.fake.answered(2); !strings.Contains(have, "trend futures 0.5 BTC-USDT at 50000, last 50100, unrealized 50, no stop on the "+
		"exchange") {
		t.Errorf("positions: have %q", have)
	}
	for i, text := range []string{"hello", "/halt", "/halt now", "/pause trend please", "/status x", "/confirm", ""} {
		d.fake.write(viewer, text, 0)
		if i == 5 {
			break // beyond the rate limit
		}
		if have := d.fake.answered(3 + i); have != "22 "+help {
			t.Errorf("%q: want the help, have %q", text, have)
		}
	}
	d.wantChanges()
}

func TestViewersAndUnknownNamesAreRefused(t *testing.T) {
	t.Parallel()
	d := open(t)
	d.fake.write(viewer, "/pause", 0)
	if have := d.fake.answered(1); have != "22 Not done: a viewer may look, and change nothing" {
		t.Errorf("have %q", have)
	}
	d.fake.write(operator, "/pause trnd", 0)
	if have := d.fake.answered(2); !strings.Contains(have, `Not done: there is no strategy "trnd"`) {
		t.Errorf("have %q", have)
	}
	d.counted(map[string]int{Refused: 2})
}

func TestUnlistedUserGetsNoAnswer(t *testing.T) {
	t.Parallel()
	d := open(t)
	for range 50 {
		d.fake.write(guest, "/halt flatten", 0)
	}
	// The messages are of a listed user in a group, where others read along; of a bot; and without a sender.
	now := time.Now().Unix()
	d.fake.push(fmt.Sprintf(`{"update_id":%%d,"message":{"message_id":7,"date":%d,"text":"/pause","from":{"id":11},"chat":{"id":-500,"type":"group"}}}`,
		now))
	d.fake.push(
		fmt.Sprintf(
			`{"update_id":%%d,"message":{"message_id":7,"date":%d,"text":"/pause","from":{"id":11,"is_bot":true},"chat":{"id":11,"type":"private"}}}`,
			now,
		),
	)
	d.fake.push(fmt.Sprintf(`{"update_id":%%d,"message":{"message_id":7,"date":%d,"text":"/pause","chat":{"id":11,"type":"private"}}}`, now))
	d.counted(map[string]int{Unlisted: 52})
	d.fake.write(viewer, "/status", 0)
	d.fake.answered(1)
	if have := d.fake.replies(); len(have) != 1 {
		t.Errorf("want the viewer's answer alone, have %q", have)
	}
	if have := d.story(); strings.Count(have, "telegram.stranger") != 1 || !strings.Contains(have, "user 33 is not listed") {
		t.Errorf("want one line with the number, have %s", have)
	}
	d.wantChanges()
}

func TestAMessageThatItsSenderDidNotTypeIsIgnored(t *testing.T) {
	t.Parallel()
	d := open(t)
	for _, field := range []string{
		`"forward_origin":{"type":"user","date":1,"sender_user":{"id":33}}`, `"forward_date":1`, `"forward_from":{"id":33}`, `"forward_sender_name":"a"`,
		`"edit_date":1`, `"via_bot":{"id":5,"is_bot":true}`, `"sender_chat":{"id":-1}`, `"sender_business_bot":{"id":5}`, `"is_automatic_forward":true`,
	} {
		d.fake.push(fmt.Sprintf(`{"update_id":%%d,"message":{"message_id":7,"date":%d,"text":"/pause","from":{"id":11},"chat":{"id":11,"type":"private"},%s}}`,
			time.Now().Unix(), field))
	}
	d.fake.push(fmt.Sprintf(`{"update_id":%%d,"edited_message":{"message_id":7,"date":%d,"text":"/pause","from":{"id":11},"chat":{"id":11,"type":"private"}}}`,
		time.Now().Unix()))
	d.fake.write(viewer, "/status", 0)
	d.fake.answered(1)
	if have := d.fake.replies(); len(have) != 1 {
		t.Errorf("want the viewer's answer alone, have %q", have)
	}
	d.wantChanges()
}

func TestOldMessageIsRefusedWithAnswer(t *testing.T) {
	t.Parallel()
	d := open(t)
	d.fake.write(operator, "/halt cancel", 3*time.Minute)
	if have := d.fake.answered(1); !strings.Contains(have, "Not obeyed") || !strings.Contains(have, "ago") {
		t.Errorf("have %q", have)
	}
	d.fake.write(operator, "/halt cancel", -3*time.Minute) // a wrong clock
	d.fake.answered(2)
	d.wantChanges()
	d.fake.write(operator, "/halt cancel", time.Minute)
	d.fake.answered(3)
	d.wantChanges(halting + `{"level":"cancel","reason":"requested on Telegram by user 11"}`)
	d.counted(map[string]int{Old: 2, Done: 1})
}

func TestRedeliveredCommandIsNotRepeated(t *testing.T) {
	t.Parallel()
	f := newFake(t)
	d := &desk{t: t, fake: f, office: &office{known: map[string]bool{"telegram-1000": true}}, counts: map[string]int{}}
	f.write(operator, "/pause", 0) // number 1000: the journal contains it from the previous run
	f.write(operator, "/halt cancel", 0)
	f.pushAgain()
	d.start(f.http.URL)
	f.answered(1)
	d.counted(map[string]int{Repeated: 2, Done: 1})
	d.wantChanges(halting + `{"level":"cancel","reason":"requested on Telegram by user 11"}`)
}

func TestFlattenAndResumeWaitForTheirCode(t *testing.T) {
	t.Parallel()
	d := open(t)
	codes := regexp.MustCompile(`/confirm (\d{6})`)
	d.fake.write(operator, "/halt flatten", 0)
	preview := d.fake.answered(1)
	if !strings.Contains(preview, "Would do: flatten it all\nwould send: close 0.5 by market") {
		t.Errorf("want a preview, have %q", preview)
	}
	code := codes.FindStringSubmatch(preview)[1]
	d.fake.write(viewer, "/confirm "+code, 0)
	if have := d.fake.answered(2); !strings.Contains(have, "No command waits") {
		t.Errorf("another user's code: have %q", have)
	}
	d.wantChanges()
	d.fake.write(operator, "/confirm "+code, 0)
	d.fake.answered(3)
	d.wantChanges(halting + `{"level":"flatten","reason":"requested on Telegram by user 11"}`)
	d.fake.write(operator, "/confirm "+code, 0)
	if have := d.fake.answered(4); !strings.Contains(have, "No command waits") {
		t.Errorf("a code again: have %q", have)
	}
	d.fake.write(operator, "/resume", 0)
	code = codes.FindStringSubmatch(d.fake.answered(5))[1]
	d.fake.write(operator, "/confirm x"+code, 0)
	if have := d.fake.answered(6); !strings.Contains(have, "the code is wrong") {
		t.Errorf("a wrong code: have %q", have)
	}
	d.fake.write(operator, "/confirm "+code, 0)
	if have := d.fake.answered(7); !strings.Contains(have, "No command waits") {
		t.Errorf("the right one after a wrong one: have %q", have)
	}
	d.wantChanges(halting + `{"level":"flatten","reason":"requested on Telegram by user 11"}`)
}

func TestACodeIsGoodForAMinute(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		office := &office{}
		b := New(Config{Token: token, Operators: []int64{operator}, API: office, Say: func(string, string) {}, Warn: func(string, string) {}})
		o := order{bot: b, ctx: t.Context(), user: operator, caller: auth.Caller{Role: auth.Operator}}
		for _, c := range []struct {
			wait time.Duration
			done int
		}{{time.Minute, 1}, {time.Minute + time.Second, 1}} {
			if _, ok := o.obey("/resume"); !ok {
				t.Fatal("want a code")
			}
			time.Sleep(c.wait)
			o.obey("/confirm " + b.pending[operator].code)
			if have := len(office.changes()); have != c.done {
				t.Errorf("after %s: want %d changes, have %d", c.wait, c.done, have)
			}
		}
	})
}

func TestRepliesKeepAPaceAndHaltsDoNot(t *testing.T) {
	t.Parallel()
	d := open(t)
	for range 40 {
		d.fake.write(operator, "/pause", 0)
	}
	d.fake.answered(replyBurst)
	late := time.Now().Add(20 * time.Second)
	for len(d.office.changes()) < 40 && time.Now().Before(late) {
		<-time.After(5 * time.Millisecond)
	}
	if have := len(d.office.changes()); have != 40 {
		t.Errorf("want every pause handed on, have %d", have)
	}
	if have := len(d.fake.replies()); have > 2*replyBurst {
		t.Errorf("want replies at their pace, have %d", have)
	}
}

func TestCommandsSurviveMalformedUpdates(t *testing.T) {
	t.Parallel()
	huge := strings.Repeat("x", maxAnswer)
	for name, body := range map[string]string{
		"null":       `{"ok":true,"result":[null,1,"x",[],{}]}`,
		"no json":    `<html>502 Bad Gateway</html>`,
		"empty":      ``,
		"huge":       `{"ok":true,"result":[],"x":"` + huge + `"}`,
		"wrong kind": `{"ok":true,"result":[{"update_id":999,"message":{"message_id":"x","date":"y","from":[],"chat":7}}]}`,
		"new kind": `{"ok":true,"result":[{"update_id":999,"message":{"message_id":1,"date":1,"chat":{"id":11,"type":"private"},
			"from":{"id":33},"forward_origin":{"type":"from_the_future"},"reply_markup":5}}]}`,
		"not ok": `{"ok":false,"error_code":500,"description":"Internal Server Error"}`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newFake(t)
			once := sync.OnceValue(func() bool { return true })
			var served sync.Once
			f.strange = func(w http.ResponseWriter, r *http.Request) (done bool) {
				served.Do(func() { fmt.Fprint(w, body); done = once() })
				return done
			}
			d := &desk{t: t, fake: f, office: &office{}, counts: map[string]int{}}
			d.start(f.http.URL)
			f.write(operator, "/pause", 0)
			f.answered(1)
			d.wantChanges(halting + `{"level":"pause","reason":"requested on Telegram by user 11"}`)
		})
	}
}

func TestErrorsOmitToken(t *testing.T) {
	t.Parallel()
	stopped, elsewhere := newFake(t), newFake(t)
	stopped.http.Close()
	elsewhere.strange = func(_ http.ResponseWriter, r *http.Request) bool {
		t.Errorf("the token goes to another server: %s", r.URL)
		return false
	}
	for name, strange := range map[string]func(w http.ResponseWriter, r *http.Request) bool{
		"echo": func(w http.ResponseWriter, r *http.Request) bool {
			fmt.Fprintf(w, `{"ok":false,"error_code":401,"description":"Unauthorized: %s %s"}`, r.URL, token)
			return true
		},
		"redirect": func(w http.ResponseWriter, r *http.Request) bool {
			http.Redirect(w, r, elsewhere.http.URL+r.URL.Path, http.StatusFound)
			return true
		},
		"cut off": func(http.ResponseWriter, *http.Request) bool { panic(http.ErrAbortHandler) },
		"gone":    nil,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newFake(t)
			f.strange = strange
			server := f.http.URL
			if strange == nil {
				server = stopped.http.URL
			}
			d := &desk{t: t, fake: f, office: &office{}, counts: map[string]int{}}
			stop := d.start(server)
			late := time.Now().Add(10 * time.Second)
			for !strings.Contains(d.story(), "telegram.failed") && time.Now().Before(late) {
				<-time.After(5 * time.Millisecond)
			}
			stop()
			have := d.story()
			if strings.Count(have, "telegram.failed") != 1 {
				t.Errorf("want one line, have %q", have)
			}
			if strings.Contains(strings.ToLower(have), "canary") || strings.Contains(have, "123456789") {
				t.Errorf("the token is exposed: %q", have)
			}
		})
	}
}

// wire is the test's own transport.
type wire func(*http.Request) (*http.Response, error)

func (w wire) RoundTrip(r *http.Request) (*http.Response, error) { return w(r) }

func TestPollingBacksOffAfterFailures(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, body string
		most       int // maximum number of polls in ten minutes
	}{
		{"refused connections", "", 16},
		{"asked to wait for two minutes", `{"ok":false,"error_code":429,"description":"Too Many Requests","parameters":{"retry_after":120}}`, 6},
		{"asked to wait forever", `{"ok":false,"error_code":429,"parameters":{"retry_after":99999999}}`, 2},
		{"answers that come at once", `{"ok":true,"result":[]}`, 601},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				var polls int
				var logged []string
				log := func(event, _ string) { logged = append(logged, event) }
				b := New(Config{Token: token, Say: log, Warn: log, Count: func(string) {}})
				b.transport.client.Transport = wire(func(r *http.Request) (*http.Response, error) {
					if strings.HasSuffix(r.URL.Path, "/getUpdates") {
						polls++
					}
					_, _ = io.Copy(io.Discard, r.Body)
					if c.body == "" {
						return nil, errors.New("connection refused")
					}
					return &http.Response{StatusCode: 200, Body: io.NopCloser(strings.NewReader(c.body)), Request: r}, nil
				})
				ctx, cancel := context.WithTimeout(t.Context(), 10*time.Minute)
				defer cancel()
				b.Run(ctx)
				if polls == 0 || polls > c.most {
					t.Errorf("want at most %d polls in ten minutes, have %d", c.most, polls)
				}
				if len(logged) > 1 {
					t.Errorf("want it logged once, have %q", logged)
				}
			})
		})
	}
}
