// Package failure attaches an exit code and a hint to an error.
//
// Packages below the command line return such errors too: the exit code classifies the
// failure, and the caller decides how to handle it.
package failure

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"
	"syscall"
)

// Exit codes of every command (contract, Commands; the numbers are sysexits.h's).
const (
	OK          = 0
	Negative    = 1  // a check found problems
	Usage       = 64 // the command line is wrong
	Data        = 65 // bad data
	NoInput     = 66 // an input is missing
	Unavailable = 69 // the daemon or the exchange cannot be reached
	Internal    = 70 // a bug
	IO          = 74
	Temporary   = 75 // try again
	Credentials = 77
	Config      = 78
)

// Error is an error with an exit code.
type Error struct {
	Code int
	Err  error
}

// Error returns the text of the failure; empty for an error without a text.
func (e *Error) Error() string {
	if e.Err == nil {
		return ""
	}
	return e.Err.Error()
}

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

// Wrap gives an error an exit code; nil stays nil.
func Wrap(code int, err error) error {
	if err == nil {
		return nil
	}
	return &Error{code, err}
}

// New returns an error with a text and a hint on its own line.
func New(code int, hint, format string, arguments ...any) error {
	err := fmt.Errorf(format, arguments...)
	if hint != "" {
		err = fmt.Errorf("%w\nhint: %s", err, hint)
	}
	return &Error{code, err}
}

// Usagef returns the error of an invalid command line.
func Usagef(format string, arguments ...any) error {
	return &Error{Usage, fmt.Errorf(format, arguments...)}
}

// ErrQuiet is an error without a text.
var ErrQuiet = errors.New("")

// Quiet ends with exit code 1 and no further text.
func Quiet() error { return &Error{Negative, nil} }

// CodeOf returns the exit code of an error.
func CodeOf(err error) int {
	var coded *Error
	var file *fs.PathError
	var files *os.LinkError
	switch {
	case errors.As(err, &coded):
		return coded.Code
	case errors.Is(err, fs.ErrNotExist):
		return NoInput
	case errors.As(err, &file), errors.As(err, &files), errors.Is(err, fs.ErrPermission), errors.Is(err, syscall.ENOSPC), errors.Is(err, syscall.EROFS):
		return IO
	case strings.HasPrefix(err.Error(), "unknown command"), strings.HasPrefix(err.Error(), "accepts "),
		strings.HasPrefix(err.Error(), "requires at "), strings.HasPrefix(err.Error(), "required flag"):
		return Usage
	}
	if s, ok := SignalOf(err); ok {
		return SignalCode(s)
	}
	return Internal
}

// SignalCode is the exit code of a process that a signal ended.
func SignalCode(s os.Signal) int {
	if number, ok := s.(syscall.Signal); ok {
		return 128 + int(number)
	}
	return 130
}

// Signal is the cause of a context ended by a signal.
type Signal struct{ Signal os.Signal }

// Error names the signal.
func (e *Signal) Error() string { return "received " + e.Signal.String() }

// SignalOf returns the signal that ended a context.
func SignalOf(err error) (os.Signal, bool) {
	if s, ok := errors.AsType[*Signal](err); ok {
		return s.Signal, true
	}
	return nil, false
}
