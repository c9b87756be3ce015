package endtoend

import (
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"regexp"
	"strings"
	"sync"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"botd/internal/startclock"
)

// hook starts a web server that appends each body to a file; its address is set as HOOK.
func hook(script *testscript.TestScript, _ bool, files []string) {
	path := script.MkAbs(files[0])
	script.Check(os.WriteFile(path, nil, 0o600))
	var mu sync.Mutex // one body after the other
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		text, err := io.ReadAll(r.Body)
		mu.Lock()
		defer mu.Unlock()
		file, opened := os.OpenFile(path, os.O_APPEND|os.O_WRONLY, 0o600)
		if err = errors.Join(err, opened); err == nil {
			_, err = fmt.Fprintf(file, "%s\n", text)
			err = errors.Join(err, file.Close())
		}
		if err != nil {
			http.Error(w, err.Error(), http.StatusInternalServerError)
		}
	}))
	script.Defer(server.Close)
	script.Setenv("HOOK", strings.TrimPrefix(server.URL, "http://"))
}

// address writes one line to a file of mode 600.
func address(script *testscript.TestScript, _ bool, words []string) {
	script.Check(os.WriteFile(script.MkAbs(words[0]), []byte(words[1]+"\n"), 0o600))
}

// within waits until a condition holds, or fails.
func within(script *testscript.TestScript, what string, so func() bool) {
	late, again := time.After(30*time.Second), time.NewTicker(10*time.Millisecond)
	defer again.Stop()
	for !so() {
		select {
		case <-again.C:
		case <-late:
			script.Fatalf("not within 30 s: %s", what)
		}
	}
}

// connected waits until a program started by a script listens on a unix socket.
func connected(script *testscript.TestScript, _ bool, paths []string) {
	within(script, paths[0]+" listens", func() bool {
		connection, err := net.Dial("unix", script.MkAbs(paths[0]))
		if err == nil {
			connection.Close()
		}
		return err == nil
	})
}

// loggedWithin waits until a file contains a text.
func loggedWithin(script *testscript.TestScript, _ bool, words []string) {
	pattern := regexp.MustCompile(words[0])
	within(script, words[1]+" holds "+words[0], func() bool {
		text, err := os.ReadFile(script.MkAbs(words[1]))
		return err == nil && pattern.Match(text)
	})
}

// posted sends a file's text to an address, with @NOW replaced by the exchange's start time and @KEY by the
// values of KEY=VALUE, until the answer has the expected status; it must match a pattern.
//
//	post ADDRESS FILE STATUS PATTERN [KEY=VALUE...]
func posted(script *testscript.TestScript, _ bool, words []string) {
	text := script.ReadFile(words[1])
	for _, pair := range append(words[4:], "NOW="+startclock.Text()) {
		key, value, _ := strings.Cut(pair, "=")
		text = strings.ReplaceAll(text, "@"+key, value)
	}
	var answer string
	within(script, words[2]+" is answered", func() bool {
		response, err := http.Post(words[0], "application/json", strings.NewReader(text))
		if err != nil {
			return false
		}
		defer response.Body.Close()
		content, err := io.ReadAll(response.Body)
		answer = response.Status + " " + string(content)
		if err == nil && response.StatusCode == http.StatusServiceUnavailable && words[2] != "503" {
			return false // it has no price yet
		}
		return true
	})
	script.Logf("%s", answer)
	if !strings.HasPrefix(answer, words[2]) || !regexp.MustCompile(words[3]).MatchString(answer) {
		script.Fatalf("want %s %s, have %s", words[2], words[3], answer)
	}
}

// askedUntil runs botd until its output matches a pattern, or with ! until it does not; the named groups are set in
// the environment.
//
//	asked PATTERN ARGUMENT...
func askedUntil(script *testscript.TestScript, not bool, words []string) {
	pattern := regexp.MustCompile(words[0])
	within(script, "botd "+strings.Join(words[1:], " ")+" prints "+words[0], func() bool {
		if err := script.Exec("botd", words[1:]...); err != nil {
			return false
		}
		found := pattern.FindStringSubmatch(script.ReadFile("stdout"))
		for i, name := range pattern.SubexpNames() {
			if found != nil && name != "" {
				script.Setenv(name, found[i])
			}
		}
		return (found != nil) != not
	})
}

// expand inserts the values of variables into a file.
func expand(script *testscript.TestScript, _ bool, files []string) {
	text := os.Expand(script.ReadFile(files[0]), script.Getenv)
	script.Check(os.WriteFile(script.MkAbs(files[0]), []byte(text), 0o600))
}
