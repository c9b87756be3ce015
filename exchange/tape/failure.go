package tape

import (
	"context"
	"errors"
	"syscall"

	"botd/internal/failure"
)

// Failure assigns exit codes to errors of recorded files.
func Failure(err error) error {
	var data *DataError
	switch {
	case errors.As(err, &data):
		return failure.Wrap(failure.Data, err)
	case errors.Is(err, syscall.EISDIR):
		return failure.New(failure.NoInput, "name the file, not the directory it is in", "%w", err)
	}
	if _, stopped := failure.SignalOf(err); err == nil || stopped || errors.Is(err, context.Canceled) {
		return err
	}
	return failure.Wrap(failure.CodeOf(err), err)
}
