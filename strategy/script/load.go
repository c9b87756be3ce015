package script

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"go.starlark.net/starlark"
	"go.starlark.net/syntax"

	"botd/strategy"
)

// compiling is a script with the libraries that it loads. Their texts are supplied: nothing here
// opens a file.
type compiling struct {
	given   []strategy.Library
	made    map[string]*starlark.Program // compiled libraries, by name
	texts   map[string]string            // of all files, by the names in errors
	path    []string                     // the libraries being compiled, outermost first
	watches strategy.Watching            // attributes that the files name
}

// parse reads one file and compiles the libraries that it loads.
func (c *compiling) parse(name string, source []byte) (*syntax.File, error) {
	file, err := dialect.Parse(name, source, 0)
	if err != nil {
		return nil, located(err)
	}
	top := map[syntax.Node]bool{}
	for _, statement := range file.Stmts {
		top[statement] = true
	}
	syntax.Walk(file, func(node syntax.Node) bool {
		load, is := node.(*syntax.LoadStmt)
		switch {
		case !is || err != nil:
		case !top[node]:
			err = sourceError(load.Load, errors.New("load(...) belongs at the top of the file, outside any function, condition or loop"))
		default:
			err = c.library(load)
		}
		return err == nil
	})
	if err != nil {
		return nil, err
	}
	examined, err := dialect.Parse(name, source, 0) // a separate tree, because names are resolved only once
	if err != nil {
		return nil, located(err)
	}
	if err := checked(examined); err != nil {
		return nil, err
	}
	rewriteFile(file)
	return file, nil
}

// library compiles the library that a load statement names, once.
func (c *compiling) library(load *syntax.LoadStmt) error {
	name := load.ModuleName()
	fails := func(hint, format string, values ...any) error {
		err := sourceError(load.Module.TokenPos, fmt.Errorf(format, values...))
		err.Hint = hint
		return err
	}
	i := slices.IndexFunc(c.given, func(l strategy.Library) bool { return l.Name == name })
	switch {
	case !strategy.LibraryName(name):
		return fails("put the file into the script's folder: load(\"lib.star\", \"name\")", "load(%q): a library is a .star file in the script's folder", name)
	case i < 0:
		return fails("put the file into the script's folder, and write load and its name on one line", "load(%q): file not found", name)
	case c.given[i].Fault != "":
		return fails("", "load(%q): cannot be read: %s", name, c.given[i].Fault)
	case slices.Contains(c.path, name):
		return fails("put the shared definitions into a third file", "load(%q): the libraries load each other: %s", name,
			strings.Join(append(c.path, name), " loads "))
	case c.made[name] != nil:
		return nil
	}
	l := &c.given[i]
	c.texts[l.File] = string(l.Text)
	c.path = append(c.path, name)
	file, err := c.parse(l.File, l.Text)
	if err != nil {
		return err
	}
	c.path = c.path[:len(c.path)-1]
	compiled, err := compileFile(l.File, file)
	if err != nil {
		return err
	}
	c.made[name] = compiled.program
	c.watches = together(c.watches, compiled.watches)
	return nil
}

// loading returns the load function of a thread: each library runs once for each strategy, with the
// same names as the script.
func (s *Script) loading(given starlark.StringDict) func(*starlark.Thread, string) (starlark.StringDict, error) {
	loaded := map[string]starlark.StringDict{}
	return func(thread *starlark.Thread, name string) (starlark.StringDict, error) {
		if globals, is := loaded[name]; is {
			return globals, nil
		}
		program, is := s.libraries[name]
		if !is {
			return nil, errors.New("it was not compiled")
		}
		globals, err := program.Init(thread, given)
		if err != nil {
			return nil, err
		}
		globals.Freeze()
		loaded[name] = globals
		return globals, nil
	}
}
