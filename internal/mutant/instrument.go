package mutant

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

const (
	openMark, closeMark = "«", "»"
	switchFile          = "internal/mutant/switch.go"
	brokenSwitch        = "internal/mutant/testdata/switch.go"
)

// Instrument writes, into a directory, the module's files with every mutant built
// in, and returns the path of an overlay for the go command (build -overlay).
// Nothing changes in the module itself.
func Instrument(root, directory string) (overlay string, err error) {
	changed, err := Apply(root, Table)
	if err != nil {
		return "", err
	}
	replace := map[string]string{filepath.Join(root, switchFile): filepath.Join(root, brokenSwitch)}
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

// Apply returns the files that the rows' edits change, by their path below the
// root. The error joins one error for each edit whose code is not found.
func Apply(root string, rows []Row) (changed map[string][]byte, err error) {
	module := modules{root: root, packages: map[string][]*source{}}
	var failures []error
	for i := range rows {
		for j := range rows[i].Edits {
			if err := module.place(&rows[i], &rows[i].Edits[j]); err != nil {
				failures = append(failures, err)
			}
		}
	}
	changed = map[string][]byte{}
	for _, files := range module.packages {
		for _, file := range files {
			if len(file.spots) == 0 {
				continue
			}
			text, err := file.instrumented()
			if err != nil {
				failures = append(failures, err)
			}
			changed[file.path] = text
		}
	}
	return changed, errors.Join(failures...)
}

// modules are the packages read so far.
type modules struct {
	root     string
	packages map[string][]*source
}

// place finds the one spot of an edit and notes it at its file.
func (m *modules) place(row *Row, edit *Edit) error {
	path, function, err := split(edit.In)
	if err != nil {
		return fmt.Errorf("mutant %s: %w", row.Name, err)
	}
	files, err := m.read(path)
	if err != nil {
		return fmt.Errorf("mutant %s: %w", row.Name, err)
	}
	pattern, from, to, err := compile(edit.Code)
	if err != nil {
		return fmt.Errorf("mutant %s: %w", row.Name, err)
	}
	var found []spot
	var in *source
	for _, file := range files {
		for _, at := range file.find(function, pattern) {
			in, found = file, append(found, spot{row.Name, file.tokens[at+from].from, file.tokens[at+to-1].to, edit.Wrong})
		}
	}
	if len(found) != 1 {
		return fmt.Errorf("mutant %s (%s): its code is found %d times in %s, want once:\n\t%s\n%s\n\tinternal/mutant/table.go: make In and Code of this row name the place where the rule stands now; "+
			"Wrong must still do what the row says (go doc ./internal/mutant)", row.Name, row.Does, len(found), edit.In, edit.Code, m.elsewhere(pattern))
	}
	in.spots = append(in.spots, found[0])
	return nil
}

// split takes the name of a function apart: package and [Receiver.]Method.
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
	for i, part := range []string{before, replaced, after} {
		for _, t := range scan([]byte(part)) {
			pattern = append(pattern, t.text)
		}
		switch i {
		case 0:
			from = len(pattern)
		case 1:
			to = len(pattern)
		}
	}
	if from == to {
		return nil, 0, 0, fmt.Errorf("%q names no code", code)
	}
	return pattern, from, to, nil
}

// read parses a package's files, tests left out.
func (m *modules) read(path string) ([]*source, error) {
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

// elsewhere says in which functions of the module a snippet is found.
func (m *modules) elsewhere(pattern []string) string {
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
				for _, function := range file.functions {
					if file.within(function, pattern) {
						places = append(places, path+"."+function.name)
					}
				}
			}
			return err
		})
		if err != nil && !errors.Is(err, os.ErrNotExist) {
			return "\t" + err.Error()
		}
	}
	if len(places) == 0 {
		return "\tthese words stand nowhere in " + strings.Join(rooms, ", ") + ": the rule was worded anew"
	}
	return "\tthese words stand in " + strings.Join(slices.Compact(places), ", ")
}

// rooms are where the protocol's rules stand.
var rooms = []string{"exchange", "reconcile", "risk", "runtime"}

// within reports whether a snippet is found in a function.
func (s *source) within(f function, pattern []string) bool { return len(s.find(f.name, pattern)) > 0 }

// expression reports whether code is one expression.
func expression(code string) bool {
	_, err := parser.ParseExpr(code)
	return err == nil
}

// condition reports whether code is an expression that can only be a bool.
func condition(code string) bool {
	tree, err := parser.ParseExpr(code)
	if err != nil {
		return false
	}
	switch n := ast.Unparen(tree).(type) {
	case *ast.BinaryExpr:
		return n.Op.Precedence() <= 3 // comparison, && and ||
	case *ast.UnaryExpr:
		return n.Op.String() == "!"
	}
	return false
}

// choice is the code that does right, or wrong while a mutant is on.
func choice(name, right, wrong string) string {
	switch {
	case !expression(right) || !expression(wrong):
		return fmt.Sprintf("if mutant.Is(%q) { %s } else { %s }", name, wrong, right)
	case condition(right):
		return fmt.Sprintf("(mutant.Is(%q) && (%s) || !mutant.Is(%q) && (%s))", name, wrong, name, right)
	}
	return fmt.Sprintf("mutant.Pick(%q, %s, %s)", name, wrong, right)
}

// instrumented is the file's text with its mutants built in.
func (s *source) instrumented() ([]byte, error) {
	slices.SortFunc(s.spots, func(a, b spot) int { return cmp.Or(cmp.Compare(a.from, b.from), cmp.Compare(b.to, a.to)) })
	body, err := s.render(s.nameEnd, len(s.text), s.spots)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", s.path, err)
	}
	return fmt.Appendf(nil, "%s; import \"botd/internal/mutant\"%s", s.text[:s.nameEnd], body), nil
}

// render returns the text between two offsets with the spots in it built in: the
// outermost first, and whatever lies in one within its right branch.
func (s *source) render(from, to int, spots []spot) (string, error) {
	var out strings.Builder
	for len(spots) > 0 {
		first := spots[0]
		inner := spots[1:]
		n := 0
		for n < len(inner) && inner[n].from < first.to {
			if inner[n].to > first.to {
				return "", fmt.Errorf("the code of the mutants %s and %s overlaps: let one lie within the other", first.name, inner[n].name)
			}
			n++
		}
		right, err := s.render(first.from, first.to, inner[:n])
		if err != nil {
			return "", err
		}
		out.Write(s.text[from:first.from])
		out.WriteString(choice(first.name, right, first.wrong))
		from, spots = first.to, inner[n:]
	}
	out.Write(s.text[from:to])
	return out.String(), nil
}
