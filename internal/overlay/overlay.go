// Package overlay edits functions of the source for one build, by snippets of their code.
//
// Some tests need a changed botd: one with a broken rule (internal/mutant), or one that
// kills itself at a named point (internal/chaos/crash). The shipped code must not contain
// any support for that. An Edit names a function, a snippet in it, and its replacement.
// Write turns all edits into an overlay for the go command (go build -overlay); the module
// itself stays unchanged. A snippet that is not found exactly once in its function is an
// error, which reports the functions that contain it now.
package overlay

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

const openMark, closeMark = "«", "»"

// Edit is one change of the source.
type Edit struct {
	Name    string                   // for messages: the owner of the edit
	Table   string                   // for messages: the file that defines the edit
	In      string                   // the function: package.Function or package.Receiver.Method
	Code    string                   // the present code, found exactly once; «» around the part that is replaced
	Replace func(code string) string // returns the replacement; code contains the edits within it
	Import  string                   // the package that the new code needs; empty for none
}

// Write writes the edited files into a directory, and returns the path of an overlay for the go command.
// files maps further files to their replacements; both paths are relative to root.
func Write(root, directory string, edits []Edit, files map[string]string) (overlay string, err error) {
	changed, err := Apply(root, edits)
	if err != nil {
		return "", err
	}
	replace := map[string]string{}
	for path, other := range files {
		replace[filepath.Join(root, path)] = filepath.Join(root, other)
	}
	for path, text := range changed {
		name := filepath.Join(directory, strings.ReplaceAll(path, "/", "_"))
		if err := os.WriteFile(name, text, 0o644); err != nil {
			return "", err
		}
		replace[filepath.Join(root, path)] = name
	}
	text, err := json.MarshalIndent(map[string]any{"Replace": replace}, "", "  ")
	if err != nil {
		return "", err
	}
	overlay = filepath.Join(directory, "overlay.json")
	return overlay, os.WriteFile(overlay, text, 0o644)
}

// Apply returns the files that the edits change, by their path below the root. The
// error joins one error for each edit whose code is not found.
func Apply(root string, edits []Edit) (changed map[string][]byte, err error) {
	m := module{root: root, packages: map[string][]*source{}}
	var failures []error
	for i := range edits {
		if err := m.place(&edits[i]); err != nil {
			failures = append(failures, err)
		}
	}
	changed = map[string][]byte{}
	for _, path := range slices.Sorted(maps.Keys(m.packages)) {
		for _, file := range m.packages[path] {
			if len(file.spots) == 0 {
				continue
			}
			text, err := file.edited()
			if err != nil {
				failures = append(failures, err)
			}
			changed[file.path] = text
		}
	}
	return changed, errors.Join(failures...)
}

// module holds the packages read so far.
type module struct {
	root     string
	packages map[string][]*source
}

// place finds the one position of an edit and records it at its file.
func (m *module) place(edit *Edit) error {
	path, function, err := split(edit.In)
	if err != nil {
		return fmt.Errorf("%s: %w", edit.Name, err)
	}
	files, err := m.read(path)
	if err != nil {
		return fmt.Errorf("%s: %w", edit.Name, err)
	}
	pattern, from, to, err := compile(edit.Code)
	if err != nil {
		return fmt.Errorf("%s: %w", edit.Name, err)
	}
	var found []spot
	var in *source
	for _, file := range files {
		for _, at := range file.find(function, pattern) {
			in, found = file, append(found, spot{edit, file.tokens[at+from].from, file.tokens[at+to-1].to})
		}
	}
	if len(found) != 1 {
		return fmt.Errorf("%s: its code is found %d times in %s, want once:\n\t%s\n\t%s\n\t%s: make In and Code name the place where this stands now",
			edit.Name, len(found), edit.In, edit.Code, m.elsewhere(pattern), edit.Table)
	}
	in.spots = append(in.spots, found[0])
	return nil
}

// split splits the name of a function into package and [Receiver.]Method.
func split(name string) (path, function string, err error) {
	base := strings.LastIndexByte(name, '/') + 1
	dot := strings.IndexByte(name[base:], '.')
	if dot < 0 {
		return "", "", fmt.Errorf("%q names no function: want package.Function or package.Receiver.Method", name)
	}
	return name[:base+dot], name[base+dot+1:], nil
}

// compile returns the tokens of a snippet and which of them are replaced.
func compile(code string) (pattern []string, from, to int, err error) {
	before, rest, marked := strings.Cut(code, openMark)
	replaced, after, closed := strings.Cut(rest, closeMark)
	if marked != closed {
		return nil, 0, 0, fmt.Errorf("%q has one of %s and %s", code, openMark, closeMark)
	}
	if !marked {
		before, replaced, after = "", code, ""
	}
	texts := func(code string) (all []string) {
		for _, t := range scan([]byte(code)) {
			all = append(all, t.text)
		}
		return all
	}
	pattern = texts(before)
	from = len(pattern)
	pattern = append(pattern, texts(replaced)...)
	to = len(pattern)
	if from == to {
		return nil, 0, 0, fmt.Errorf("%q names no code", code)
	}
	return append(pattern, texts(after)...), from, to, nil
}

// read parses a package's files, except tests.
func (m *module) read(path string) ([]*source, error) {
	if files, found := m.packages[path]; found {
		return files, nil
	}
	names, err := filepath.Glob(filepath.Join(m.root, path, "*.go"))
	if err != nil {
		return nil, err
	}
	var files []*source
	for _, name := range names {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		file, err := parse(filepath.Join(path, filepath.Base(name)), name)
		if err != nil {
			return nil, err
		}
		files = append(files, file)
	}
	m.packages[path] = files
	return files, nil
}

// rooms are the directories that edited code may move to.
var rooms = []string{"cmd", "exchange", "reconcile", "risk", "runtime", "strategy"}

// elsewhere lists the functions of the module that contain a snippet.
func (m *module) elsewhere(pattern []string) string {
	var places []string
	for _, room := range rooms {
		err := filepath.WalkDir(filepath.Join(m.root, room), func(path string, entry os.DirEntry, err error) error {
			if err != nil || !entry.IsDir() {
				return err
			}
			path, err = filepath.Rel(m.root, path)
			if err != nil {
				return err
			}
			files, err := m.read(path)
			for _, file := range files {
				for _, f := range file.functions {
					if len(file.find(f.name, pattern)) > 0 {
						places = append(places, path+"."+f.name)
					}
				}
			}
			return err
		})
		if err != nil && !errors.Is(err, os.ErrNotExist) {
			return err.Error()
		}
	}
	if len(places) == 0 {
		return "these words stand nowhere in " + strings.Join(rooms, ", ") + ": the code was reworded"
	}
	return "these words stand in " + strings.Join(slices.Compact(places), ", ")
}

// edited returns the file's text with its edits applied. Their imports are on the line of the package clause, so that line numbers stay the same.
func (s *source) edited() ([]byte, error) {
	slices.SortFunc(s.spots, func(a, b spot) int { return cmp.Or(cmp.Compare(a.from, b.from), cmp.Compare(b.to, a.to)) })
	body, err := s.render(s.nameEnd, len(s.text), s.spots)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", s.path, err)
	}
	imports := map[string]bool{}
	for _, spot := range s.spots {
		imports[spot.edit.Import] = true
	}
	delete(imports, "")
	head := string(s.text[:s.nameEnd])
	for _, path := range slices.Sorted(maps.Keys(imports)) {
		head += fmt.Sprintf("; import %q", path)
	}
	return []byte(head + body), nil
}

// render returns the text between two offsets with its edits applied, inner edits first.
func (s *source) render(from, to int, spots []spot) (string, error) {
	var out strings.Builder
	for len(spots) > 0 {
		first, rest := spots[0], spots[1:]
		inner := 0
		for inner < len(rest) && rest[inner].from < first.to {
			if rest[inner].to > first.to {
				return "", fmt.Errorf("the code of %s and %s overlaps: let one lie within the other", first.edit.Name, rest[inner].edit.Name)
			}
			inner++
		}
		code, err := s.render(first.from, first.to, rest[:inner])
		if err != nil {
			return "", err
		}
		out.Write(s.text[from:first.from])
		out.WriteString(first.edit.Replace(code))
		from, spots = first.to, rest[inner:]
	}
	out.Write(s.text[from:to])
	return out.String(), nil
}
