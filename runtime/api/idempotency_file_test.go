package api

import (
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

func keyed(key string) func(*http.Request) {
	return func(r *http.Request) {
		bearer(testToken)(r)
		r.Header.Set("Idempotency-Key", key)
	}
}

// opened is a desk whose idempotency file is in a directory.
func opened(t *testing.T, directory string) (d *desk, closing func()) {
	t.Helper()
	d = newDesk(t)
	closing, err := d.server.OpenRepeats(directory, time.Now(), func(err error) { t.Error(err) })
	if err != nil {
		t.Fatal(err)
	}
	return d, closing
}

// TestAChangeIsDoneOnceOverARestart requests a change under a key, restarts, and requests it again. The
// answer is the earlier one, and nothing is done.
func TestAChangeIsDoneOnceOverARestart(t *testing.T) {
	t.Parallel()
	const path, body = "/api/v1/risk/halt", `{"level":"pause","reason":"a test"}`
	directory := t.TempDir()
	d, closing := opened(t, directory)
	code, first := d.ask(http.MethodPost, path, body, keyed("one"))
	if code != http.StatusOK && code != http.StatusAccepted {
		t.Fatalf("want it done, have %d %s", code, first)
	}
	closing()
	file := filepath.Join(directory, RepeatsFile)
	if info, err := os.Stat(file); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("want a file of mode 0600, have %v, %v", info, err)
	}
	for _, key := range []string{"two", "three"} { // the file is rewritten at the first change of each run
		d, closing = opened(t, directory)
		again, second := d.ask(http.MethodPost, path, body, keyed("one"))
		if again != code || second != first {
			t.Errorf("after a restart: want %d %s again, have %d %s", code, first, again, second)
		}
		if done := len(d.sent); done != 0 {
			t.Errorf("after a restart: want nothing done, have %d events", done)
		}
		if other, answer := d.ask(http.MethodPost, path, strings.Replace(body, "pause", "cancel", 1), keyed("one")); other != http.StatusUnprocessableEntity {
			t.Errorf("another request under the key: want it refused, have %d %s", other, answer)
		}
		if next, answer := d.ask(http.MethodPost, path, body, keyed(key)); next != code {
			t.Errorf("another key: want it done, have %d %s", next, answer)
		}
		closing()
	}
}

// TestAChangeThatWasBegunBeforeARestartIsNotDoneAgain ends after a change was started and before it was
// answered, with a torn last line.
func TestAChangeThatWasBegunBeforeARestartIsNotDoneAgain(t *testing.T) {
	t.Parallel()
	const path, body = "/api/v1/risk/halt", `{"level":"pause","reason":"a test"}`
	directory := t.TempDir()
	d, closing := opened(t, directory)
	if code, text := d.ask(http.MethodPost, path, body, keyed("one")); code != http.StatusOK && code != http.StatusAccepted {
		t.Fatalf("%d %s", code, text)
	}
	closing()
	file := filepath.Join(directory, RepeatsFile)
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.SplitAfter(strings.TrimSpace(string(text))+"\n", "\n")
	var begun string
	for _, line := range lines {
		if strings.Contains(line, `"status"`) {
			begun, _, _ = strings.Cut(line, `,"status"`)
			begun += "}\n"
		}
	}
	if err := os.WriteFile(file, []byte(begun+`{"name":"torn`), 0o600); err != nil {
		t.Fatal(err)
	}
	d, closing = opened(t, directory)
	defer closing()
	if code, answer := d.ask(http.MethodPost, path, body, keyed("one")); code != http.StatusConflict || !strings.Contains(answer, "unanswered") {
		t.Errorf("want an uncertain outcome reported, have %d %s", code, answer)
	}
}
