package script

import (
	"errors"
	"fmt"
	"strings"

	"go.starlark.net/resolve"
	"go.starlark.net/starlark"
	"go.starlark.net/syntax"

	"botd/strategy"
)

func sourceError(at syntax.Position, err error) *strategy.SourceError {
	return &strategy.SourceError{File: at.Filename(), Line: int(at.Line), Column: int(at.Col), Err: err}
}

// located converts a Starlark error into one with a position.
func located(err error) error {
	var (
		wrong   syntax.Error
		unknown resolve.ErrorList
		failed  *starlark.EvalError
	)
	switch {
	case errors.As(err, &wrong):
		return sourceError(wrong.Pos, errors.New(wrong.Msg))
	case errors.As(err, &unknown):
		e := sourceError(unknown[0].Pos, errors.New(unknown[0].Msg))
		if name, undefined := strings.CutPrefix(unknown[0].Msg, "undefined: "); undefined {
			// Starlark suggests the script's own names; we add the built-in ones.
			name, suggested, found := strings.Cut(name, " (did you mean ")
			e.Err, e.Unknown, e.Known = fmt.Errorf("%s is not defined", name), name, Names()
			if found {
				e.Known = []string{strings.TrimSuffix(suggested, "?)")}
			}
		}
		return e
	case errors.As(err, &failed):
		return failure(failed)
	}
	return err
}

// failure converts an error of a running script into one with its cause, position and call stack.
func failure(failed *starlark.EvalError) error {
	for inner := failed; errors.As(inner.Unwrap(), &inner); { // unwrap the error of a library
		failed = inner
	}
	var (
		at   syntax.Position
		path []string
	)
	for i := len(failed.CallStack) - 1; i >= 0; i-- { // the innermost call of the script
		frame := failed.CallStack.At(i)
		if frame.Pos.Filename() == "<builtin>" {
			continue
		}
		at = frame.Pos
		name := frame.Name
		if name == "<toplevel>" {
			name = "the top of the file"
		}
		path = append(path, fmt.Sprintf("%s:%d:%d in %s", at.Filename(), at.Line, at.Col, name))
	}
	message := failed.Msg
	if strings.Contains(message, "too many steps") {
		message = "took too many steps: an infinite loop?"
	}
	e := sourceError(at, errors.New(message))
	e.Trace = path
	return e
}
