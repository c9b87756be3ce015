package mutation

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"go/ast"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"time"
)

// source is a package under test, parsed, with its mutants.
type source struct {
	root, path, directory string
	files                 []*file
	positions             *token.FileSet
	info                  *types.Info
	types                 *types.Package
	mutants               []*Mutant
	importer              types.Importer

	mu           sync.Mutex // guards used
	used, budget time.Duration
}

// file is one file of a package.
type file struct {
	name    string // absolute
	below   string // path below the module
	text    []byte
	syntax  *ast.File
	clause  int // the end of its package clause
	edits   []*edit
	imports map[string]string // the file's names of its imports
}

// listed is a package in the output of go list.
type listed struct {
	ImportPath, Dir, Export string
	GoFiles                 []string
	DepOnly                 bool
	Error                   *struct{ Err string }
}

// switchboard is the package that mutated source calls.
const switchboard = "botd/internal/mutation/active"

// load parses and type-checks the packages that the patterns name. All share one importer.
func load(root string, patterns []string) (packages []*source, err error) {
	arguments := append([]string{"list", "-e", "-export", "-deps", "-json=ImportPath,Dir,Export,GoFiles,DepOnly,Error", switchboard}, patterns...)
	command := exec.Command("go", arguments...)
	command.Dir = root
	var complaint bytes.Buffer
	command.Stderr = &complaint
	text, err := command.Output()
	if err != nil {
		return nil, fmt.Errorf("go list %s: %w: %s", strings.Join(patterns, " "), err, complaint.String())
	}
	exports, targets := map[string]string{}, []listed{}
	for decoder := json.NewDecoder(bytes.NewReader(text)); ; {
		var one listed
		if err := decoder.Decode(&one); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			return nil, err
		}
		if one.Error != nil && !one.DepOnly {
			return nil, fmt.Errorf("%s: %s", one.ImportPath, one.Error.Err)
		}
		if exports[one.ImportPath] = one.Export; !one.DepOnly && one.ImportPath != switchboard && len(one.GoFiles) > 0 {
			targets = append(targets, one)
		}
	}
	positions := token.NewFileSet()
	imports := importer.ForCompiler(positions, "gc", func(path string) (io.ReadCloser, error) {
		if exports[path] == "" {
			return nil, fmt.Errorf("there is no export data of %s", path)
		}
		return os.Open(exports[path])
	})
	for i := range targets {
		p := &source{root: root, path: targets[i].ImportPath, directory: targets[i].Dir, positions: positions, importer: imports}
		if err := p.parse(root, targets[i].GoFiles); err != nil {
			return nil, fmt.Errorf("%s: %w", p.path, err)
		}
		packages = append(packages, p)
	}
	return packages, nil
}

func (p *source) parse(root string, names []string) error {
	var trees []*ast.File
	for _, name := range names {
		f := &file{name: filepath.Join(p.directory, name), imports: map[string]string{}}
		below, err := filepath.Rel(root, f.name)
		if err != nil {
			return err
		}
		f.below = filepath.ToSlash(below)
		if f.text, err = os.ReadFile(f.name); err != nil {
			return err
		}
		if f.syntax, err = parser.ParseFile(p.positions, f.name, f.text, parser.ParseComments); err != nil {
			return err
		}
		f.clause = p.positions.Position(f.syntax.Name.End()).Offset
		p.files, trees = append(p.files, f), append(trees, f.syntax)
	}
	p.info = &types.Info{Types: map[ast.Expr]types.TypeAndValue{}, Uses: map[*ast.Ident]types.Object{}, Defs: map[*ast.Ident]types.Object{},
		Implicits: map[ast.Node]types.Object{}}
	config := types.Config{Importer: p.importer}
	var err error
	if p.types, err = config.Check(p.path, p.positions, trees, p.info); err != nil {
		return err
	}
	for _, f := range p.files {
		for _, spec := range f.syntax.Imports {
			object, named := p.info.Implicits[spec].(*types.PkgName)
			if spec.Name != nil {
				object, named = p.info.Defs[spec.Name].(*types.PkgName)
			}
			if named {
				f.imports[object.Imported().Path()] = object.Name()
			}
		}
	}
	return nil
}

// typeName formats a type as the file can name it; it returns "" if the file cannot.
func (p *source) typeName(f *file, t types.Type) string {
	nameable := true
	text := types.TypeString(t, func(other *types.Package) string {
		if other == p.types {
			return ""
		}
		name := f.imports[other.Path()]
		if name == "" || name == "_" || name == "." {
			nameable = false
		}
		return name
	})
	if !nameable || strings.Contains(text, "untyped ") {
		return ""
	}
	return text
}
