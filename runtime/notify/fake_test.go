package notify

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"net/http/httptest"
	"net/mail"
	"os"
	"strings"
	"sync"
	"testing"
	"time"
	"unicode/utf16"
	"unicode/utf8"
)

// hosts answers the requests to a messaging service by its fake; the key is host and path.
type hosts struct {
	fakes  sync.Map
	others http.RoundTripper
}

func (h *hosts) RoundTrip(r *http.Request) (*http.Response, error) {
	fake, known := h.fakes.Load(r.URL.Host + r.URL.Path)
	if !known && !strings.HasPrefix(r.URL.Host, "127.0.0.1") {
		return nil, errors.New("no test reaches a real service")
	} else if !known {
		return h.others.RoundTrip(r)
	}
	answer := httptest.NewRecorder()
	fake.(http.HandlerFunc)(answer, r)
	return answer.Result(), nil
}

var services = &hosts{others: http.DefaultTransport}

func TestMain(m *testing.M) {
	http.DefaultTransport = services
	os.Exit(m.Run())
}

// posted is a request to a service.
type posted struct {
	header http.Header
	fields map[string]any
}

// fake answers at an address as a service does, and passes its requests on.
func fake(t *testing.T, address, answer string, status int) <-chan posted {
	t.Helper()
	got := make(chan posted, 8)
	services.fakes.Store(address, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		text, err := io.ReadAll(r.Body)
		p := posted{header: r.Header}
		if err := errors.Join(err, json.Unmarshal(text, &p.fields)); err != nil || r.Method != http.MethodPost {
			t.Errorf("%s: want a JSON object posted, have %s %s: %v", address, r.Method, text, err)
		}
		got <- p
		w.WriteHeader(status)
		fmt.Fprint(w, answer)
	}))
	t.Cleanup(func() { services.fakes.Delete(address) })
	return got
}

// full is the longest possible message, with characters that are special to a service, and characters of two and four
// bytes.
func full() message {
	var d digest
	for i := range 30 {
		event := Event{At: time.UnixMilli(0), Severity: Warning, Name: "x", Text: fmt.Sprintf("%02d <!channel> @everyone a&b *x* _y_ `z` ü😀 %s", i,
			strings.Repeat("ä", 40))}
		for range 12 {
			d.add(event)
		}
	}
	return d.message("botd main (live)")
}

// fewFields fails if a service received an undocumented field.
func (p posted) fewFields(t *testing.T, known ...string) {
	t.Helper()
	for _, name := range known {
		delete(p.fields, name)
	}
	if len(p.fields) > 0 {
		t.Errorf("want no other fields, have %v", p.fields)
	}
}

func send(t *testing.T, address string, m message) {
	t.Helper()
	s, err := Open(address)
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Send(m.subject, m.text); err != nil {
		t.Fatal(err)
	}
}

// Slack: an incoming webhook accepts text of 40,000 characters and 100 attachments; &, < and > are written as
// entities (https://docs.slack.dev/messaging/formatting-message-text).
func TestSlackMessagesRespectItsLimits(t *testing.T) {
	t.Parallel()
	m := full()
	got := fake(t, "hooks.slack.com/services/AAAAAAAAA/BBBBBBBBB/123456789123456789123456", "ok", http.StatusOK)
	send(t, "slack://hook:AAAAAAAAA-BBBBBBBBB-123456789123456789123456@webhook", m)
	p := <-got
	plain := strings.NewReplacer("&lt;", "<", "&gt;", ">", "&amp;", "&")
	if have, _ := p.fields["text"].(string); plain.Replace(have) != m.subject {
		t.Errorf("want the subject as text, which a phone shows: %q, have %q", m.subject, have)
	}
	var lines []string
	attachments, _ := p.fields["attachments"].([]any)
	for _, a := range attachments {
		one, _ := a.(map[string]any)
		text, _ := one["text"].(string)
		if strings.ContainsAny(text, "<>") || strings.Count(text, "&") != strings.Count(text, "&amp;")+strings.Count(text, "&lt;")+strings.Count(text, "&gt;") {
			t.Errorf("want no mention and no link, have %q", text)
		}
		lines = append(lines, plain.Replace(text))
	}
	if have := strings.Join(lines, "\n"); have != m.text || len(attachments) > 100 {
		t.Errorf("want each line, have %d attachments\n%s", len(attachments), have)
	}
	p.fewFields(t, "text", "attachments", "username", "icon_emoji", "icon_url")
}

// Discord: a webhook accepts 10 embeds, with up to 256 characters in a title, 4,096 in a description, and 6,000 in total; an
// embed mentions nobody (https://discord.com/developers/docs/resources/message#embed-object-embed-limits).
func TestDiscordMessagesRespectItsLimits(t *testing.T) {
	t.Parallel()
	m := full()
	got := fake(t, "discord.com/api/webhooks/12345/token", "", http.StatusNoContent)
	send(t, "discord://token@12345", m)
	p := <-got
	embeds, _ := p.fields["embeds"].([]any)
	sum, text := 0, ""
	for i, e := range embeds {
		one, _ := e.(map[string]any)
		title, _ := one["title"].(string)
		description, _ := one["description"].(string)
		if i == 0 && title != m.subject || utf8.RuneCountInString(title) > 256 || utf8.RuneCountInString(description) > 4_096 || description == "" {
			t.Errorf("embed %d: want the subject and a text within bounds, have %q, %q", i, title, description)
		}
		sum += utf8.RuneCountInString(title) + utf8.RuneCountInString(description)
		text += description
	}
	words := func(s string) string { return strings.Join(strings.Fields(s), "") }
	if len(embeds) == 0 || len(embeds) > 10 || sum > 6_000 || words(text) != words(m.text) {
		t.Errorf("want each line within 10 embeds and 6,000 characters, have %d and %d\n%s", len(embeds), sum, text)
	}
	p.fewFields(t, "embeds", "username", "avatar_url")
}

// Telegram: sendMessage accepts a text of 4,096 characters, as UTF-16 counts them
// (https://core.telegram.org/bots/api#sendmessage).
func TestTelegramMessagesRespectItsLimits(t *testing.T) {
	t.Parallel()
	m := full()
	const token = "123456789:AbCdEfGhIjKlMnOpQrStUvWxYz012345678"
	got := fake(t, "api.telegram.org/bot"+token+"/sendMessage", `{"ok": true, "result": {"message_id": 1, "chat": {"id": 42}}}`, http.StatusOK)
	send(t, "telegram://"+token+"@telegram?chats=42", m)
	p := <-got
	if text, _ := p.fields["text"].(string); text != m.text || len(utf16.Encode([]rune(text))) > 4_096 {
		t.Errorf("want the text within 4,096 characters, have %d: %s", len(text), text)
	}
	if chat, mode := p.fields["chat_id"], p.fields["parse_mode"]; chat != "42" || mode != nil {
		t.Errorf("want plain text to chat 42, have %v to %v", mode, chat)
	}
	p.fewFields(t, "text", "chat_id", "disable_web_page_preview", "disable_notification", "reply_to_message_id")
}

// A generic webhook with template=json gets title and message (docs/configuration.md).
func TestAWebhookIsSentTitleAndMessage(t *testing.T) {
	t.Parallel()
	m := full()
	got := make(chan posted, 8)
	server := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		p := posted{header: r.Header}
		if err := json.NewDecoder(r.Body).Decode(&p.fields); err != nil {
			t.Error(err)
		}
		got <- p
	}))
	defer server.Close()
	send(t, "generic://"+strings.TrimPrefix(server.URL, "http://")+"/hook?disabletls=yes&template=json", m)
	p := <-got
	if p.fields["title"] != m.subject || p.fields["message"] != m.text || p.header.Get("Content-Type") != "application/json" {
		t.Errorf("want the subject and the text, have %v", p)
	}
	p.fewFields(t, "title", "message")
}

// A mail has ASCII headers (RFC 5322, 2.2; RFC 2047) and lines of at most 998 characters (RFC 5322, 2.1.1).
func TestAMailIsOneThatServersTake(t *testing.T) {
	t.Parallel()
	m := full()
	m.subject += " ü…"
	address, sent := mailServer(t)
	send(t, "smtp://"+address+"/?from=botd@example.com&to=me@example.com&auth=None&encryption=None&usestarttls=no", m)
	_, data, _ := strings.Cut(<-sent, "DATA\n")
	read, err := mail.ReadMessage(strings.NewReader(strings.TrimSuffix(data, ".\n")))
	if err != nil {
		t.Fatal(err)
	}
	subject := read.Header.Get("Subject")
	decoded, err := new(mime.WordDecoder).DecodeHeader(subject)
	if err != nil || decoded != m.subject || strings.ContainsFunc(subject, func(r rune) bool { return r > 126 || r < 32 }) {
		t.Errorf("want %q as ASCII, have %q: %v", m.subject, subject, err)
	}
	body, err := io.ReadAll(read.Body)
	if have := strings.TrimSpace(string(body)); err != nil || have != m.text {
		t.Errorf("want the text, have %v\n%s", err, have)
	}
	for line := range strings.Lines(data) {
		if len(line) > 998 {
			t.Errorf("want no line of more than 998 bytes, have %d", len(line))
		}
	}
	for _, name := range []string{"From", "To", "Date", "Content-Type"} {
		if read.Header.Get(name) == "" {
			t.Errorf("want %s, have none", name)
		}
	}
}
