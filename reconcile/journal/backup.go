package journal

import (
	"context"
	"crypto/sha256"
	"database/sql"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"botd/internal/privatefile"
)

// ErrExists means that an existing file would be overwritten.
var ErrExists = errors.New("already exists")

// Backup is a copy of a journal, checked after copying.
type Backup struct {
	File    string       `json:"file"`
	Bytes   int64        `json:"bytes"`
	SHA256  string       `json:"sha256"` // of the file
	Binding Binding      `json:"binding"`
	Account *AccountCopy `json:"account,omitempty"` // of demo and paper
	Report
}

// stamp is the format of the time in the names of copies and of files that were set aside.
const stamp = "20060102T150405Z"

// partial is the suffix of an incomplete file.
const partial = ".partial"

// Backup copies a consistent snapshot of the journal into a new file, even while a daemon writes it, and
// verifies the whole copy before the file gets its name. If the copy is damaged, Backup returns an error
// and leaves no file. The simulated account of demo and paper is copied at the same moment, into a file
// next to the copy. The end of the copy is noted as the journal's head.
func (j *Journal) Backup(ctx context.Context, path string) (Backup, error) {
	b, err := j.copyTo(ctx, path)
	if err == nil {
		j.noteHead(&b)
	}
	return b, err
}

// copyTo is Backup without the note of the journal's head: it writes only the copy and its account.
func (j *Journal) copyTo(ctx context.Context, path string) (b Backup, err error) {
	copied := path + partial
	for _, file := range []string{path, accountOf(path)} {
		if _, err := os.Lstat(file); err == nil {
			return b, fmt.Errorf("%s %w", file, ErrExists)
		}
	}
	if err := errors.Join(discard(copied), discard(accountOf(copied))); err != nil {
		return b, err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, discard(copied), discard(accountOf(copied)))
		}
	}()
	last, simulated, err := j.copyConsistently(ctx, accountOf(copied))
	if err != nil {
		return b, err
	}
	if file, err := os.OpenFile(copied, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600); err != nil { // readable only by its owner, from the start
		return b, fmt.Errorf("write the backup: %w", err)
	} else if err := file.Close(); err != nil {
		return b, fmt.Errorf("write the backup: %w", err)
	}
	if _, err := j.db.ExecContext(ctx, "VACUUM INTO ?", copied); err != nil {
		return b, fmt.Errorf("copy the journal: %w", err)
	}
	if simulated {
		account := &AccountCopy{}
		if account.Bytes, account.SHA256, err = sumOf(accountOf(copied)); err == nil {
			err = cutTo(ctx, copied, last, account)
		}
		if err != nil {
			return b, fmt.Errorf("truncate the copy after record %d: %w", last, err)
		}
	}
	if b, err = CheckBackup(ctx, copied, j.key); err != nil {
		return b, err
	}
	if err := j.holds(ctx, &b.Report); err != nil {
		return b, err
	}
	b.File = path
	if b.Account != nil {
		b.Account.File = accountOf(path)
		if err := renameDurably(accountOf(copied), accountOf(path)); err != nil {
			return b, errors.Join(err, discard(accountOf(path)))
		}
	}
	if err := renameDurably(copied, path); err != nil {
		return b, errors.Join(err, discard(path), discard(accountOf(path))) // a journal without its account, or the reverse, is not a backup
	}
	return b, nil
}

// holds returns an error unless the journal contains the last record of a copy.
func (j *Journal) holds(ctx context.Context, copied *Report) error {
	if copied.Records == 0 {
		return nil
	}
	var hash string
	if err := j.db.QueryRowContext(ctx, "SELECT hash FROM record WHERE sequence = ?", copied.Records).Scan(&hash); err != nil {
		return fmt.Errorf("compare the copy with the journal: %w", err)
	}
	if hash != copied.Hash {
		return fmt.Errorf("the copy is another journal: record %d has hash %s, not %s", copied.Records, copied.Hash, hash)
	}
	return nil
}

// CheckBackup verifies a whole copy of a journal. If the copy has problems, the error is an UnsoundError.
func CheckBackup(ctx context.Context, path string, key *Key) (Backup, error) {
	b := Backup{File: path}
	j, err := ReadKeyed(ctx, path, key)
	if err != nil {
		return b, err
	}
	b.Report, err = j.Verify(ctx)
	if err == nil {
		b.Binding, err = j.Binding(ctx)
	}
	if err == nil {
		b.Account, err = j.account(ctx)
	}
	if err = errors.Join(err, j.Close()); err != nil {
		return b, err
	}
	if len(b.Problems) > 0 {
		return b, &UnsoundError{path, b.Problems}
	}
	b.Bytes, b.SHA256, err = sumOf(path)
	return b, err
}

// UnsoundError means that a journal is inconsistent.
type UnsoundError struct {
	Path     string
	Problems []Problem
}

// Error returns the first problem.
func (e *UnsoundError) Error() string {
	return fmt.Sprintf("%s is damaged: %s (%d problems)", e.Path, e.Problems[0], len(e.Problems))
}

func sumOf(path string) (int64, string, error) {
	file, err := os.Open(path)
	if err != nil {
		return 0, "", err
	}
	defer file.Close()
	sum := sha256.New()
	n, err := io.Copy(sum, file)
	return n, hex.EncodeToString(sum.Sum(nil)), err
}

// renameDurably syncs a file, renames it, and syncs the directory of its new name.
func renameDurably(from, to string) error {
	file, err := os.OpenFile(from, os.O_RDWR, 0)
	if err != nil {
		return err
	}
	if err := errors.Join(file.Sync(), file.Close()); err != nil {
		return fmt.Errorf("make %s durable: %w", to, err)
	}
	if err := os.Rename(from, to); err != nil {
		return err
	}
	return privatefile.SyncDirectory(filepath.Dir(to))
}

func discard(path string) error {
	if err := os.Remove(path); err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	return nil
}

// Restored is the result of a restore.
type Restored struct {
	Backup
	Replaced        string `json:"kept"`                   // where the previous journal is now; empty for none
	ReplacedAccount string `json:"kept_account,omitempty"` // where the previous account is now
}

// Restore replaces a journal with a backup. The backup is verified, its records are copied into a fresh
// file, and that file is verified. The previous journal stays under another name. The account of demo
// and paper is restored with the journal. This process must hold the lock of the data directory: nothing
// else may write the journal meanwhile.
func Restore(ctx context.Context, backup, path string, key *Key, now time.Time) (r Restored, err error) {
	if r.Backup, err = CheckBackup(ctx, backup, key); err != nil {
		return r, err
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return r, fmt.Errorf("make the data directory: %w", err)
	}
	release, err := lock(path+".lock", "journal "+path)
	if err != nil {
		return r, err
	}
	defer func() { err = errors.Join(err, release()) }()
	if err := r.fits(ctx, path); err != nil {
		return r, err
	}
	copied := path + partial
	if err := copyRecords(ctx, backup, copied); err != nil {
		return r, errors.Join(fmt.Errorf("copy the backup: %w", err), discard(copied))
	}
	if err := dropMark(ctx, copied); err != nil {
		return r, errors.Join(err, discard(copied))
	}
	again, err := CheckBackup(ctx, copied, key)
	if err == nil && (again.Hash != r.Hash || again.Binding != r.Binding) {
		err = fmt.Errorf("the copy of %s is another journal: it ends with %s, not %s", backup, again.Hash, r.Hash)
	}
	if err != nil {
		return r, errors.Join(err, discard(copied))
	}
	if err := r.install(ctx, copied, path, now); err != nil {
		return r, errors.Join(err, discard(copied))
	}
	return r, setLeftoversAside(path, now)
}

// install moves both journal and account into place, or neither.
func (r *Restored) install(ctx context.Context, copied, path string, now time.Time) (err error) {
	head := readHead(path)
	if r.Replaced, err = setAside(ctx, path, now); err != nil {
		return err
	}
	defer func() {
		if err == nil {
			return
		}
		err = errors.Join(err, takeBack(path, r.Replaced))
		if head != nil {
			err = errors.Join(err, writeHead(path, *head))
		}
	}()
	if r.Account != nil {
		directory := filepath.Dir(path)
		if r.ReplacedAccount, err = r.Account.place(directory, now); err != nil {
			return fmt.Errorf("put the account in place: %w", err)
		}
		defer func() {
			if err != nil {
				err = errors.Join(err, takeBack(filepath.Join(directory, AccountFile), r.ReplacedAccount))
			}
		}()
	}
	if err := discard(HeadPath(path)); err != nil { // records of the other journal are not missing in this one
		return err
	}
	return renameDurably(copied, path)
}

// takeBack gives a file that was set aside its own name again and removes the other one, because botd
// refuses an account with two names.
func takeBack(path, moved string) error {
	if moved == "" { // there was no file
		return discard(path)
	}
	own, err := os.Lstat(path)
	aside, asideErr := os.Lstat(moved)
	if err == nil && asideErr == nil && os.SameFile(own, aside) {
		return os.Remove(moved)
	}
	if err := os.Rename(moved+"-wal", path+"-wal"); err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	return os.Rename(moved, path)
}

// fits returns a BindingError if the journal at the backup's destination belongs to another account. A
// missing or unreadable journal fits.
func (r *Restored) fits(ctx context.Context, path string) error {
	if _, err := os.Lstat(path); err != nil {
		return nil
	}
	j, err := Read(ctx, path)
	if err != nil {
		return nil // restoring an unreadable journal is the purpose of a restore
	}
	have, err := j.Binding(ctx)
	if err = errors.Join(err, j.Close()); err == nil && have != (Binding{}) && have != r.Binding {
		return &BindingError{Path: r.File, Want: have, Have: r.Binding}
	}
	return nil
}

// setAside gives the existing journal another name. Its own name stays until the backup replaces it, so
// that a journal exists at every moment. A journal that cannot be opened is moved unchanged.
func setAside(ctx context.Context, path string, now time.Time) (moved string, err error) {
	if _, err := os.Lstat(path); errors.Is(err, os.ErrNotExist) {
		return "", dropLog(path)
	}
	moved = path + ".before-" + now.UTC().Format(stamp)
	if _, err := os.Lstat(moved); err == nil {
		return "", fmt.Errorf("%s %w", moved, ErrExists)
	}
	if err := fold(ctx, path); err == nil {
		if err := os.Link(path, moved); err == nil {
			return moved, nil
		}
		if err := copyFile(path, moved); err != nil { // the file system does not support links
			return "", errors.Join(err, discard(moved))
		}
		return moved, nil
	}
	if err := os.Rename(path+"-wal", moved+"-wal"); err != nil && !errors.Is(err, os.ErrNotExist) {
		return "", err
	}
	if err := errors.Join(os.Rename(path, moved), dropLog(path)); err != nil {
		return "", errors.Join(err, takeBack(path, moved))
	}
	return moved, nil
}

// dropLog removes SQLite's companion files; otherwise they would be applied to the file's
// replacement.
func dropLog(path string) error { return errors.Join(discard(path+"-wal"), discard(path+"-shm")) }

// fold merges a journal's write-ahead log into its file and removes the log.
func fold(ctx context.Context, path string) error {
	db, err := sql.Open("sqlite", "file:"+path+"?mode=rw"+untrusted+"&_pragma=busy_timeout(5000)")
	if err != nil {
		return err
	}
	var busy, pages, folded int
	err = db.QueryRowContext(ctx, "PRAGMA wal_checkpoint(TRUNCATE)").Scan(&busy, &pages, &folded)
	if err = errors.Join(err, db.Close()); err != nil {
		return err
	}
	if busy != 0 {
		return errors.New("another process is reading it")
	}
	return dropLog(path)
}

func copyFile(from, to string) error {
	source, err := os.Open(from)
	if err != nil {
		return err
	}
	defer source.Close()
	target, err := privatefile.Open(to, os.O_CREATE|os.O_TRUNC|os.O_WRONLY)
	if err != nil {
		return err
	}
	_, err = io.Copy(target, source)
	return errors.Join(err, target.Sync(), target.Close())
}
