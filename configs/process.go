package configs

import (
	"fmt"
	"path"
	"regexp"
	"strconv"
	"strings"

	"gopkg.in/yaml.v3"

	"botd/internal/notation"
)

// processKind is the kind of a strategy that is a separate program, in any language.
const processKind = "process"

// Limits of a strategy's deadline and of its process's memory.
const (
	minDeadlineMS = 100
	maxDeadlineMS = 60 * second
	minMemoryMB   = 16
	maxMemoryMB   = 1 << 20
)

var anyWord = regexp.MustCompile(`^[^\x00]+$`)

// processKeys returns the keys for command, deadline and memory of strategies that run outside the engine.
func (r *strategyReader) processKeys() []key {
	c := r.into
	return []key{
		{name: "command", value: words(&c.Command, anyWord, "the program and its arguments, such as [python3, my_strategy.py]"),
			check: r.checkCommand, after: r.readCommand,
			what: "of `strategy: process`: the program and its arguments; it runs in the folder of this file and uses the protocol of docs/process.md",
			unit: "", example: "[python3, my_strategy.py]"},
		{name: "deadline", value: duration(&c.DeadlineMS, minDeadlineMS, maxDeadlineMS),
			what: "live: maximum time for a decision, default 2s; a strategy that takes longer is declared hung, " +
				"and nothing else waits for it",
			example: "2s"},
		{name: "memory_limit", value: megabytes(&c.MemoryMB, minMemoryMB, maxMemoryMB),
			what:    "maximum memory for the process of a script, of rules or of a program; default 256MB",
			example: "256MB"},
	}
}

var memorySize = regexp.MustCompile(`^([0-9]{1,7}) ?(MB|MiB|GB|GiB)$`)

// megabytes returns the value of an amount of memory, 256MB or 2GB, in MB.
func megabytes(into *int64, low, high int64) value {
	show := func() string {
		if *into == 0 {
			return ""
		}
		return fmt.Sprintf("%dMB", *into)
	}
	return value{kind: KindText, text: show, parse: func(text string) (string, string) {
		parts := memorySize.FindStringSubmatch(text)
		if parts == nil {
			return fmt.Sprintf(" %q is not a memory size", notation.Shortened(text)), "write 256MB or 2GB"
		}
		n, _ := strconv.ParseInt(parts[1], 10, 64) // at most seven digits
		if strings.HasPrefix(parts[2], "G") {
			n <<= 10
		}
		if n < low || n > high {
			return fmt.Sprintf(" %s is not between %dMB and %dMB", text, low, high), ""
		}
		*into = n
		return "", ""
	}}
}

func (r *strategyReader) checkCommand(s *section, node *yaml.Node) {
	if r.into.Kind != processKind {
		s.wrong(node, "remove the line, or write strategy: process", "command is for strategy: process, not for %s", r.into.Kind)
	}
}

// readCommand makes the strategy's definition from its program, which reports its parameters.
func (r *strategyReader) readCommand(s *section) {
	c := r.into
	if c.Kind != processKind {
		return
	}
	c.definition = nil
	if len(c.Command) == 0 {
		if s.find("command") == nil {
			s.fail(s.line, "the program and its arguments, such as command: [python3, my_strategy.py]", "command is missing")
		}
		return
	}
	if r.loader.options.Process == nil {
		return
	}
	definition, err := r.loader.options.Process(c.Command, path.Join(r.loader.directory, path.Dir(r.file)))
	if err != nil {
		s.wrong(s.value("command"), "", "command: %v", err)
		return
	}
	c.definition = &definition
}
