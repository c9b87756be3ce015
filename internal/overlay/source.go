package overlay

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/scanner"
	"go/token"
	"os"
	"slices"
)

// source is a Go file with the spots where edits change it.
type source struct {
	path      string // below the module
	text      []byte
	nameEnd   int // of the package clause
	tokens    []lexeme
	functions []function
	spots     []spot
}

// lexeme is one token; offsets are into the text.
type lexeme struct {
	text     string
	from, to int
}

// function is a function's name, with its receiver's, and its position.
type function struct {
	name     string
	from, to int
}

// spot is the code that an edit replaces.
type spot struct {
	edit     *Edit
	from, to int
}

func parse(path, name string) (*source, error) {
	text, err := os.ReadFile(name)
	if err != nil {
		return nil, err
	}
	files := token.NewFileSet()
	tree, err := parser.ParseFile(files, name, text, parser.SkipObjectResolution)
	if err != nil {
		return nil, fmt.Errorf("parse %s: %w", path, err)
	}
	offset := func(pos token.Pos) int { return files.Position(pos).Offset }
	s := &source{path: path, text: text, nameEnd: offset(tree.Name.End()), tokens: scan(text)}
	for _, declaration := range tree.Decls {
		if f, ok := declaration.(*ast.FuncDecl); ok && f.Body != nil {
			s.functions = append(s.functions, function{FunctionName(f), offset(f.Pos()), offset(f.End())})
		}
	}
	return s, nil
}

// FunctionName returns a function's name; the name of a method is "Type.Method".
func FunctionName(f *ast.FuncDecl) string {
	if f.Recv == nil || len(f.Recv.List) == 0 {
		return f.Name.Name
	}
	kind := f.Recv.List[0].Type
	if star, ok := kind.(*ast.StarExpr); ok {
		kind = star.X
	}
	if generic, ok := kind.(*ast.IndexExpr); ok {
		kind = generic.X
	}
	if name, ok := kind.(*ast.Ident); ok {
		return name.Name + "." + f.Name.Name
	}
	return f.Name.Name
}

// scan returns the tokens of Go source, without comments and without the automatic semicolons at the end.
func scan(text []byte) (tokens []lexeme) {
	files := token.NewFileSet()
	file := files.AddFile("", files.Base(), len(text))
	var s scanner.Scanner
	s.Init(file, text, nil, 0)
	for {
		pos, kind, literal := s.Scan()
		if kind == token.EOF {
			break
		}
		from := file.Offset(pos)
		switch {
		case kind == token.SEMICOLON && literal == "\n":
			tokens = append(tokens, lexeme{";", from, from})
		case kind.IsLiteral() || kind.IsKeyword():
			tokens = append(tokens, lexeme{literal, from, from + len(literal)})
		default:
			tokens = append(tokens, lexeme{kind.String(), from, from + len(kind.String())})
		}
	}
	if n := len(tokens); n > 0 && tokens[n-1].text == ";" && tokens[n-1].from == tokens[n-1].to {
		tokens = tokens[:n-1]
	}
	return tokens
}

// find returns the positions of a snippet's first token in the functions with a name.
func (s *source) find(name string, pattern []string) (at []int) {
	for _, f := range s.functions {
		if f.name != name {
			continue
		}
		for i := range len(s.tokens) - len(pattern) + 1 {
			if s.tokens[i].from < f.from || s.tokens[i+len(pattern)-1].to > f.to {
				continue
			}
			if slices.EqualFunc(s.tokens[i:i+len(pattern)], pattern, func(t lexeme, text string) bool { return t.text == text }) {
				at = append(at, i)
			}
		}
	}
	return at
}
