package telegram

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"sync"
	"time"
)

// Limits of the transport.
const (
	maxAnswer   = 1 << 20 // bytes
	maxReason   = 200     // bytes of Telegram's description of an error
	firstPause  = time.Second
	busyPause   = 100 * time.Millisecond // after an answer with content
	longestWait = time.Minute
)

// transport is the transport that the Telegram library uses. It limits the size of answers, passes on only
// the needed fields of a message, waits after failures as long as Telegram requests, and removes the
// token, which is part of every address, from errors.
type transport struct {
	client    *http.Client
	secrets   []string
	say, warn func(event, text string)
	count     func(result string)

	mu       sync.Mutex // guards all below
	notUntil time.Time  // of the next poll
	pause    time.Duration
	failing  bool
}

func newTransport(config *Config) *transport {
	var roundTripper http.RoundTripper = &http.Transport{Proxy: http.ProxyFromEnvironment, ForceAttemptHTTP2: true, MaxIdleConns: 4,
		IdleConnTimeout: 90 * time.Second, TLSHandshakeTimeout: 10 * time.Second, ResponseHeaderTimeout: pollFor + 10*time.Second}
	if config.Transport != nil {
		roundTripper = config.Transport
	}
	l := &transport{say: config.Say, warn: config.Warn, count: config.Count, client: &http.Client{Transport: roundTripper, Timeout: pollFor + 15*time.Second,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}} // the token must not be sent to another address
	_, secret, _ := strings.Cut(config.Token, ":")
	for _, part := range []string{config.Token, secret} {
		if part != "" {
			l.secrets = append(l.secrets, part, url.PathEscape(part), url.QueryEscape(part))
		}
	}
	return l
}

// addresses matches addresses, which contain the token.
var addresses = regexp.MustCompile(`[a-zA-Z][a-zA-Z0-9+.-]*://[^\s"']+`)

// hide returns an error's text without the token and without any address.
func (l *transport) hide(err error) string {
	text := addresses.ReplaceAllString(err.Error(), "(address)")
	for _, secret := range l.secrets {
		text = strings.ReplaceAll(text, secret, "(hidden)")
	}
	if len(text) > maxReason {
		text = strings.ToValidUTF8(text[:maxReason], "") + "…"
	}
	return text
}

// Do sends one request. The library calls it.
func (l *transport) Do(request *http.Request) (*http.Response, error) {
	polls := strings.HasSuffix(request.URL.Path, "/getUpdates")
	if polls {
		if err := l.wait(request.Context()); err != nil {
			return nil, err
		}
	}
	began := time.Now()
	response, text, err := l.exchange(request)
	if !polls {
		return response, err
	}
	pause, held, after := firstPause, 0, time.Duration(0)
	if err == nil {
		text, held, after, err = clean(text)
		response.Body = io.NopCloser(bytes.NewReader(text))
	}
	if held > 0 {
		pause = busyPause
	}
	if request.Context().Err() == nil {
		l.ended(err, after, pause-time.Since(began))
	}
	if err != nil {
		return nil, errors.New(l.hide(err))
	}
	return response, nil
}

// exchange sends a request and reads the complete answer.
func (l *transport) exchange(request *http.Request) (*http.Response, []byte, error) {
	response, err := l.client.Do(request)
	if err != nil {
		if request.Context().Err() != nil {
			return nil, nil, context.Cause(request.Context())
		}
		return nil, nil, errors.New(l.hide(err))
	}
	defer response.Body.Close()
	text, err := io.ReadAll(io.LimitReader(response.Body, maxAnswer+1))
	switch {
	case err != nil:
		return nil, nil, errors.New(l.hide(err))
	case len(text) > maxAnswer:
		return nil, nil, fmt.Errorf("an answer is longer than %d bytes", maxAnswer)
	}
	response.Body = io.NopCloser(bytes.NewReader(text))
	return response, text, nil
}

// wait limits the pace of polls.
func (l *transport) wait(ctx context.Context) error {
	l.mu.Lock()
	wait := time.Until(l.notUntil)
	l.mu.Unlock()
	if wait <= 0 {
		return nil
	}
	select {
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-time.After(wait):
		return nil
	}
}

// ended records how a poll ended. The next poll waits longer after each consecutive failure, at least as
// long as Telegram requires, and only briefly after an immediate answer.
func (l *transport) ended(err error, after, rest time.Duration) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if err == nil {
		l.notUntil = time.Now().Add(rest)
		if l.failing {
			l.say("telegram.works", "commands are read again")
		}
		l.pause, l.failing = 0, false
		return
	}
	l.count(Unread)
	l.pause = min(max(firstPause, 2*l.pause), longestWait)
	l.notUntil = time.Now().Add(max(l.pause, min(after, 10*longestWait)))
	if !l.failing {
		l.warn("telegram.failed", "commands cannot be read; retrying, trading is not affected: "+l.hide(err))
	}
	l.failing = true
}

// message holds the needed fields of a message. Other fields do not reach the library.
type message struct {
	ID   int64  `json:"message_id"`
	Date int64  `json:"date"`
	Text string `json:"text,omitempty"`
	From *struct {
		ID  int64 `json:"id"`
		Bot bool  `json:"is_bot,omitempty"`
	} `json:"from,omitempty"`
	Chat struct {
		ID   int64  `json:"id"`
		Type string `json:"type"`
	} `json:"chat"`
}

// notTyped are the fields of a message that its sender did not type: a forwarded or edited message, or
// one that a bot or a channel sent in the sender's name.
type notTyped struct {
	Origin      any `json:"forward_origin"`
	Forwarded   any `json:"forward_date"`
	From        any `json:"forward_from"`
	Chat        any `json:"forward_from_chat"`
	Name        any `json:"forward_sender_name"`
	Automatic   any `json:"is_automatic_forward"`
	Edited      any `json:"edit_date"`
	Via         any `json:"via_bot"`
	Sender      any `json:"sender_chat"`
	BusinessBot any `json:"sender_business_bot"`
	Offline     any `json:"is_from_offline"`
}

// typed reports whether the sender of an update's message typed it.
func typed(raw []byte) bool {
	var update struct {
		Message notTyped `json:"message"`
	}
	return json.Unmarshal(raw, &update) == nil && update.Message == notTyped{}
}

type update struct {
	ID      int64    `json:"update_id"`
	Message *message `json:"message,omitempty"`
}

// clean checks a poll's answer and encodes it again. An update that cannot be read keeps only its
// number, so that Telegram does not deliver it forever.
func clean(text []byte) (cleaned []byte, held int, after time.Duration, err error) {
	var answer struct {
		OK          bool              `json:"ok"`
		Result      []json.RawMessage `json:"result"`
		Code        int               `json:"error_code"`
		Description string            `json:"description"`
		Parameters  struct {
			RetryAfter int `json:"retry_after"`
		} `json:"parameters"`
	}
	if err := json.Unmarshal(text, &answer); err != nil {
		return nil, 0, 0, errors.New("the answer does not come from Telegram")
	}
	if !answer.OK {
		return nil, 0, time.Duration(answer.Parameters.RetryAfter) * time.Second, fmt.Errorf("%d %s", answer.Code, answer.Description)
	}
	updates := []update{}
	for _, raw := range answer.Result {
		var one update
		if json.Unmarshal(raw, &one) != nil {
			one = update{}
			var id struct {
				ID int64 `json:"update_id"`
			}
			if json.Unmarshal(raw, &id) != nil {
				continue
			}
			one.ID = id.ID
		}
		if !typed(raw) {
			one.Message = nil
		}
		if one.ID != 0 {
			updates = append(updates, one)
		}
	}
	cleaned, err = json.Marshal(map[string]any{"ok": true, "result": updates})
	return cleaned, len(updates), 0, err
}
