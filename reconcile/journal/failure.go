package journal

import (
	"errors"
	"os"

	"botd/internal/failure"
)

// FileName is the journal's file in a data directory.
const FileName = "journal.db"

// Failure assigns an exit code and a hint to an error of a journal.
func Failure(err error) error {
	var (
		coded   *failure.Error
		unsound *UnsoundError
		wrong   *BindingError
		altered *AlteredError
		newer   *NewerError
		planted *SchemaError
		unkeyed *KeyError
		missing *MissingError
	)
	switch {
	case err == nil:
		return nil
	case errors.As(err, &coded):
		return err
	case errors.As(err, &unsound):
		return failure.New(failure.Negative, "botd journal verify --file "+unsound.Path+" lists all problems", "%w", err)
	case errors.As(err, &altered):
		return failure.New(failure.Negative, "botd journal verify shows more; a backup may contain it unaltered", "%w", err)
	case errors.As(err, &missing):
		return failure.New(failure.NoInput, missing.Hint(), "%w", err)
	case errors.As(err, &planted):
		return failure.New(failure.Data, "botd journal verify lists all problems; the file was written externally: restore a backup (botd restore)", "%w", err)
	case errors.As(err, &unkeyed):
		return failure.New(failure.Config, unkeyed.Hint(), "%w", err)
	case errors.As(err, &wrong):
		return failure.Wrap(failure.Config, err)
	case errors.As(err, &newer):
		return failure.New(failure.Config, newer.Hint(), "%w", err)
	case errors.Is(err, ErrLocked):
		return failure.Wrap(failure.Temporary, err)
	case errors.Is(err, ErrExists):
		return failure.New(failure.Usage, "an existing file is never overwritten: choose another file name", "%w", err)
	case errors.Is(err, os.ErrNotExist):
		return failure.Wrap(failure.NoInput, err)
	}
	return failure.Wrap(failure.IO, err)
}
