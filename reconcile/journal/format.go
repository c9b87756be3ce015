package journal

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"

	"botd/internal/version"
	"botd/reconcile/record"
)

// Format is the newest format epoch of a journal's records and the first botd that wrote it. Its
// zero value is a journal from before format epochs.
type Format struct {
	Epoch int    `json:"epoch"`
	Botd  string `json:"botd"`
}

// current is the format that this botd writes.
func current() Format {
	info := version.Read()
	return Format{record.FormatEpoch, version.Spaced(info.Version, info.Revision)}
}

// NewerError means that a newer botd has written the journal: this one would decide without the content
// that it does not know.
type NewerError struct {
	Path        string
	What        string // schema, format epoch
	Have, Known int
	Botd        string // the version that wrote it; empty if the journal does not record it
}

// Error returns the unknown version and the botd that supports it.
func (e *NewerError) Error() string {
	text := fmt.Sprintf("journal %s has %s %d, this botd knows %d: %v", e.Path, e.What, e.Have, e.Known, ErrNewerSchema)
	if e.Botd != "" {
		text += ", " + e.Botd
	}
	return text
}

// Unwrap gives ErrNewerSchema.
func (e *NewerError) Unwrap() error { return ErrNewerSchema }

// Hint names the botd to run.
func (e *NewerError) Hint() string {
	text := "run the botd that wrote it, or a newer one"
	if e.Botd != "" {
		text = "run botd " + e.Botd + ", or a newer one"
	}
	return text + "; or restore a backup from before the upgrade (botd restore)"
}

// querier is a single connection or a pool.
type querier interface {
	QueryRowContext(ctx context.Context, query string, arguments ...any) *sql.Row
}

// readFormat reads a journal's format and refuses one that is newer than this botd.
func readFormat(ctx context.Context, q querier, path string, schema int) (f Format, err error) {
	var text string
	err = q.QueryRowContext(ctx, "SELECT value FROM meta WHERE name = 'format'").Scan(&text)
	if err == nil {
		err = json.Unmarshal([]byte(text), &f)
	} else if errors.Is(err, sql.ErrNoRows) {
		err = nil
	}
	switch {
	case schema > sealedSchema:
		return f, &NewerError{path, "schema", schema, sealedSchema, f.Botd}
	case err != nil:
		return f, fmt.Errorf("read the format of journal %s: %w", path, err)
	}
	return f, f.known(path)
}

// known refuses a format that is newer than this botd's.
func (f Format) known(path string) error {
	if f.Epoch > record.FormatEpoch {
		return &NewerError{path, "format epoch", f.Epoch, record.FormatEpoch, f.Botd}
	}
	return nil
}

// raiseFormat writes this botd's format into the journal, in the transaction of its first records
// in that format, and returns it.
func (j *Journal) raiseFormat(ctx context.Context) (Format, error) {
	if j.format.Epoch >= record.FormatEpoch {
		return j.format, nil
	}
	f := current()
	text, err := json.Marshal(f)
	if err != nil {
		return f, err
	}
	_, err = j.writer.ExecContext(ctx, "INSERT OR REPLACE INTO meta (name, value) VALUES ('format', ?)", string(text))
	return f, err
}

// Format returns the newest format in which the journal was written.
func (j *Journal) Format() Format { return j.format }
