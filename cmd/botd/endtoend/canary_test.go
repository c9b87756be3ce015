package endtoend

import (
	"archive/tar"
	"bufio"
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"

	"botd/internal/failure"
	"botd/runtime/support"
)

// These are canaries: a key and a secret that only their files may contain.
const (
	canaryKey    = "CANARY/KEY+0123456789"
	canarySecret = `CANARY"SECRET\9876543210`
	canarySignal = "CANARYsignal0123456789CANARYsignal"
	canaryTopic  = "CANARYtopic0123456789"
	canaryUser   = "CANARYuser0123456789"
	canaryWord   = "CANARYword0123456789"
)

// TestNoCanaryIsInAnySink runs a live daemon of real processes, lets it trade and crash, and searches
// everything that was written for its key, secret and tokens.
func TestNoCanaryIsInAnySink(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	address, err := freeAddress()
	if err != nil {
		t.Fatal(err)
	}
	p.file("key", canaryKey, 0o600)
	p.file("secret", canarySecret+"\n", 0o600)
	p.file("wrong", canarySecret+"WRONG", 0o600)
	p.file("venue/accounts.yaml", "'"+canaryKey+"':\n  secret: '"+canarySecret+"'\n", 0o600)
	p.file("signal-token", canarySignal, 0o600)
	p.file("telegram-token", canaryTelegram, 0o600)
	p.file("channel", "ntfy://"+canaryUser+":"+canaryWord+"@"+refusing(t)+"/"+canaryTopic+"?scheme=http", 0o600)
	_, venue := p.start("venue", "exchange", "--listen", address, "--accounts", "venue/accounts.yaml", "--market", "random")
	venue.wait(t, "listens on")
	for _, c := range []string{"configs", "wrong-secret"} {
		secret := map[string]string{"configs": "secret", "wrong-secret": "wrong"}[c]
		p.run(failure.OK, "init", c, "--mode", "live", "--base-url", "http://"+address, "--key-file", "key", "--secret-file", secret, "--strategy",
			"accumulate", "--strategy", "trend")
	}
	p.append("configs/botd.yaml", "signals: {listen: 127.0.0.1:0, token_file: signal-token}\nnotify: {every: 1s, channels: {desk: "+
		"{url_file: channel, least: info}}}\n"+"telegram: {token_file: telegram-token, operators: [11], server: 'http://"+refusing(t)+"'}\n")
	p.run(failure.Negative, "notify", "test")
	p.run(failure.Credentials, "run", "-c", "wrong-secret", "--mode", "live", "--listen", "off")
	p.run(failure.Negative, "doctor", "-c", "wrong-secret")
	daemon, log := p.start("log and crash", "run", "--mode", "live", "--listen", "127.0.0.1:0", "--log-format", "json")
	log.wait(t, `"order.settled"`)
	p.run(failure.OK, "log-level", "debug")
	log.wait(t, `"telegram.failed"`)
	log.wait(t, `"reconcile.round"`) // at level debug
	p.signals(log.String())

	for _, verb := range [][]string{{"status"}, {"orders"}, {"intents"}, {"positions"}, {"limits"}, {"config", "show", "--effective"},
		{"config", "show"}, {"journal", "export"}, {"check"}} {
		p.run(failure.OK, verb...)
	}
	p.run(failure.Negative, "doctor") // the exchange's clock is the test's, far from this machine's
	bundle := strings.TrimSpace(p.run(failure.OK, "support", "--out", "bundle.tar.gz"))
	names := p.unpack(filepath.Join(p.directory, strings.TrimSpace(strings.Split(bundle, "\n")[len(strings.Split(bundle, "\n"))-1])))
	for _, want := range []string{"version.json", "doctor.json", "config.yaml", "journal-live.json", "journal-live.jsonl", "daemon-status.json",
		"daemon-logs.json", "daemon-risk-limits.json", "daemon-metrics.txt"} {
		if !strings.Contains(names, "/"+want) {
			t.Errorf("bundle: want %s, have %s", want, names)
		}
	}

	if err := daemon.Process.Signal(syscall.SIGQUIT); err != nil { // as a crash: every goroutine's stack
		t.Fatal(err)
	}
	log.wait(t, "SIGQUIT")
	daemon.Wait() // its exit code is the signal's
	if have := log.String(); !strings.Contains(have, "goroutine 1 ") {
		t.Errorf("a crash: want the stacks of all goroutines, have %s", have)
	}
	p.sinks["log and crash"] = log.String()
	p.sinks["venue"] = venue.String()
	p.scan()
}

// refusing returns the address of a service that repeats the whole request in its refusal: the worst possible
// content of an error.
func refusing(t *testing.T) string {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body) // as much as arrived
		http.Error(w, fmt.Sprintf("no such thing: %s %v %s", r.URL, r.Header, body), http.StatusForbidden)
	}))
	t.Cleanup(server.Close)
	return strings.TrimPrefix(server.URL, "http://")
}

// signals sends some with a wrong token, in the body and in wrong places, and saves the answers.
func (p *place) signals(log string) {
	p.t.Helper()
	at := regexp.MustCompile(`signals   (http://\S+?)"`).FindStringSubmatch(log)
	if at == nil {
		p.t.Fatalf("want the address of signals logged: %s", log)
	}
	for i, body := range []string{`{"token":"` + canarySignal + `","strategy":"nobody","target":"1"}`, `{"token":"` + canarySignal, canarySignal} {
		response, err := http.Post(at[1], "application/json", strings.NewReader(body))
		if err != nil {
			p.t.Fatal(err)
		}
		text, err := io.ReadAll(response.Body)
		if err = errors.Join(err, response.Body.Close()); err != nil || len(text) == 0 {
			p.t.Errorf("signal %d: want an answer, have %v", i, err)
		}
		p.sinks[fmt.Sprintf("answer to signal %d", i)] = string(text)
	}
}

// unpack adds a bundle's files to the sinks and returns their names.
func (p *place) unpack(path string) (names string) {
	p.t.Helper()
	file, err := os.Open(path)
	if err != nil {
		p.t.Fatal(err)
	}
	defer file.Close()
	packed, err := gzip.NewReader(bufio.NewReader(file))
	if err != nil {
		p.t.Fatal(err)
	}
	for archive := tar.NewReader(packed); ; {
		header, err := archive.Next()
		if errors.Is(err, io.EOF) {
			return names
		}
		if err != nil {
			p.t.Fatal(err)
		}
		text, err := io.ReadAll(archive)
		if err != nil {
			p.t.Fatal(err)
		}
		names += header.Name + "\n"
		p.sinks["bundle "+header.Name] = string(text)
	}
}

// scan searches every sink and every file but those that contain secrets.
func (p *place) scan() {
	p.t.Helper()
	var forbidden []string
	for _, secret := range []string{canaryKey, canarySecret, canarySignal, canaryTelegram, strings.Split(canaryTelegram, ":")[1], canaryTopic,
		canaryUser, canaryWord} {
		forbidden = append(forbidden, support.Encodings(secret)...)
	}
	err := filepath.WalkDir(p.directory, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || !entry.Type().IsRegular() {
			return err
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		switch name := entry.Name(); name {
		case "token", "token-viewer":
			forbidden = append(forbidden, support.Encodings(strings.TrimSpace(string(text)))...)
		case "key", "secret", "wrong", "accounts.yaml", "signal-token", "telegram-token", "channel":
		default:
			p.sinks[path] = string(text)
		}
		return nil
	})
	if err != nil {
		p.t.Fatal(err)
	}
	if len(forbidden) < 12 || len(p.sinks) < 30 {
		p.t.Errorf("want some secrets and many sinks, have %d and %d", len(forbidden), len(p.sinks))
	}
	for where, text := range p.sinks {
		for _, secret := range forbidden {
			if strings.Contains(text, secret) {
				p.t.Errorf("%s holds %q", where, secret)
			}
		}
	}
}

// TestBundleRedactsSecretsInEveryForm removes secrets from texts that contain them in every form.
func TestBundleRedactsSecretsInEveryForm(t *testing.T) {
	t.Parallel()
	b := &support.Bundle{}
	for _, secret := range []string{canaryKey, canarySecret, canarySecret + "LONGER"} {
		b.Secrets = append(support.Encodings(secret), b.Secrets...)
	}
	for i, form := range b.Secrets {
		b.Add("leak", []byte("before "+form+" after "+form+" end"))
		if have := b.Redact("x" + form + "y"); strings.Contains(have, form) {
			t.Errorf("form %d %q: still there in %q", i, form, have)
		}
	}
	var packed bytes.Buffer
	if err := b.Pack(&packed); err != nil {
		t.Fatal(err)
	}
	if b.Redacted < 2*len(b.Files) {
		t.Errorf("secrets taken out: want at least %d, have %d", 2*len(b.Files), b.Redacted)
	}
}
