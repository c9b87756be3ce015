package configs

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// Severity distinguishes problems that prevent running from warnings.
type Severity uint8

// An Error prevents running, a Warning does not.
const (
	Error Severity = iota
	Warning
)

// String returns "error" or "warning".
func (s Severity) String() string {
	if s == Warning {
		return "warning"
	}
	return "error"
}

// MarshalText writes "error" or "warning".
func (s Severity) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// Problem is one mistake in a configuration, with its place and a hint.
type Problem struct {
	File     string   `json:"file"`
	Line     int      `json:"line,omitempty"` // 0 for the whole file
	Column   int      `json:"column,omitempty"`
	Severity Severity `json:"severity"`
	What     string   `json:"what"`
	Hint     string   `json:"hint,omitempty"` // empty for none
}

// String returns file:line: what, and the hint on a line of its own.
func (p Problem) String() string {
	var b strings.Builder
	b.WriteString(p.File)
	if p.Line > 0 {
		fmt.Fprintf(&b, ":%d", p.Line)
	}
	b.WriteString(": ")
	if p.Severity == Warning {
		b.WriteString("warning: ")
	}
	b.WriteString(p.What)
	if p.Hint != "" {
		b.WriteString("\n  hint: " + p.Hint)
	}
	return b.String()
}

// Error returns the problem as String does.
func (p Problem) Error() string { return p.String() }

// Problems are all problems of a configuration, by file and line.
type Problems []Problem

// Error returns every problem, one after the other.
func (p Problems) Error() string { return p.String() }

// Unwrap returns each problem, so that a line of the log can have them side by side.
func (p Problems) Unwrap() []error {
	all := make([]error, len(p))
	for i := range p {
		all[i] = p[i]
	}
	return all
}

// String returns every problem, one after the other.
func (p Problems) String() string {
	lines := make([]string, len(p))
	for i, problem := range p {
		lines[i] = problem.String()
	}
	return strings.Join(lines, "\n")
}

// Errors returns the number of problems that prevent running.
func (p Problems) Errors() int {
	n := 0
	for _, problem := range p {
		if problem.Severity == Error {
			n++
		}
	}
	return n
}

// Warnings returns the number of problems that do not prevent running.
func (p Problems) Warnings() int { return len(p) - p.Errors() }

// Err returns the problems as an error if any prevents running, else nil.
func (p Problems) Err() error {
	if p.Errors() == 0 {
		return nil
	}
	return p
}

func (p Problems) sort() {
	slices.SortStableFunc(p, func(a, b Problem) int {
		return cmp.Or(cmp.Compare(a.File, b.File), cmp.Compare(a.Line, b.Line), cmp.Compare(a.Column, b.Column))
	})
}
