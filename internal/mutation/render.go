package mutation

import (
	"bytes"
	"cmp"
	"fmt"
	"go/ast"
	"go/parser"
	"go/types"
	"slices"
)

// edit is a rewritten part of a file. Edits are nested or disjoint.
type edit struct {
	from, to int
	write    func(inner) string
	below    []*edit
	mutants  []int
}

// inner returns part of an edit's text, with the nested edits applied.
type inner func(from, to int) string

// edited returns the file with all its mutants, and with the same line numbers.
func (f *file) edited() []byte {
	edits := slices.Clone(f.edits)
	slices.SortStableFunc(edits, func(a, b *edit) int { return cmp.Or(cmp.Compare(a.from, b.from), -cmp.Compare(a.to, b.to)) })
	top := &edit{from: 0, to: len(f.text)}
	stack := []*edit{top}
	for _, e := range edits {
		e.below = nil
		for stack[len(stack)-1].to <= e.from {
			stack = stack[:len(stack)-1]
		}
		above := stack[len(stack)-1]
		above.below = append(above.below, e)
		stack = append(stack, e)
	}
	const imported = `; import mutation "botd/internal/mutation/active"`
	return []byte(string(f.text[:f.clause]) + imported + f.render(top.below, f.clause, len(f.text)))
}

func (f *file) render(edits []*edit, from, to int) string {
	var out []byte
	at := from
	for _, e := range edits {
		if e.from < from || e.to > to {
			continue
		}
		out = append(out, f.text[at:e.from]...)
		out = append(out, e.write(func(from, to int) string { return f.render(e.below, from, to) })...)
		at = e.to
	}
	return string(append(out, f.text[at:to]...))
}

// check drops the mutants that the compiler rejects, until it rejects none.
func (p *source) check() error {
	const tries = 20
	var failures []types.Error
	for range tries {
		failures = p.failures()
		if len(failures) == 0 {
			return nil
		}
		for _, failure := range failures {
			at := p.positions.Position(failure.Pos)
			for _, f := range p.files {
				if f.name == at.Filename {
					p.drop(f, at.Line)
				}
			}
		}
	}
	return fmt.Errorf("%s: its mutants cannot be built: %w", p.path, failures[0])
}

func (p *source) failures() (failures []types.Error) {
	var trees []*ast.File
	for _, f := range p.files {
		text := f.text
		if len(f.edits) > 0 {
			text = f.edited()
		}
		tree, err := parser.ParseFile(p.positions, f.name, text, parser.SkipObjectResolution)
		if err != nil {
			panic("mutation: " + err.Error() + "\n" + string(text))
		}
		trees = append(trees, tree)
	}
	config := types.Config{Importer: p.importer, Error: func(err error) { failures = append(failures, err.(types.Error)) }}
	config.Check(p.path, p.positions, trees, nil)
	return failures
}

// drop removes the mutants on a line.
func (p *source) drop(f *file, line int) {
	bad := map[int]bool{}
	f.edits = slices.DeleteFunc(f.edits, func(e *edit) bool {
		from, to := 1+bytes.Count(f.text[:e.from], []byte("\n")), 1+bytes.Count(f.text[:e.to], []byte("\n"))
		if line < from || line > to {
			return false
		}
		for _, number := range e.mutants {
			bad[number] = true
		}
		return true
	})
	p.mutants = slices.DeleteFunc(p.mutants, func(m *Mutant) bool { return bad[m.Number] })
}
