package tape

import (
	"context"
	"errors"
	"os"
	"syscall"

	"botd/internal/failure"
)

// Failure gives errors of recorded files their exit codes.
func Failure(err error) error {
	var data *DataError
	switch {
	case errors.As(err, &data):
		return failure.Wrap(failure.Data, err)
	case errors.Is(err, os.ErrNotExist):
		return failure.Wrap(failure.NoInput, err)
	case errors.Is(err, syscall.EISDIR):
		return failure.New(failure.NoInput, "name the file, not the directory it is in", "%w", err)
	case errors.Is(err, os.ErrPermission):
		return failure.Wrap(failure.IO, err)
	case errors.Is(err, context.Canceled):
		return err
	}
	if _, stopped := failure.SignalOf(err); stopped {
		return err
	}
	return failure.Wrap(failure.Internal, err)
}
