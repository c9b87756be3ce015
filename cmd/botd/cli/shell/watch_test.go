package shell

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/spf13/cobra"

	"botd/internal/failure"
)

// TestWatchWithoutATerminal runs on virtual time. A show fails where its text is "failed".
func TestWatchWithoutATerminal(t *testing.T) {
	t.Parallel()
	_, end := resizes() // starts the goroutine of os/signal outside the bubble
	end()
	ended := &failure.Signal{Signal: syscall.SIGINT}
	for _, c := range []struct {
		name          string
		every         time.Duration
		shows         []string
		cause         error // ends the context during the last show
		out, messages string
		took          time.Duration
		code          int // 0 for no error
	}{
		{"once", 0, []string{"a"}, nil, "a", "", 0, 0},
		{"once, failing", 0, []string{"failed"}, nil, "", "", 0, 70},
		{"too often", 249 * time.Millisecond, nil, nil, "", "", 0, 64},
		{"as often as possible", 250 * time.Millisecond, []string{"a", "b", "c"}, ended, "abc", "", 500 * time.Millisecond, 130},
		{"until the program ends it", time.Minute, []string{"a", "b"}, context.Canceled, "ab", "", time.Minute, 0},
		{"failing at first", time.Second, []string{"failed"}, nil, "", "", 0, 70},
		{"failing later", time.Second, []string{"a", "failed", "b", "failed"}, ended, "ab", "failed\nfailed\n", 3 * time.Second, 130},
	} {
		synctest.Test(t, func(t *testing.T) {
			var out, messages bytes.Buffer
			ctx, cancel := context.WithCancelCause(t.Context())
			defer cancel(nil)
			command := &cobra.Command{}
			command.SetContext(ctx)
			command.SetOut(&out)
			command.SetErr(&messages)
			began, shown := time.Now(), 0
			err := Watch(command, c.every, func(w io.Writer) error {
				text := c.shows[shown]
				if shown++; shown == len(c.shows) && c.cause != nil {
					cancel(c.cause)
				}
				if text == "failed" {
					return errors.New("failed")
				}
				_, err := io.WriteString(w, text)
				return err
			})
			if took := time.Since(began); shown != len(c.shows) || out.String() != c.out || messages.String() != c.messages || took != c.took {
				t.Errorf("%s: want %q and %q in %s, have %q and %q in %s", c.name, c.out, c.messages, c.took, out.String(), messages.String(), took)
			}
			if (err == nil) != (c.code == 0) || err != nil && failure.CodeOf(err) != c.code {
				t.Errorf("%s: want exit code %d, have %v", c.name, c.code, err)
			}
			if c.code == 64 && err != nil && err.Error() != "--watch 249ms: at least 250ms" {
				t.Errorf("%s: want the least interval, have %v", c.name, err)
			}
		})
	}
}

func TestAWatchWhoseOutputFailsEnds(t *testing.T) {
	t.Parallel()
	command := &cobra.Command{}
	command.SetContext(t.Context())
	command.SetOut(full{})
	err := Watch(command, time.Hour, func(w io.Writer) error {
		fmt.Fprintln(w, "a")
		return nil
	})
	if failure.CodeOf(err) != 74 || !strings.Contains(err.Error(), "no space left") {
		t.Errorf("want exit code 74, have %v", err)
	}
}

func TestWatchAloneIsTwoSeconds(t *testing.T) {
	t.Parallel()
	for line, want := range map[string]time.Duration{"": 0, "--watch": 2 * time.Second, "--watch=5s": 5 * time.Second} {
		var every time.Duration
		command := &cobra.Command{Use: "x", RunE: doNothing}
		WatchFlag(command, &every)
		command.SetArgs(strings.Fields(line))
		if err := command.Execute(); err != nil || every != want {
			t.Errorf("%q: want %s, have %s, %v", line, want, every, err)
		}
	}
}
