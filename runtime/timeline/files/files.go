// Package files reads the story of an account from its data directory: the log, the incidents, and the journal.
package files

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"botd/internal/failure"
	"botd/reconcile/journal"
	"botd/reconcile/record"
	"botd/runtime/ops"
	"botd/runtime/timeline"
	"botd/runtime/view"
)

// Read adds the log and the incidents of a directory to a story. The journal is added after it: an event that is in
// both is shown once.
func Read(directory string, story *timeline.Story) error {
	err := ops.ReadLogs(directory, func(path string) (io.ReadCloser, error) { return os.Open(path) }, story.Line)
	if err != nil {
		return failure.Wrap(failure.IO, fmt.Errorf("read the log: %w", err))
	}
	text, err := os.ReadFile(filepath.Join(directory, view.IncidentsFile))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return failure.Wrap(failure.IO, err)
	}
	all, err := view.ParseIncidents(text)
	if err != nil {
		return failure.Wrap(failure.Data, fmt.Errorf("%s: %w", view.IncidentsFile, err))
	}
	for i := range all {
		story.Incident(&all[i])
	}
	return nil
}

// ReadJournal adds the journal's records to a story, or those of people's changes alone.
func ReadJournal(ctx context.Context, store *journal.Journal, audits bool, story *timeline.Story) error {
	filter := journal.Filter{SinceMS: story.Since.UnixMilli()}
	if audits {
		filter.Kinds = []record.Kind{record.KindAudit}
	}
	return journal.Failure(store.Select(ctx, filter, func(s *journal.Stored) error { story.Record(s); return nil }))
}
