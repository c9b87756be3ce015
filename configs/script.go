package configs

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"

	"gopkg.in/yaml.v3"

	"botd/internal/notation"
	"botd/internal/spell"
	"botd/strategy"
)

// scriptKind is the kind of a strategy whose code is in a separate file.
const scriptKind = "script"

// scriptKeys returns the keys of the script file, which is in the folder of the strategy's file or below it: a
// configuration is one directory.
func (r *strategyReader) scriptKeys() []key {
	c := &r.into.Script
	return []key{
		{name: "file", value: custom(func() string { return c.File }), check: r.readScript, after: r.needsScript,
			what: "of `strategy: script`: its Starlark file, in the folder of this file", example: "my.star"},
		{name: "file_sha256", value: custom(func() string { return c.SHA256 }), check: r.checkPin, after: func(*section) { r.compile() },
			what: "pins that file, and the files that it loads, to one version", example: "c5c34c70c9a2f0d0b52ae4a5cf4d0f5d59a0c1fd64d2b0f6f2b0c5ddbf60ddea"},
	}
}

// needsScript reports a script strategy without a file.
func (r *strategyReader) needsScript(s *section) {
	if r.into.Kind != scriptKind || s.single("file") != nil {
		return
	}
	r.into.definition = nil
	if s.find("file") == nil {
		s.fail(s.line, "the Starlark file that decides, such as my.star", "file is missing")
	}
}

// readScript reads the file. compile follows once the pin is known.
func (r *strategyReader) readScript(s *section, node *yaml.Node) {
	file := node.Value
	if r.into.Kind != scriptKind {
		s.wrong(node, "remove the line, or write strategy: script", "file is for strategy: script, not for %s", r.into.Kind)
		return
	}
	r.into.definition = nil
	if !fs.ValidPath(file) {
		s.wrong(node, "put it in the directory of the strategy's YAML file and write its name",
			"file %q is not in the directory of the configuration", notation.Shortened(file))
		return
	}
	source, err := fs.ReadFile(r.loader.files, path.Join(path.Dir(r.file), file))
	switch shown := r.displayedPath(file); {
	case errors.Is(err, fs.ErrNotExist):
		s.wrong(node, "it belongs in the directory of the strategy's YAML file; botd strategy new NAME --script writes one", "there is no file %s", shown)
	case err != nil:
		s.wrong(node, "", "%s cannot be read: %v", shown, reason(err))
	case len(source) > maxFileBytes:
		s.wrong(node, "", "%s is %d bytes long; a script has at most %d", shown, len(source), maxFileBytes)
	default:
		r.source = &strategy.Source{File: shown, Text: source}
		r.source.Gather(func(name string) ([]byte, bool, error) {
			return r.loader.library(path.Join(path.Dir(r.file), path.Dir(file)), name)
		})
		r.into.Script = ScriptConfig{File: file, Text: string(source), Libraries: r.source.Libraries, SHA256: r.source.SHA256()}
	}
}

// library reads a file that a script in a folder loads.
func (l *loader) library(folder, name string) (text []byte, found bool, err error) {
	if l.disk != "" {
		return ReadLibrary(filepath.Join(l.disk, filepath.FromSlash(folder)), name)
	}
	files, err := fs.Sub(l.files, folder)
	if err != nil {
		return nil, false, err
	}
	return readLibrary(files, name)
}

// ReadLibrary reads a file that a script in a folder on disk loads. It follows no link out of the folder.
func ReadLibrary(folder, name string) (text []byte, found bool, err error) {
	root, err := os.OpenRoot(folder)
	if err != nil {
		return nil, false, errors.New(reason(err))
	}
	defer func() { _ = root.Close() }()
	return readLibrary(root.FS(), name)
}

func readLibrary(files fs.FS, name string) (text []byte, found bool, err error) {
	info, err := fs.Stat(files, name)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, false, nil
	case err != nil:
		return nil, false, errors.New(reason(err))
	case !info.Mode().IsRegular():
		return nil, false, errors.New("it is not a regular file")
	case info.Size() > maxFileBytes:
		return nil, false, fmt.Errorf("it is %d bytes long; a library has at most %d", info.Size(), maxFileBytes)
	}
	text, err = fs.ReadFile(files, name)
	return text, true, err
}

// displayedPath returns the path of a script for messages.
func (r *strategyReader) displayedPath(file string) string {
	return path.Join(r.loader.directory, path.Dir(r.file), file)
}

func (r *strategyReader) checkPin(s *section, node *yaml.Node) {
	switch {
	case r.into.Kind != scriptKind:
		s.wrong(node, "remove the line, or write strategy: script", "file_sha256 is for strategy: script, not for %s", r.into.Kind)
	case r.source != nil && !strings.EqualFold(node.Value, r.into.Script.SHA256):
		s.wrong(node, "review the change; then write the new hash, or remove the line",
			"%s is not the pinned version: its SHA-256 is %s", r.displayedPath(r.into.Script.File), r.into.Script.SHA256)
		r.source = nil
	}
}

// compile makes the strategy's definition from its script.
func (r *strategyReader) compile() {
	if r.source == nil || r.loader.options.Script == nil {
		return
	}
	definition, err := r.loader.options.Script(r.source)
	if err != nil {
		r.notBuilt(err)
		return
	}
	r.into.definition = &definition
}

// notBuilt reports why a strategy cannot be built, at the place of the mistake: in its script, in a rule among its
// parameters, or in a parameter.
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
		hint := ""
		if inText {
			hint = text.Hint
		}
		r.fail(line, hint, "%v", err)
	case inText:
		*r.problems = append(*r.problems, Problem{File: text.File, Line: text.Line, Column: text.Column, What: text.Fault(), Hint: spelling(text)})
	default:
		r.fail(r.lineOf("params"), "", "%s: %v", r.into.Kind, err)
	}
}

// inRule finds the place of a rule's mistake in the YAML file.
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

// spelling suggests a correction for an undefined name.
func spelling(text *strategy.SourceError) string {
	if text.Hint != "" {
		return text.Hint
	}
	if near := spell.Nearest(text.Unknown, text.Known); near != "" {
		return fmt.Sprintf("did you mean %q?", near)
	}
	if text.Unknown != "" {
		return "botd indicator lists the indicators, docs/strategies.md the other names in a script"
	}
	return ""
}
