package configs

import (
	"errors"
	"fmt"
	"io"
	"regexp"
	"strconv"
	"strings"
	"unicode/utf8"

	"gopkg.in/yaml.v3"
)

// maxFileBytes bounds a configuration file. A larger file is a mistake or an attack.
const maxFileBytes = 1 << 20

// document is a YAML file being read, with its problems.
type document struct {
	file     string
	problems *Problems
	strategy bool              // it is a strategy's file
	homes    map[string]string // the block of each key, computed on first use
}

func (d *document) report(severity Severity, line, column int, hint, what string) {
	*d.problems = append(*d.problems, Problem{File: d.file, Line: line, Column: column, Severity: severity, What: what, Hint: hint})
}

func (d *document) fail(line int, hint, format string, values ...any) {
	d.report(Error, line, 0, hint, fmt.Sprintf(format, values...))
}

// parse returns the top mapping of a file, or nil after reporting a problem. An empty file is an empty mapping with
// line 0.
func (d *document) parse(text []byte) *yaml.Node {
	switch {
	case len(text) > maxFileBytes:
		d.fail(0, "", "is %d bytes long; a configuration has at most %d", len(text), maxFileBytes)
		return nil
	case !utf8.Valid(text):
		d.fail(invalidLine(text), "save the file as UTF-8", "contains bytes that are not valid UTF-8")
		return nil
	}
	var first, second yaml.Node
	decoder := yaml.NewDecoder(strings.NewReader(string(text)))
	if err := decode(decoder, &first); err != nil {
		if errors.Is(err, io.EOF) {
			return &yaml.Node{Kind: yaml.MappingNode}
		}
		d.syntax(err, text)
		return nil
	}
	if err := decode(decoder, &second); err == nil {
		d.fail(second.Line, "a file may contain only one document; remove the ---, or make two files", "a second YAML document begins here")
		return nil
	} else if !errors.Is(err, io.EOF) {
		d.syntax(err, text)
		return nil
	}
	if len(first.Content) == 0 || isNull(first.Content[0]) {
		return &yaml.Node{Kind: yaml.MappingNode}
	}
	root := first.Content[0]
	if !d.plain(root) {
		return nil
	}
	if root.Kind != yaml.MappingNode {
		d.fail(root.Line, "write one `key: value` per line", "the file must be a block of keys, not %s", kindOf(root))
		return nil
	}
	return root
}

// decode turns a panic of the YAML library, which panics only on its own bugs, into an error: a file must never end
// the daemon.
func decode(decoder *yaml.Decoder, into *yaml.Node) (err error) {
	defer func() {
		if broken := recover(); broken != nil {
			err = fmt.Errorf("the text cannot be read as YAML")
		}
	}()
	return decoder.Decode(into)
}

func invalidLine(text []byte) int {
	line := 1
	for len(text) > 0 {
		r, size := utf8.DecodeRune(text)
		if r == utf8.RuneError && size == 1 {
			return line
		}
		if r == '\n' {
			line++
		}
		text = text[size:]
	}
	return 0
}

// plain refuses YAML features that a configuration does not need and that hide where a value is set: aliases, merge
// keys and tags.
func (d *document) plain(node *yaml.Node) bool {
	switch {
	case node.Kind == yaml.AliasNode || node.Anchor != "":
		d.fail(node.Line, "write the value out where it is used", "anchors (&) and aliases (*) are not supported")
		return false
	case node.Style&yaml.TaggedStyle != 0:
		d.fail(node.Line, "write the value without a tag", "tags such as !!str are not supported")
		return false
	}
	for i, child := range node.Content {
		if node.Kind == yaml.MappingNode && i%2 == 0 && child.Value == "<<" && child.Style == 0 {
			d.fail(child.Line, "write the keys out", "merge keys (<<) are not supported")
			return false
		}
		if !d.plain(child) {
			return false
		}
	}
	return true
}

var atLine = regexp.MustCompile(`line (\d+): (.*)`)

// syntax reports the YAML parser's error in a plain sentence.
func (d *document) syntax(err error, text []byte) {
	line, message := 1, strings.TrimPrefix(err.Error(), "yaml: ")
	if found := atLine.FindStringSubmatch(message); found != nil {
		line, _ = strconv.Atoi(found[1])
		message = found[2]
	}
	if broken := brokenLine(text); broken > 0 {
		line = broken
	}
	if tab := tabbedLine(text); tab > 0 {
		d.fail(tab, "indent with spaces; YAML forbids tabs there", "the line is indented with a tab")
		return
	}
	for _, known := range sentences {
		if strings.Contains(message, known.parser) {
			d.fail(line, known.hint, "%s", known.what)
			return
		}
	}
	d.fail(line, "", "the text cannot be read as YAML from here on (or just above)")
}

// sentences translates the parser's messages. A message without a translation is never shown, since it may quote a
// secret from the file.
var sentences = []struct{ parser, what, hint string }{
	{"mapping values are not allowed", "there is a colon where no key can be", "put quotes around a text with `: ` in it, and check the indentation"},
	{"could not find expected ':'", "a key without its colon, here or on the line above", "write `key: value`"},
	{"did not find expected key", "a line that is not aligned with the ones above it", "keys of one block must begin in the same column"},
	{"did not find expected ',' or '}'", "a { ... } that is not closed, or a comma missing in it", "write {key: value, key: value}"},
	{"did not find expected ',' or ']'", "a [ ... ] that is not closed, or a comma missing in it", "write [value, value]"},
	{"found unexpected end of stream", "a quotation mark that is not closed", "close it, or remove both"},
	{"cannot start any token", "a character that no value can begin with", "put quotes around the value: \"@every 1s\", \"%\", \"`\""},
	{"did not find expected '-' indicator", "a list whose lines are not aligned", "the dashes of one list must be in the same column"},
	{"unknown anchor", "anchors (&) and aliases (*) are not supported", "put quotes around a value that begins with *"},
	{"control characters are not allowed", "a control character in the text", "delete it; an editor shows it as ^@ or ^["},
	{"unknown escape character", "an unknown \\ sequence between double quotes", "use single quotes, which have no escapes"},
	{"block sequence entries are not allowed", "a list begins where none can be", "put the first dash on a line of its own"},
}

// Limits of the search for a broken line, which parses the text once per line.
const (
	maxSearchLines = 300
	maxSearchBytes = 64 << 10
)

// brokenLine returns the first line with which the text is no longer readable, or 0 if the file is too long to
// search. The parser itself names the first line of the surrounding block, and counts some lines from 0.
func brokenLine(text []byte) int {
	lines := strings.SplitAfter(string(text), "\n")
	if len(lines) > maxSearchLines || len(text) > maxSearchBytes {
		return 0
	}
	for n := len(lines) - 1; n > 0; n-- {
		if readable(strings.Join(lines[:n], "")) {
			return n + 1
		}
	}
	return 1
}

func readable(text string) bool {
	decoder := yaml.NewDecoder(strings.NewReader(text))
	for {
		var node yaml.Node
		if err := decode(decoder, &node); err != nil {
			return errors.Is(err, io.EOF)
		}
	}
}

// tabbedLine returns the first line with a tab in its indentation, or 0.
func tabbedLine(text []byte) int {
	for i, line := range strings.Split(string(text), "\n") {
		content := strings.TrimLeft(line, " \t")
		if content != "" && strings.Contains(line[:len(line)-len(content)], "\t") {
			return i + 1
		}
	}
	return 0
}

func isNull(node *yaml.Node) bool { return node.Kind == yaml.ScalarNode && node.Tag == "!!null" }

// kindOf names the kind of a node in plain words.
func kindOf(node *yaml.Node) string {
	switch {
	case node.Kind == yaml.MappingNode:
		return "a block of keys"
	case node.Kind == yaml.SequenceNode:
		return "a list"
	case isNull(node):
		return "nothing"
	}
	return "a single value"
}
