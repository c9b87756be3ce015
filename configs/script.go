package configs

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"strings"

	"gopkg.in/yaml.v3"

	"botd/internal/spell"
	"botd/strategy"
)

// scriptKind is the strategy whose text is a file of its own.
const scriptKind = "script"

// script reads and compiles the file that decides, which stands beside the
// strategy's own file or below it: a configuration is one directory.
func (r *strategyReader) script() {
	var file string
	node := r.text("file", &file)
	switch {
	case r.into.Kind != scriptKind && node != nil:
		r.wrong(node, "take the line out, or write strategy: script", "file is for strategy: script, not for %s", r.into.Kind)
		return
	case r.into.Kind != scriptKind:
		return
	case node == nil:
		r.required("file", "the Starlark file that decides, such as my.star")
		r.into.definition = nil
		return
	}
	definition := r.readScript(node, file)
	r.into.definition = definition
}

func (r *strategyReader) readScript(node *yaml.Node, file string) *strategy.Definition {
	if !fs.ValidPath(file) {
		r.wrong(node, "put it beside the strategy's YAML file and write its name", "file %q is not in the directory of the configuration", shortened(file))
		return nil
	}
	at := path.Join(path.Dir(r.file), file)
	shown := path.Join(r.loader.directory, at)
	source, err := fs.ReadFile(r.loader.files, at)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		r.wrong(node, "it is looked for beside the strategy's YAML file; botd strategy new NAME --script writes one", "there is no file %s", shown)
		return nil
	case err != nil:
		r.wrong(node, "", "%s can not be read: %v", shown, reason(err))
		return nil
	case len(source) > maxFileBytes:
		r.wrong(node, "", "%s is %d bytes long; a script has at most %d", shown, len(source), maxFileBytes)
		return nil
	}
	hash := sha256.Sum256(source)
	r.into.Script = ScriptConfig{File: file, Text: string(source), SHA256: hex.EncodeToString(hash[:])}
	var pinned string
	if pin := r.text("file_sha256", &pinned); pin != nil && !strings.EqualFold(pinned, r.into.Script.SHA256) {
		r.wrong(pin, "look at what changed; then write the new hash, or take the line out", "%s is not the file that was meant: its SHA-256 is %s", shown, r.into.Script.SHA256)
		return nil
	}
	if r.loader.options.Script == nil {
		return nil
	}
	definition, err := r.loader.options.Script(shown, source)
	if err != nil {
		r.notBuilt(err)
		return nil
	}
	return &definition
}

// notBuilt reports why a strategy can not be made, where the fault stands: in its
// script, in a rule among its parameters, or in a parameter.
func (r *strategyReader) notBuilt(err error) {
	var (
		value *strategy.ValueError
		text  *strategy.SourceError
	)
	inText := errors.As(err, &text)
	switch {
	case errors.As(err, &value):
		line, given := r.into.paramLines[value.Parameter]
		if !given {
			line = r.lineOf("params")
		}
		if inText && text.Line > 0 {
			r.inRule(value.Parameter, line, text)
			return
		}
		r.fail(line, "", "%v", err)
	case inText:
		*r.problems = append(*r.problems, Problem{File: text.File, Line: text.Line, Column: text.Column, What: text.Fault(), Hint: spelling(text)})
	default:
		r.fail(r.lineOf("params"), "", "%s: %v", r.into.Kind, err)
	}
}

// inRule finds the place of a rule's fault in the YAML file.
func (r *strategyReader) inRule(name string, line int, text *strategy.SourceError) {
	column := 0
	if params := r.find("params"); params != nil {
		node := newSection(r.document, "", params.value).value(name)
		switch {
		case node.Style&(yaml.LiteralStyle|yaml.FoldedStyle) != 0:
			line = node.Line + text.Line
		case text.Line == 1:
			column = node.Column + text.Column - 1
			if node.Style&(yaml.SingleQuotedStyle|yaml.DoubleQuotedStyle) != 0 {
				column++
			}
		}
	}
	r.report(Error, line, column, spelling(text), fmt.Sprintf("params.%s: column %d: %s", name, text.Column, text.Fault()))
}

// spelling suggests what a name that is not defined was meant to be.
func spelling(text *strategy.SourceError) string {
	if near := spell.Nearest(text.Unknown, text.Known); near != "" {
		return fmt.Sprintf("did you mean %q?", near)
	}
	switch what := text.Fault(); {
	case strings.Contains(what, "got import"):
		return "a script has no modules: indicators and math are there without (docs/strategies.md)"
	case strings.Contains(what, "while loops"):
		return "for i in range(1000): ends, as every look at a candle must"
	}
	if text.Unknown != "" {
		return "botd indicator lists the indicators, docs/strategies.md what else a script knows"
	}
	return ""
}
