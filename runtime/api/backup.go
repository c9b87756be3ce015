package api

import (
	"context"
	"time"

	"botd/runtime/api/auth"
)

var backupRoutes = []route{
	{id: "backup", tag: "log", method: "POST", path: "/api/v1/backup", minimum: auth.Operator,
		endpoint: change(by(maintenanceOf, (*maintenance).backup)), fails: []int{409},
		summary: "Copies the journal into a new file in data_dir/MODE/backups, while it is written, and verifies the whole copy. " +
			"The newest 7 such copies are stored. " +
			"The request ends when the backup is made; if the client disconnects, the backup is abandoned."},
}

// Backups copies the journal into files of its own directory.
type Backups interface {
	// Plan lists the steps of a backup; an error gives the reason why none can be made now.
	Plan() ([]string, error)
	// Make makes a backup and verifies all of it.
	Make(ctx context.Context) (Backup, error)
}

// Backup is a verified copy of the journal.
type Backup struct {
	At      time.Time `json:"at"`
	File    string    `json:"file"`
	Bytes   int64     `json:"bytes"`
	SHA256  string    `json:"sha256"`
	Records int       `json:"records"`
	Hash    string    `json:"hash"` // the hash of the last record
}

// BackupAnswer is the answer to a request for a backup.
type BackupAnswer struct {
	Schema  int      `json:"schema"`
	DryRun  bool     `json:"dry_run"`
	Effects []string `json:"effects" was:"does"`
	Backup  *Backup  `json:"backup"` // null for a dry run
}

// backupTimeout bounds how long a request waits for a backup; a journal of years is
// copied and verified in minutes.
const backupTimeout = 10 * time.Minute

func (m *maintenance) backup(r *request, _ *nothing) (BackupAnswer, error) {
	out := BackupAnswer{Schema: 1, DryRun: r.dryRun}
	if m.config.Backups == nil {
		return out, notPossible("this botd has no journal that can be copied")
	}
	var err error
	if out.Effects, err = m.config.Backups.Plan(); err != nil {
		return out, notPossible(err.Error())
	}
	if r.dryRun {
		return out, nil
	}
	if !m.copying.TryLock() {
		return out, notPossible("another backup is running")
	}
	defer m.copying.Unlock()
	if err := m.controls.record(r, "journal", "a backup"); err != nil {
		return out, err
	}
	r.extend(backupTimeout)
	ctx, cancel := context.WithTimeout(r.Context(), backupTimeout)
	defer cancel()
	made, err := m.config.Backups.Make(ctx)
	if err != nil {
		return out, unwritten("no backup was made: " + err.Error())
	}
	out.Backup = &made
	return out, nil
}
