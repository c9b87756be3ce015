package conformance

import (
	"bufio"
	"bytes"
	"embed"
	"fmt"
	"io/fs"
	"strconv"
	"strings"
	"time"
)

// Case is one case of the suite.
type Case struct {
	Subject string // its key in Subjects
	Name    string
	File    string
	World   World
	steps   []step
}

// String names the case.
func (c *Case) String() string { return c.Subject + ": " + c.Name }

// Wired reports whether the case sends raw HTTP.
func (c *Case) Wired() bool {
	for i := range c.steps {
		if c.steps[i].raw {
			return true
		}
	}
	return false
}

// step is one line: an action and its expected outcome.
//
//	[+5ms] [label:] words... [-> expectation...]
type step struct {
	line    int
	text    string
	afterMS int64
	label   string
	words   []string
	raw     bool   // words are a method, a target and modifiers; the rest is body
	body    string // from the first brace to the end
	wants   []want
	outcome outcome
}

// outcome is the expected end of a call; the zero value is success.
type outcome struct {
	status int    // 200 and above
	code   string // of the error body: a number or a name of sim.Rules
	kind   string // uncertain, unavailable, malformed
}

//go:embed rules/*.txt
var files embed.FS

// Cases reads all cases, in the order of the files.
func Cases() ([]Case, error) {
	names, err := fs.Glob(files, "rules/*.txt")
	if err != nil {
		return nil, err
	}
	var all []Case
	for _, name := range names {
		text, err := files.ReadFile(name)
		if err != nil {
			return nil, err
		}
		cases, err := parse(name, text)
		if err != nil {
			return nil, err
		}
		all = append(all, cases...)
	}
	return all, nil
}

// parse reads a file: "subject KEY", then cases "case NAME" whose indented lines
// are "world NAME=VALUE..." or steps. A # begins a comment.
func parse(file string, text []byte) ([]Case, error) {
	var cases []Case
	subject := ""
	lines := bufio.NewScanner(bytes.NewReader(text))
	for number := 1; lines.Scan(); number++ {
		line := lines.Text()
		word, rest, _ := strings.Cut(strings.TrimSpace(line), " ")
		rest = strings.TrimSpace(rest)
		var err error
		switch {
		case word == "" || word[0] == '#':
		case word == "subject":
			subject = rest
		case word == "case":
			cases = append(cases, Case{Subject: subject, Name: rest, File: file})
		case len(cases) == 0 || line[0] != ' ':
			err = fmt.Errorf("want a subject, a case or an indented step")
		case word == "world":
			err = cases[len(cases)-1].World.set(strings.Fields(rest))
		default:
			var s step
			s, err = parseStep(strings.TrimSpace(line))
			s.line = number
			last := &cases[len(cases)-1]
			last.steps = append(last.steps, s)
		}
		if err != nil {
			return nil, fmt.Errorf("%s:%d: %w", file, number, err)
		}
	}
	return cases, lines.Err()
}

func parseStep(text string) (step, error) {
	s := step{text: text}
	action, expectation, expects := strings.Cut(text, "->")
	if at := strings.Index(action, "{"); at >= 0 {
		action, s.body = action[:at], strings.TrimSpace(action[at:])
	}
	s.words = strings.Fields(action)
	if len(s.words) > 0 && s.words[0][0] == '+' {
		after, err := time.ParseDuration(s.words[0][1:])
		if err != nil {
			return s, err
		}
		s.afterMS, s.words = after.Milliseconds(), s.words[1:]
	}
	if len(s.words) > 1 && strings.HasSuffix(s.words[0], ":") {
		s.label, s.words = strings.TrimSuffix(s.words[0], ":"), s.words[1:]
	}
	if len(s.words) > 0 {
		switch s.words[0] {
		case "GET", "POST", "PUT", "DELETE", "HEAD":
			s.raw = true
		}
	}
	if !expects {
		return s, nil
	}
	return s, s.expect(strings.Fields(expectation))
}

// expect reads an expectation: a status with its code, a kind of error, a single
// word for the field status, "none" for an empty list, and wants.
func (s *step) expect(words []string) error {
	for i, word := range words {
		if i == 0 {
			if status, err := strconv.Atoi(word); err == nil {
				s.outcome.status = status
				continue
			}
			if word == "uncertain" || word == "unavailable" || word == "malformed" {
				s.outcome.kind = word
				continue
			}
		}
		if s.outcome.status >= 300 && i == 1 && !strings.ContainsAny(word, "=:<>") {
			s.outcome.code = word
			continue
		}
		w, err := parseWant(word)
		if err != nil {
			return err
		}
		s.wants = append(s.wants, w)
	}
	return nil
}
