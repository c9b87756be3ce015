// Package script runs strategies written in Starlark, and rules of one line each.
//
// A script is a small Python-like file. Its top level runs once: it declares parameters and makes
// indicators. Then, for every closed candle, candle(view) may store values in state, and
// decide(view) returns the desired state. A script has no clock, no files, no network and no
// randomness. Each call has a bounded number of steps, and an error stops only that strategy.
package script

import (
	"errors"
	"fmt"
	"maps"
	"slices"

	"go.starlark.net/starlark"
	"go.starlark.net/syntax"

	"botd/strategy"
)

// Bounds of a script, in Starlark's steps (a step is about one operation).
const (
	loadSteps = 10_000_000 // the top of the file, once
	callSteps = 1_000_000  // one candle or one decision
)

var dialect = &syntax.FileOptions{Set: true, TopLevelControl: true}

// Script is a compiled file from which any number of strategies can be built.
type Script struct {
	name       string // of the file, for errors
	program    *starlark.Program
	libraries  map[string]*starlark.Program // by the names in load statements
	texts      map[string]string            // of all files, by the names in errors
	watches    strategy.Watching            // attributes that the script names
	parameters []strategy.Parameter
}

// Compile parses a script and the libraries that it loads, checks them and runs the script's top once with the default
// parameters. An error is a *strategy.SourceError with its position.
func Compile(name string, source []byte, libraries ...strategy.Library) (*Script, error) {
	c := &compiling{given: libraries, made: map[string]*starlark.Program{}, texts: map[string]string{name: string(source)}}
	s, err := c.script(name, source)
	return s, advised(err, c.texts)
}

func (c *compiling) script(name string, source []byte) (*Script, error) {
	file, err := c.parse(name, source)
	if err != nil {
		return nil, err
	}
	s, err := compileFile(name, file)
	if err != nil {
		return nil, err
	}
	s.libraries, s.texts = c.made, c.texts
	s.watches = together(s.watches, c.watches)
	tried, err := s.load(nil)
	if err != nil {
		return nil, err
	}
	s.parameters = tried.parameters
	return s, tried.complete()
}

func compileFile(name string, file *syntax.File) (*Script, error) {
	program, err := starlark.FileProgram(file, isPredeclared)
	if err != nil {
		return nil, located(err)
	}
	return &Script{name: name, program: program, watches: watchesOf(file)}, nil
}

// watchesOf returns the subscriptions that a script needs, by the attributes that it names. The
// scanned file is used for nothing else.
func watchesOf(file *syntax.File) strategy.Watching {
	return strategy.Watching{Events: reads(file, "events", "missed"), Funding: reads(file, "funding", "funding_ms"),
		OrderBook: reads(file, "bids", "asks", "bid", "ask", "book_ms"), Funds: reads(file, "buying_power")}
}

// together combines the subscriptions of two files.
func together(a, b strategy.Watching) strategy.Watching {
	return strategy.Watching{Events: a.Events || b.Events, Funding: a.Funding || b.Funding, OrderBook: a.OrderBook || b.OrderBook, Funds: a.Funds || b.Funds}
}

// reads reports whether a script names one of these attributes.
func reads(file *syntax.File, attributes ...string) (names bool) {
	syntax.Walk(file, func(n syntax.Node) bool {
		if dot, is := n.(*syntax.DotExpr); is {
			names = names || slices.Contains(attributes, dot.Name.Name)
		}
		return true
	})
	return names
}

// Files defines scripts in a registry, as far as they can be described without a file.
func Files() strategy.Definition {
	return strategy.Definition{Name: "script", Summary: "runs a Starlark file: strategy: script, file: my.star",
		New: func(strategy.Setting, strategy.Values) (strategy.Strategy, error) {
			return nil, errors.New("a script needs its file: key")
		}}
}

// Definition defines the script as a strategy named "script".
func (s *Script) Definition() strategy.Definition {
	return strategy.Definition{Name: "script", Summary: "decided by " + s.name, Parameters: s.parameters,
		New: func(setting strategy.Setting, values strategy.Values) (strategy.Strategy, error) {
			if err := s.check(values); err != nil {
				return nil, err
			}
			made, err := s.rehearsed(setting, values)
			return made, advised(err, s.texts)
		}}
}

// rehearsed builds the strategy and rehearses a second instance of it on synthetic candles.
func (s *Script) rehearsed(setting strategy.Setting, values strategy.Values) (strategy.Strategy, error) {
	made, err := s.placed(setting, values)
	if err != nil {
		return nil, err
	}
	twin, err := s.placed(setting, values)
	if err != nil {
		return nil, err
	}
	measured, err := rehearse(twin, twin)
	if made.warmup == 0 {
		made.warmup = measured
	}
	return made, err
}

// placed loads the script for one market.
func (s *Script) placed(setting strategy.Setting, values strategy.Values) (*running, error) {
	r, err := s.load(values)
	if err != nil {
		return nil, err
	}
	return r, r.place(setting)
}

// place sets a loaded script's market.
func (r *running) place(setting strategy.Setting) error {
	r.setting = setting
	r.view = newView()
	r.args = starlark.Tuple{r.view}
	if err := r.checkColumns(setting.Columns); err != nil {
		return &strategy.SourceError{File: r.name, Err: err}
	}
	if err := r.placeClocks(&setting); err != nil {
		return &strategy.SourceError{File: r.name, Err: err}
	}
	return nil
}

// check refuses unknown parameters and invalid values.
func (s *Script) check(values strategy.Values) error {
	known := map[string]bool{}
	for _, parameter := range s.parameters {
		known[parameter.Name] = true
		if text, given := values[parameter.Name]; given {
			if err := parameter.Check(text); err != nil {
				return &strategy.ValueError{Parameter: parameter.Name, Err: err}
			}
		}
	}
	for name := range values {
		if !known[name] {
			return &strategy.ValueError{Parameter: name, Err: fmt.Errorf("%s does not have this parameter", s.name)}
		}
	}
	return nil
}

// load runs the top of the file for one strategy.
func (s *Script) load(values strategy.Values) (*running, error) {
	r := newRunning(s.name, values)
	r.watches = s.watches
	given := maps.Clone(shared)
	r.sources(given)
	given["state"] = r.state
	r.thread.Load = s.loading(given)
	r.thread.SetMaxExecutionSteps(loadSteps)
	globals, err := s.top(r, given)
	if err != nil {
		return nil, located(err)
	}
	globals.Freeze()
	r.loading = false
	r.globals = globals
	if err := r.functions(globals); err != nil {
		return nil, err
	}
	return r, nil
}

// top runs the top of the file. A condition that it cannot decide yet is an ordinary error.
func (s *Script) top(r *running, given starlark.StringDict) (globals starlark.StringDict, err error) {
	defer func() {
		cause := recover()
		failed, is := cause.(*starlark.EvalError)
		switch {
		case is:
			err = failed
		case cause != nil:
			panic(cause)
		}
	}()
	return s.program.Init(r.thread, given)
}

// functions finds candle and decide in the script.
func (r *running) functions(globals starlark.StringDict) error {
	for name, into := range map[string]**starlark.Function{"candle": &r.candle, "decide": &r.decide} {
		value, found := globals[name]
		if !found {
			continue
		}
		function, is := value.(*starlark.Function)
		if !is {
			return &strategy.SourceError{File: r.name, Err: fmt.Errorf("%s is a %s, not a function", name, value.Type())}
		}
		if function.NumParams() != 1 || function.HasVarargs() || function.HasKwargs() {
			return sourceError(function.Position(), fmt.Errorf("%s takes one parameter, the view: def %s(view)", name, name))
		}
		*into = function
	}
	return nil
}

// complete refuses a script without decide.
func (r *running) complete() error {
	if r.decide == nil {
		return &strategy.SourceError{File: r.name, Err: errors.New("has no function decide: write def decide(view), which returns hold(...), " +
			"plan(...) or None")}
	}
	return nil
}
