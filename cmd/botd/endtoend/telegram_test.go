package endtoend

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"
)

// canaryTelegram has the form of Telegram's bot tokens.
const canaryTelegram = "123456789:AACANARYtelegram-CANARY_telegram123"

// messenger is Telegram for a daemon under test. A daemon that starts gets every message again, confirmed or
// not.
type messenger struct {
	address string

	mu       sync.Mutex // guards all below
	messages []string
	sent     []string
}

func newMessenger(t *testing.T) *messenger {
	m := &messenger{}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_ = r.ParseMultipartForm(1 << 20) // a form without fields is valid, too
		m.mu.Lock()
		defer m.mu.Unlock()
		switch r.URL.Path {
		case "/bot" + canaryTelegram + "/getUpdates":
			var offset int
			_, _ = fmt.Sscan(r.FormValue("offset"), &offset)
			if offset > len(m.messages) {
				fmt.Fprint(w, `{"ok":true,"result":[]}`)
				return
			}
			fmt.Fprintf(w, `{"ok":true,"result":[%s]}`, strings.Join(m.messages[max(0, offset-1):], ","))
		case "/bot" + canaryTelegram + "/sendMessage":
			m.sent = append(m.sent, r.FormValue("text"))
			fmt.Fprint(w, `{"ok":true,"result":{"message_id":1,"date":1,"chat":{"id":1,"type":"private"}}}`)
		default:
			w.WriteHeader(http.StatusNotFound)
			fmt.Fprint(w, `{"ok":false,"error_code":404,"description":"Not Found"}`)
		}
	}))
	t.Cleanup(server.Close)
	m.address = server.URL
	return m
}

func (m *messenger) write(user int, text string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.messages = append(
		m.messages,
		fmt.Sprintf(`{"update_id":%d,"message":{"message_id":1,"date":%d,"text":%q,"from":{"id":%d},"chat":{"id":%d,"type":"private"}}}`,
			len(m.messages)+1, time.Now().Unix(), text, user, user),
	)
}

// replied reports whether a reply contained a text.
func (m *messenger) replied(part string) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return strings.Contains(strings.Join(m.sent, "\n"), part)
}

// TestAPauseByTelegramIsAuditedAndNotRepeatedByARestart has Telegram pause a real daemon, rearms it, kills
// it, and delivers the pause to the next one again.
func TestAPauseByTelegramIsAuditedAndNotRepeatedByARestart(t *testing.T) {
	t.Parallel()
	directory, telegram := t.TempDir(), newMessenger(t)
	binary := self(t)
	write(t, filepath.Join(directory, "telegram-token"), canaryTelegram)
	write(t, filepath.Join(directory, "configs", "botd.yaml"), fmt.Sprintf("mode: demo\ntelegram: {token_file: telegram-token, operators: "+
		"[11], viewers: [22], server: %q}\n", telegram.address))
	write(t, filepath.Join(directory, "configs", "strategies", "hold.yaml"), "name: hold\nstrategy: buy_and_hold\nmarket: spot\nsymbol: "+
		"SOL-USDT\ninterval: 1m\nsize: {quote: 100}\n")
	run := func(verb ...string) string {
		t.Helper()
		command := exec.Command(binary, verb...)
		command.Dir = directory
		text, err := command.CombinedOutput()
		if err != nil {
			t.Fatalf("botd %v: %v: %s", verb, err, text)
		}
		return string(text)
	}
	first := start(t, binary, directory)
	first.until(t, "daemon.reconciled")
	telegram.write(22, "/status")
	eventually(t, "the viewer's answer", func() bool { return telegram.replied("botd main demo") })
	telegram.write(22, "/pause")
	eventually(t, "a refusal", func() bool { return telegram.replied("a viewer can only read, not change or run anything") })
	telegram.write(11, "/pause")
	first.until(t, "trading.halted")
	eventually(t, "what was done", func() bool { return telegram.replied("Done: halt the account") })
	if have := run("status"); !strings.Contains(have, "HALTED (pause): requested on Telegram by user 11") {
		t.Errorf("status: want it halted by whom, have %s", have)
	}
	run("rearm", "--reason", "it was a drill")
	if err := first.process.Kill(); err != nil {
		t.Fatal(err)
	}
	first.wait()

	second := start(t, binary, directory)
	second.until(t, "daemon.reconciled")
	telegram.write(11, "/positions") // after the repeated messages
	eventually(t, "open positions", func() bool { return telegram.replied("SOL-USDT") || telegram.replied("Nothing is held") })
	if have := run("status"); strings.Contains(have, "HALTED") {
		t.Errorf("after the restart: want it armed as it was left, have %s", have)
	}
	type entry struct {
		Actor, Role, From string
		RequestID         string `json:"request_id"`
	}
	var audit []entry
	for line := range strings.Lines(run("journal", "export", "--kind", "audit")) {
		audit = append(audit, entry{})
		if err := json.Unmarshal([]byte(line), &audit[len(audit)-1]); err != nil {
			t.Fatalf("%s: %v", line, err)
		}
	}
	by := 0
	for _, a := range audit {
		if a.Actor == "telegram" {
			by++
			if a.Role != "operator" || a.From != "user 11" || a.RequestID != "telegram-3" {
				t.Errorf("audit: want the operator and the message's number, have %+v", a)
			}
		}
	}
	if by != 1 {
		t.Errorf("want one change by Telegram in the journal, have %d of %d", by, len(audit))
	}
	if err := second.process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	second.until(t, "daemon.stopped")
	if err := second.wait(); err != nil {
		t.Errorf("a clean stop with a poll under way: have %v", err)
	}
}
