package api

import (
	"net/http"
	"testing"
	"time"

	"botd/internal/disk/disktest"
)

// TestEachFileCallOfTheAnswersFails makes three changes, each under a key, and requests all of them again from the next daemon.
func TestEachFileCallOfTheAnswersFails(t *testing.T) {
	t.Parallel()
	const path, body = "/api/v1/risk/halt", `{"level":"pause","reason":"a test"}`
	disktest.EachCallFails(t, func(directory string, reported func(error)) {
		begin := func() (d *desk, closing func()) {
			d = newDesk(t)
			closing, err := d.server.OpenRepeats(directory, time.Now(), reported)
			if err != nil {
				reported(err)
				closing, err = d.server.OpenRepeats(directory, time.Now(), reported)
			}
			if err != nil {
				t.Fatal(err)
			}
			return d, closing
		}
		keys, answers := []string{"one", "two", "three"}, map[string]string{}
		d, closing := begin()
		for _, key := range keys {
			code, text := d.ask(http.MethodPost, path, body, keyed(key))
			if code/100 != 2 {
				t.Fatalf("%d %s", code, text)
			}
			answers[key] = text
		}
		closing()
		d, closing = begin()
		for _, key := range keys {
			if code, have := d.ask(http.MethodPost, path, body, keyed(key)); code/100 != 2 || have != answers[key] || len(d.sent) > 0 {
				t.Errorf("the key %s: want %s again, have %d %s, done %d times", key, answers[key], code, have, len(d.sent))
			}
		}
		closing()
	})
}
