package api

import (
	"context"
	"errors"
	"net/http"
	"time"
)

// Backups copies the journal into files of its own directory.
type Backups interface {
	// Plan says what a backup would do; an error says why none can be made now.
	Plan() ([]string, error)
	// Make makes one and verifies it as a whole.
	Make(ctx context.Context) (Backup, error)
}

// Backup is a verified copy of the journal.
type Backup struct {
	At      time.Time `json:"at"`
	File    string    `json:"file"`
	Bytes   int64     `json:"bytes"`
	SHA256  string    `json:"sha256"`
	Records int       `json:"records"`
	Hash    string    `json:"hash"` // of the last record
}

// BackupAnswer is the answer to a request for one.
type BackupAnswer struct {
	Schema int      `json:"schema"`
	DryRun bool     `json:"dry_run"`
	Does   []string `json:"does"`
	Backup *Backup  `json:"backup"` // null on a trial
}

// backupWithin bounds how long a request waits for a backup; a journal of years is
// copied and verified in minutes.
const backupWithin = 10 * time.Minute

// makeBackup serves POST /api/v1/backup.
func (s *Server) makeBackup(w http.ResponseWriter, r *http.Request) {
	dry, ok := dryRun(w, r)
	if !ok {
		return
	}
	err := errors.New("this botd keeps no journal that could be copied")
	out := BackupAnswer{Schema: 1, DryRun: dry}
	if s.config.Backups != nil {
		out.Does, err = s.config.Backups.Plan()
	}
	if err == nil && !dry && !s.copying.TryLock() {
		err = errors.New("a backup is under way")
	} else if err == nil && !dry {
		defer s.copying.Unlock()
	}
	if err != nil {
		problem(w, r, http.StatusConflict, "not_possible", err.Error())
		return
	}
	if dry {
		answerAs(w, http.StatusOK, out)
		return
	}
	if !s.sent(r.Context(), w, r, audited(r, "journal", "a backup", nil)) {
		return
	}
	// A writer without deadlines, as of a test, is written to all the same.
	_ = http.NewResponseController(w).SetWriteDeadline(time.Now().Add(backupWithin))
	ctx, cancel := context.WithTimeout(r.Context(), backupWithin)
	defer cancel()
	made, err := s.config.Backups.Make(ctx)
	if err != nil {
		problem(w, r, http.StatusServiceUnavailable, "unwritten", "no backup was made: "+err.Error())
		return
	}
	out.Backup = &made
	answerAs(w, http.StatusOK, out)
}
