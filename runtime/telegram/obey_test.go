package telegram

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-telegram/bot/models"

	"botd/runtime/api/auth"
)

// answers replaces the API: it gives one answer to every call and stores the calls.
type answers struct {
	status int
	text   string
	calls  []string
	panics bool
}

func (a *answers) Call(_ context.Context, _ auth.Caller, method, path string, body any) (int, []byte) {
	if a.panics {
		panic("a fault with " + token)
	}
	text, _ := json.Marshal(body)
	a.calls = append(a.calls, strings.TrimSuffix(method+" "+path+" "+string(text), " null"))
	return a.status, []byte(a.text)
}

func (*answers) Journaled(string) bool { return false }

// quiet is a bot that does not poll, with what it counted and logged.
type quiet struct {
	*Bot
	counts map[string]int
	logged []string
}

func newQuiet(api API) *quiet {
	q := &quiet{counts: map[string]int{}}
	log := func(event, text string) { q.logged = append(q.logged, event+" "+text) }
	q.Bot = New(Config{Token: token, Operators: []int64{operator}, Viewers: []int64{viewer}, API: api, Say: log, Warn: log,
		Count: func(result string) { q.counts[result]++ }})
	return q
}

// order returns an order of the operator.
func (q *quiet) order() *order {
	return &order{bot: q.Bot, ctx: context.Background(), user: operator, caller: auth.Caller{Role: auth.Operator, From: "user 11"}}
}

// Anything else gets the help, and calls nothing.
func TestCommandsMatchHelp(t *testing.T) {
	t.Parallel()
	const halt, rearm = "POST /api/v1/risk/halt ", "POST /api/v1/risk/rearm "
	body := func(level, strategy string, dry bool) string {
		fields := []string{}
		if level != "" {
			fields = append(fields, `"level":"`+level+`"`)
		}
		if strategy != "" {
			fields = append(fields, `"strategy":"`+strategy+`"`)
		}
		fields = append(fields, `"reason":"requested on Telegram by user 11"`)
		if dry {
			fields = append(fields, `"dry_run":true`)
		}
		return "{" + strings.Join(fields, ",") + "}"
	}
	for text, want := range map[string]string{
		"/pause": halt + body("pause", "", false), "/pause one": halt + body("pause", "one", false), "/PAUSE@my_bot One": halt + body("pause", "One", false),
		"/halt pause": halt + body("pause", "", false), "/halt CANCEL one": halt + body("cancel", "one", false),
		"/halt flatten": halt + body("flatten", "", true), "/halt flatten one": halt + body("flatten", "one", true),
		"/resume": rearm + body("", "", true), "/resume one": rearm + body("", "one", true),
		"/status": "GET /api/v1/status", "  /positions  ": "GET /api/v1/positions",
		"/pause one two": "", "/halt": "", "/halt now": "", "/halt cancel one two": "", "/halt flatten one two": "", "/resume one two": "", "/status x": "",
		"/positions x": "", "/confirm": "", "/confirm 1 2": "", "/help": "", "/start": "", "/help x": "", "hello": "", "pause": "", "": "", "  ": "", "/": "",
	} {
		api := &answers{status: http.StatusOK, text: "{}"}
		reply, ok := newQuiet(api).order().obey(text)
		if strings.Join(api.calls, "; ") != want {
			t.Errorf("%q: want %q called, have %q", text, want, api.calls)
		}
		helps := strings.HasPrefix(text, "/help") || text == "/start"
		if want == "" && (reply != help || ok != helps) || want != "" && !ok {
			t.Errorf("%q: have %t, %q", text, ok, reply)
		}
	}
}

// A refusal shows the detail, or else the status.
func TestAPIRefusalIsAnswered(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		status int
		text   string
		want   string
	}{
		{http.StatusConflict, `{"title":"Conflict","detail":"botd is stopping"}`, "Not done: botd is stopping"},
		{http.StatusBadRequest, `{"title":"Bad Request"}`, "Not done: status 400."},
		{http.StatusServiceUnavailable, `{"detail":"half`, "Not done: status 503."},
		{http.StatusInternalServerError, `{"detail":7}`, "Not done: status 500."},
		{http.StatusOK, `none`, "The answer could not be read (status 200); /status shows the state."},
	} {
		for _, text := range []string{"/pause", "/halt flatten", "/resume one", "/status", "/positions"} {
			q := newQuiet(&answers{status: c.status, text: c.text})
			if reply, ok := q.order().obey(text); reply != c.want || ok || len(q.pending) != 0 {
				t.Errorf("%s, %d %s: want %q, have %t, %q", text, c.status, c.text, c.want, ok, reply)
			}
			want := []string(nil)
			if text == "/pause" {
				want = []string{"telegram.refused user 11: /api/v1/risk/halt pause : " + c.want}
			}
			if !slices.Equal(q.logged, want) {
				t.Errorf("%s, %d: want %q logged, have %q", text, c.status, want, q.logged)
			}
		}
	}
}

// halted is an API answer with so many steps and as many unreadable positions.
func halted(n int) string {
	var steps, blind []string
	for i := range n {
		steps, blind = append(steps, fmt.Sprintf(`{"text":"close %d"}`, i)), append(blind, fmt.Sprintf(`"symbol %d"`, i))
	}
	return `{"effects":["a","b"],"steps":[` + strings.Join(steps, ",") + `],"blind":[` + strings.Join(blind, ",") + `],"still_blocking":[
		{"state":"halted","cause":"a person","since":"2026-01-01T12:00:00+02:00","remedy":"botd rearm"},
		{"state":"quarantine","strategy":"one","symbol":"BTC-USDT","cause":"a fault","since":"2026-01-02T00:00:00Z","remedy":"release"}]}`
}

// A long list is cut after twelve lines, and the rest is counted.
func TestReplyListsTheStepsOfAHalt(t *testing.T) {
	t.Parallel()
	lines := func(what, of string, n int) (all []string) {
		for i := range min(n, 12) {
			all = append(all, fmt.Sprintf("%s: %s %d", what, of, i))
		}
		if n > 12 {
			all = append(all, fmt.Sprintf("and %d more", n-12))
		}
		return all
	}
	for _, n := range []int{0, 1, 12, 13, 20} {
		q := newQuiet(&answers{status: http.StatusAccepted, text: halted(n)})
		done, ok := q.order().obey("/pause one")
		want := slices.Concat([]string{"Done: a; b"}, lines("sends", "close", n), lines("cannot see or close yet", "symbol", n), []string{
			"HALTED (account) since 2026-01-01 10:00:00 UTC: a person. Remedy: botd rearm",
			"QUARANTINE (one BTC-USDT) since 2026-01-02 00:00:00 UTC: a fault. Remedy: release"})
		if !ok || done != strings.Join(want, "\n") {
			t.Errorf("%d steps: want\n%s\nhave\n%s", n, strings.Join(want, "\n"), done)
		}
		if !slices.Equal(q.logged, []string{"telegram.command user 11 (operator): a; b"}) {
			t.Errorf("want it logged with its user, have %q", q.logged)
		}
		would, ok := q.order().obey("/halt flatten")
		code := q.pending[operator].code
		want = slices.Concat([]string{"Would do: a; b"}, lines("would send", "close", n), lines("cannot see or close yet", "symbol", n),
			[]string{"Within a minute: /confirm " + code})
		if number, err := strconv.Atoi(code); !ok || would != strings.Join(want, "\n") || len(code) != 6 || err != nil || number < 0 {
			t.Errorf("%d steps: want\n%s\nhave\n%s", n, strings.Join(want, "\n"), would)
		}
	}
}

// A code works once, within a minute, for its own change; a wrong one discards it.
func TestConfirmationCodes(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		for _, c := range []struct {
			command string
			wait    time.Duration
			code    func(code string) string
			want    string
			done    string
		}{
			{"/halt flatten one", time.Minute, func(code string) string { return code }, "Done: ",
				`POST /api/v1/risk/halt {"level":"flatten","strategy":"one",`},
			{"/resume", 0, func(code string) string { return code }, "Done: ", `POST /api/v1/risk/rearm {"reason":`},
			{"/resume", 0, func(code string) string { return code + "0" }, "Not done: the code is wrong. Send the command again.", ""},
			{"/resume", time.Minute + time.Nanosecond, func(code string) string { return code },
				"Not done: the code has expired after a minute. Send the command again.", ""},
			{"/pause", 0, func(string) string { return "123456" }, "No command waits for a code. Send the command again.", ""},
		} {
			api := &answers{status: http.StatusAccepted, text: "{}"}
			q := newQuiet(api)
			q.order().obey(c.command)
			code := q.pending[operator].code
			time.Sleep(c.wait)
			api.calls = nil
			reply, ok := q.order().obey("/confirm " + c.code(code))
			if !strings.HasPrefix(reply, c.want) || ok != (c.done != "") || !strings.HasPrefix(strings.Join(api.calls, "; "), c.done) ||
				len(api.calls) > 0 != (c.done != "") {
				t.Errorf("%s after %s: want %q, have %t, %q, %q", c.command, c.wait, c.want, ok, reply, api.calls)
			}
			if again, ok := q.order().obey("/confirm 123456"); ok || !strings.HasPrefix(again, "No command waits") {
				t.Errorf("%s: a code again: have %t, %q", c.command, ok, again)
			}
		}
	})
}

// The figures are those of the API's answers.
func TestStatusAndPositionsReplies(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ command, answer, want string }{
		{"/status", `{"mode":"live","instance":"main","ready":true,"uptime_s":3661,"equity":"5000","today":{"change":"12","change_ratio":0.0125},
			"open_orders":3,"unsettled":2,"positions":1,"checks":[{"name":"clock","ok":false,"detail":"late"}],"strategies":[
			{"name":"one","state":"running","symbol":"BTC-USDT","position":"0.5","target":"0.7","last_price":"50100","state_reason":"the trend"}]}`,
			"botd main live, up 1h1m1s: ready\nequity 5000 USDT, today 12 (1.25 %), 3 orders, 2 unsettled, 1 positions\n" +
				"one running: 0.5 BTC-USDT, target 0.7, last 50100. the trend"},
		{"/status", `{"mode":"paper","instance":"i","ready":false,"checks":[{"name":"a","ok":false,"detail":"x"},{"name":"b","ok":true,"detail":"y"},
			{"name":"c","ok":false,"detail":"z"}],"degraded":[{"state":"blind","symbol":"BTC-USDT","cause":"no answer","since":"2026-01-01T00:00:00Z",
			"remedy":"it ends"}]}`,
			"botd i paper, up 0s: NOT READY; a: x; c: z\nequity unknown, today unknown, 0 orders, 0 unsettled, 0 positions\n" +
				"BLIND (BTC-USDT) since 2026-01-01 00:00:00 UTC: no answer. Remedy: it ends"},
		{"/positions", `{"items":[]}`, "No open positions."},
		{"/positions", `{"items":[{"strategy":"one","market":"futures","symbol":"BTC-USDT","quantity":"0.5","entry_price":"50000","last_price":"50100",
			"unrealized":"50","protected":true},{"strategy":"two","market":"spot","symbol":"ETH-USDT","quantity":"2","entry_price":"2500",
			"last_price":"2400","unrealized":"-200","quarantine":"odd"}]}`,
			"one futures 0.5 BTC-USDT at 50000, last 50100, unrealized 50\n" +
				"two spot 2 ETH-USDT at 2500, last 2400, unrealized -200, no stop on the exchange, QUARANTINED: odd"},
	} {
		if reply, ok := newQuiet(&answers{status: http.StatusOK, text: c.answer}).order().obey(c.command); !ok || reply != c.want {
			t.Errorf("%s: want\n%s\nhave\n%s", c.command, c.want, reply)
		}
	}
}

// An update that cannot be read keeps its number, and everything else of an answer is left out.
func TestPollAnswerIsReduced(t *testing.T) {
	t.Parallel()
	const typedText = `{"message_id":7,"date":9,"text":"/pause","from":{"id":11},"chat":{"id":11,"type":"private"}}`
	for _, c := range []struct {
		answer, cleaned string
		held            int
		after           time.Duration
		err             string
	}{
		{`{"ok":true,"result":[]}`, `{"ok":true,"result":[]}`, 0, 0, ""},
		{`{"ok":true,"result":[{"update_id":5,"message":{"message_id":7,"date":9,"text":"/pause","from":{"id":11,"first_name":"A"},
			"chat":{"id":11,"type":"private","title":"x"},"reply_markup":{}}}]}`,
			`{"ok":true,"result":[{"update_id":5,"message":` + typedText + `}]}`, 1, 0, ""},
		{`{"ok":true,"result":[{"update_id":5,"message":{"message_id":7,"edit_date":9,"from":{"id":11},"chat":{}}},{"update_id":6,"poll":{}}]}`,
			`{"ok":true,"result":[{"update_id":5},{"update_id":6}]}`, 2, 0, ""},
		{`{"ok":true,"result":[{"update_id":8,"message":"x"},{"update_id":"x"},7,null,{}]}`, `{"ok":true,"result":[{"update_id":8}]}`, 1, 0, ""},
		{`{"ok":false,"error_code":429,"description":"Too Many Requests","parameters":{"retry_after":3}}`, "", 0, 3 * time.Second, "429 Too Many Requests"},
		{`<html>`, "", 0, 0, "the answer does not come from Telegram"},
	} {
		cleaned, held, after, err := clean([]byte(c.answer))
		if string(cleaned) != c.cleaned || held != c.held || after != c.after || (err == nil) != (c.err == "") || err != nil && err.Error() != c.err {
			t.Errorf("%s: want %s, %d, %s, %q, have %s, %d, %s, %v", c.answer, c.cleaned, c.held, c.after, c.err, cleaned, held, after, err)
		}
	}
}

// The pause doubles up to a minute, a required wait is respected up to ten minutes, and a success ends it.
func TestPollPausesGrowWithFailures(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		q := newQuiet(nil)
		for i, c := range []struct {
			err         error
			after, rest time.Duration
			want        time.Duration
			logged      string
		}{
			{nil, 0, time.Second, time.Second, ""},
			{errors.New("a"), 0, 0, time.Second, "telegram.failed commands cannot be read; retrying, trading is not affected: a"},
			{errors.New("b"), 0, 0, 2 * time.Second, ""}, {errors.New("b"), 5 * time.Second, 0, 5 * time.Second, ""},
			{errors.New("b"), time.Hour, 0, 10 * time.Minute, ""}, {errors.New("b"), 0, 0, 16 * time.Second, ""}, {errors.New("b"), 0, 0, 32 * time.Second, ""},
			{errors.New("b"), 0, 0, time.Minute, ""}, {errors.New("b"), 0, 0, time.Minute, ""},
			{nil, 0, 100 * time.Millisecond, 100 * time.Millisecond, "telegram.works commands are read again"}, {nil, 0, -time.Second, 0, ""},
			{errors.New("c"), 0, 0, time.Second, "telegram.failed commands cannot be read; retrying, trading is not affected: c"},
		} {
			q.logged = nil
			q.transport.ended(c.err, c.after, c.rest)
			began := time.Now()
			if err := q.transport.wait(t.Context()); err != nil || time.Since(began) != c.want || strings.Join(q.logged, "; ") != c.logged {
				t.Errorf("poll %d: want a pause of %s and %q, have %s, %q, %v", i, c.want, c.logged, time.Since(began), q.logged, err)
			}
		}
		if q.counts[Unread] != 9 {
			t.Errorf("want each failure counted, have %v", q.counts)
		}
		q.transport.ended(errors.New("d"), time.Hour, 0)
		ended, end := context.WithTimeout(t.Context(), time.Second)
		defer end()
		if err := q.transport.wait(ended); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("want the wait ended with its context, have %v", err)
		}
	})
}

// typedMessage returns an update with an operator's message that is so old.
func typedMessage(number int64, text string, ago time.Duration) *models.Update {
	return &models.Update{ID: number, Message: &models.Message{Date: int(time.Now().Add(-ago).Unix()), Text: text, From: &models.User{ID: operator},
		Chat: models.Chat{ID: operator}}}
}

// The reply to an old message shows both times.
func TestMessageIsObeyedOnceWithinTwoMinutes(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		for ago, result := range map[time.Duration]string{0: Done, 2 * time.Minute: Done, -2 * time.Minute: Done, 121 * time.Second: Old,
			-121 * time.Second: Old} {
			api := &answers{status: http.StatusOK, text: "{}"}
			q := newQuiet(api)
			q.handle(t.Context(), nil, typedMessage(5, "/pause", ago))
			q.handle(t.Context(), nil, typedMessage(5, "/pause", ago))
			want := map[string]int{result: 1, Repeated: 1}
			if fmt.Sprint(q.counts) != fmt.Sprint(want) || len(api.calls) != map[string]int{Done: 1}[result] {
				t.Errorf("%s old: want %v, have %v, %q", ago, want, q.counts, api.calls)
			}
			reply := <-q.replies
			if old := fmt.Sprintf("Not obeyed: by this machine's clock your message of %s UTC was sent %s ago. Send it again if you still mean it.",
				time.Now().Add(-ago).UTC().Format(time.TimeOnly), ago); reply.chat != operator || (reply.text == old) != (result == Old) {
				t.Errorf("%s old: have %+v", ago, reply)
			}
		}
		q := newQuiet(&answers{panics: true})
		q.handle(t.Context(), nil, typedMessage(6, "/pause", 0))
		if len(q.logged) != 1 || !strings.HasPrefix(q.logged[0], "telegram.failed a message could not be handled: a fault with ") ||
			strings.Contains(q.logged[0], token) {
			t.Errorf("a fault: want it logged without the token, have %q", q.logged)
		}
		for _, none := range []*models.Update{nil, {}, {Message: &models.Message{}}} {
			q.handle(t.Context(), nil, none)
		}
		q.handle(t.Context(), nil, typedMessage(7, "hello", 0))
		if fmt.Sprint(q.counts) != fmt.Sprint(map[string]int{Refused: 1}) {
			t.Errorf("want the help counted as refused, have %v", q.counts)
		}
	})
}

// A line a minute is enough to find the number, and a flood of messages fills no disk.
func TestUnlistedUsersAreLoggedOnceAMinute(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		q := newQuiet(nil)
		for _, c := range []struct {
			after      time.Duration
			user, chat int64
			want       string
		}{
			{0, 33, 33, "telegram.stranger user 33 is not listed under telegram; no answer is given"}, {time.Second, 34, 34, ""},
			{58999 * time.Millisecond, 35, 35, ""},
			{time.Millisecond, 36, -5, "telegram.stranger user 36 wrote in the group -5: only private chats are read; no answer is given"},
		} {
			time.Sleep(c.after)
			q.logged = nil
			if q.unlisted(c.user, c.chat); strings.Join(q.logged, "; ") != c.want {
				t.Errorf("user %d: want %q, have %q", c.user, c.want, q.logged)
			}
		}
		if q.counts[Unlisted] != 4 {
			t.Errorf("want each counted, have %v", q.counts)
		}
	})
}

// The oldest hundred are forgotten first.
func TestThousandUpdatesAreRemembered(t *testing.T) {
	t.Parallel()
	q := newQuiet(nil)
	for i := range int64(1_000) {
		if q.again(i) {
			t.Fatalf("update %d: want it new", i)
		}
	}
	for _, id := range []int64{0, 99, 100, 999} {
		if !q.again(id) {
			t.Errorf("update %d: want it known", id)
		}
	}
	if q.again(1_000) || !q.again(100) || !q.again(1_000) || q.again(0) {
		t.Errorf("want the oldest hundred forgotten, have %d", len(q.seen))
	}
}

// Replies beyond the pace or the queue are left out and counted.
func TestRepliesAreBounded(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		q := newQuiet(nil)
		for range replyBurst + 1 {
			q.answer(operator, "x")
		}
		if len(q.replies) != 8 || q.counts[Unsent] != 1 {
			t.Errorf("want eight at once, have %d, %v", len(q.replies), q.counts)
		}
		q.answer(viewer, "x") // each user has a pace of its own
		time.Sleep(1999 * time.Millisecond)
		q.answer(operator, "x")
		time.Sleep(time.Millisecond)
		q.answer(operator, "x")
		if len(q.replies) != 10 || q.counts[Unsent] != 2 {
			t.Errorf("want one more after two seconds, have %d, %v", len(q.replies), q.counts)
		}
		for user := range int64(30) {
			q.answer(100+user, "x")
		}
		if len(q.replies) != 32 || q.counts[Unsent] != 10 {
			t.Errorf("want 32 to wait, have %d, %v", len(q.replies), q.counts)
		}
		for text, want := range map[string]string{strings.Repeat("x", 3_500): strings.Repeat("x", 3_500),
			strings.Repeat("x", 3_501):       strings.Repeat("x", 3_500) + "…",
			strings.Repeat("x", 3_499) + "é": strings.Repeat("x", 3_499) + "…"} {
			cut := newQuiet(nil)
			if cut.answer(operator, text); (<-cut.replies).text != want {
				t.Errorf("%d bytes: want them cut to %d", len(text), len(want))
			}
		}
	})
}

// A failure is logged once, until a reply is sent again.
func TestUnsentRepliesAreCounted(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		q := newQuiet(nil)
		fails, sent := true, 0
		q.transport.client.Transport = wire(func(r *http.Request) (*http.Response, error) {
			_, _ = io.Copy(io.Discard, r.Body)
			if sent++; fails {
				return nil, errors.New("refused by https://x.example/bot" + token)
			}
			return &http.Response{StatusCode: 200, Request: r, Body: io.NopCloser(strings.NewReader(
				`{"ok":true,"result":{"message_id":1,"date":1,"chat":{"id":1,"type":"private"}}}`))}, nil
		})
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan struct{})
		go func() { defer close(ended); q.send(ctx) }()
		for i, c := range []struct {
			fails  bool
			unsent int
			logged int
		}{{true, 1, 1}, {true, 2, 1}, {false, 2, 1}, {true, 3, 2}} {
			fails = c.fails
			q.replies <- reply{operator, "x"}
			synctest.Wait()
			if q.counts[Unsent] != c.unsent || len(q.logged) != c.logged || sent != i+1 {
				t.Errorf("reply %d: want %d unsent and %d lines, have %v, %q, %d sent", i+1, c.unsent, c.logged, q.counts, q.logged, sent)
			}
		}
		if strings.Contains(strings.Join(q.logged, ""), token) || !strings.HasPrefix(q.logged[0], "telegram.failed a reply could not be sent: ") {
			t.Errorf("want it logged without the token, have %q", q.logged)
		}
		cancel()
		<-ended
	})
}

// It is cut after 200 bytes, and neither an address nor any part of the token is in it.
func TestErrorsContainNoSecrets(t *testing.T) {
	t.Parallel()
	l := newQuiet(nil).transport
	for text, want := range map[string]string{
		"plain": "plain", "Get \"https://a.example/bot1:x\": refused": "Get \"(address)\": refused", "a " + token + " b": "a (hidden) b",
		"the secret AACANARYcanary-CANARY_canary1234567 alone": "the secret (hidden) alone", "number 123456789": "number 123456789",
		strings.Repeat("x", 200): strings.Repeat("x", 200), strings.Repeat("x", 201): strings.Repeat("x", 200) + "…",
		strings.Repeat("x", 199) + "é": strings.Repeat("x", 199) + "…",
	} {
		if have := l.hide(errors.New(text)); have != want {
			t.Errorf("%s: want %q, have %q", text, want, have)
		}
	}
}
