package cli

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
	exitOK          = 0
	exitNegative    = 1  // a check found problems
	exitUsage       = 64 // the command line is wrong
	exitData        = 65 // bad data
	exitNoInput     = 66 // an input is missing
	exitUnavailable = 69 // the daemon or the exchange can not be reached
	exitInternal    = 70 // a bug
	exitIO          = 74
	exitTemporary   = 75 // try again
	exitCredentials = 77
	exitConfig      = 78
)

// exitError is an error with the exit code it asks for.
type exitError struct {
	code int
	err  error
}

func (e *exitError) Error() string {
	if e.err == nil {
		return ""
	}
	return e.err.Error()
}

func (e *exitError) Unwrap() error { return e.err }

// fail gives an error an exit code; nil stays nil.
func fail(code int, err error) error {
	if err == nil {
		return nil
	}
	return &exitError{code, err}
}

// failure is fail with a text and a hint on its own line.
func failure(code int, hint, format string, arguments ...any) error {
	err := fmt.Errorf(format, arguments...)
	if hint != "" {
		err = fmt.Errorf("%w\nhint: %s", err, hint)
	}
	return &exitError{code, err}
}

func usage(format string, arguments ...any) error {
	return &exitError{exitUsage, fmt.Errorf(format, arguments...)}
}

// errQuiet is the error of an end that needs no words.
var errQuiet = errors.New("")

// negative ends with exit code 1 and no further text.
func negative() error { return &exitError{exitNegative, nil} }

// exitCode finds the code an error asks for.
func exitCode(err error) int {
	var coded *exitError
	switch {
	case errors.As(err, &coded):
		return coded.code
	case errors.Is(err, fs.ErrNotExist):
		return exitNoInput
	case errors.Is(err, fs.ErrPermission), errors.Is(err, syscall.ENOSPC), errors.Is(err, syscall.EROFS):
		return exitIO
	case strings.HasPrefix(err.Error(), "unknown command"), strings.HasPrefix(err.Error(), "accepts "), strings.HasPrefix(err.Error(), "requires at "), strings.HasPrefix(err.Error(), "required flag"):
		return exitUsage
	}
	if s, ok := signalOf(err); ok {
		return signalCode(s)
	}
	return exitInternal
}

func signalCode(s os.Signal) int {
	if number, ok := s.(syscall.Signal); ok {
		return 128 + int(number)
	}
	return 130
}
