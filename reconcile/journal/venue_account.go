package journal

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"
)

// AccountFile is the simulated account of demo and paper, next to their journal. The two are only
// useful together, from the same moment, so a backup contains both.
const AccountFile = "exchange.json"

// AccountCopy is the copy of a simulated account that belongs to a backup.
type AccountCopy struct {
	File   string `json:"file"`
	Bytes  int64  `json:"bytes"`
	SHA256 string `json:"sha256"`
}

// accountMark is the key, in a backup's meta table, of the account that belongs to it.
const accountMark = "account"

// Bounds of the wait for a moment without changes of the account.
const (
	momentTries = 2_000
	momentPause = 2 * time.Millisecond
)

// accountOf returns the path of the account copy that belongs to a backup.
func accountOf(backup string) string { return backup + "." + AccountFile }

// errMoves means that the account changed during every attempt.
var errMoves = errors.New("the account's file keeps changing: try again")

// copyConsistently copies the account next to a journal and returns the last record that was durable at that
// moment, or found false if there is no account. botd journals an order before the account receives it, and
// the account stores every change before it answers. If the file is the same before and after the newest
// record is read, records and file match exactly.
func (j *Journal) copyConsistently(ctx context.Context, to string) (sequence int64, found bool, err error) {
	from := filepath.Join(filepath.Dir(j.path), AccountFile)
	if _, err := os.Stat(from); errors.Is(err, fs.ErrNotExist) {
		return 0, false, nil
	}
	for range momentTries {
		before, err := os.Stat(from)
		if err != nil {
			return 0, true, fmt.Errorf("copy the account: %w", err)
		}
		text, err := os.ReadFile(from)
		if err != nil {
			return 0, true, fmt.Errorf("copy the account: %w", err)
		}
		if err := j.db.QueryRowContext(ctx, "SELECT coalesce(max(sequence), 0) FROM record").Scan(&sequence); err != nil {
			return 0, true, fmt.Errorf("read the newest record: %w", err)
		}
		after, err := os.Stat(from)
		if err == nil && os.SameFile(before, after) && before.Size() == after.Size() && before.ModTime().Equal(after.ModTime()) &&
			int64(len(text)) == after.Size() {
			return sequence, true, writeNew(to, text)
		}
		select {
		case <-ctx.Done():
			return 0, true, ctx.Err()
		case <-time.After(momentPause):
		}
	}
	return 0, true, errMoves
}

// writeNew durably writes a file readable only by its owner.
func writeNew(path string, text []byte) error {
	file, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	_, err = file.Write(text)
	return errors.Join(err, file.Sync(), file.Close())
}

// cutTo truncates a copy of a journal after a given record and notes the account that belongs to it.
func cutTo(ctx context.Context, path string, sequence int64, account *AccountCopy) error {
	return writing(ctx, path, func(conn *sql.Conn) error { return cutAt(ctx, conn, sequence, account) })
}

func cutAt(ctx context.Context, conn *sql.Conn, sequence int64, account *AccountCopy) error {
	text, err := json.Marshal(account)
	if err != nil {
		return err
	}
	if _, err := conn.ExecContext(ctx, "BEGIN IMMEDIATE"); err != nil {
		return err
	}
	if _, err := conn.ExecContext(ctx, "INSERT OR REPLACE INTO meta (name, value) VALUES (?, ?)", accountMark, string(text)); err != nil {
		return err
	}
	removed, err := conn.ExecContext(ctx, "DELETE FROM record WHERE sequence > ?", sequence)
	if err != nil {
		return err
	}
	if n, err := removed.RowsAffected(); err != nil || n > 0 {
		var version int
		err = errors.Join(err, conn.QueryRowContext(ctx, "PRAGMA user_version").Scan(&version))
		if err == nil && version >= withBalances { // migration rebuilds the derived tables of older ones
			err = rebuildTables(ctx, conn)
		}
		if err != nil {
			return err
		}
	}
	_, err = conn.ExecContext(ctx, "COMMIT")
	return err
}

func rebuildTables(ctx context.Context, conn *sql.Conn) (err error) {
	t, err := prepareTables(ctx, conn)
	defer func() { err = errors.Join(err, t.close()) }()
	if err == nil {
		err = t.rederive(ctx, conn)
	}
	return err
}

// account returns the verified account that belongs to a journal's file, or nil if the file names
// none.
func (j *Journal) account(ctx context.Context) (*AccountCopy, error) {
	var text string
	err := j.db.QueryRowContext(ctx, "SELECT value FROM meta WHERE name = ?", accountMark).Scan(&text)
	if errors.Is(err, sql.ErrNoRows) {
		return nil, nil
	}
	var want, have AccountCopy
	if err == nil {
		err = json.Unmarshal([]byte(text), &want)
	}
	if err != nil {
		return nil, fmt.Errorf("read which account belongs to %s: %w", j.path, err)
	}
	have.File = accountOf(j.path)
	if have.Bytes, have.SHA256, err = sumOf(have.File); err != nil {
		return nil, fmt.Errorf("the account that belongs to %s: %w", j.path, err)
	}
	if have.SHA256 != want.SHA256 {
		return nil, &UnsoundError{j.path, []Problem{{"account", have.File, "sha256 " + want.SHA256, "sha256 " + have.SHA256}}}
	}
	return &have, nil
}

// place copies a backup's account into a data directory and returns the name under which it keeps the
// previous one; empty for none.
func (a *AccountCopy) place(directory string, now time.Time) (replaced string, err error) {
	to := filepath.Join(directory, AccountFile)
	text, err := os.ReadFile(a.File)
	if err != nil {
		return "", err
	}
	copied := to + partial
	if err := errors.Join(discard(copied), writeNew(copied, text)); err != nil {
		return "", err
	}
	if _, err := os.Lstat(to); err == nil {
		replaced = to + ".before-" + now.UTC().Format(stamp)
		if err := os.Link(to, replaced); err != nil {
			if err := copyFile(to, replaced); err != nil {
				return "", errors.Join(err, discard(copied))
			}
		}
	}
	if err := renameDurably(copied, to); err != nil {
		return "", errors.Join(err, takeBack(to, replaced), discard(copied))
	}
	return replaced, nil
}

// dropMark removes the mark from a journal that is put into use, because its account changes from then on.
func dropMark(ctx context.Context, path string) error {
	return writing(ctx, path, func(conn *sql.Conn) error {
		_, err := conn.ExecContext(ctx, "DELETE FROM meta WHERE name = ?", accountMark)
		return err
	})
}
