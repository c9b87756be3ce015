// Package journal stores records durably in one SQLite file, append-only and chained.
//
// It has one append-only table of records, each carrying the hash of its predecessor, and tables
// derived from it in the same transaction. Append returns once the commit is durable (WAL,
// synchronous=FULL). The oldest records of a long journal move to compressed files (seal.go). The suite
// of tests (suite_test.go) states what any implementation must do.
package journal

import (
	"context"
	"crypto/sha256"
	"database/sql"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"sync"
	"time"

	_ "modernc.org/sqlite" // the driver, under the name sqlite

	"botd/internal/privatefile"
)

// maxConnections bounds the connections of one journal: one writes, the others read.
const maxConnections = 4

// ErrBroken means that an append failed and left the journal's tail in doubt: the process must end,
// and the next start replays the stored records.
var ErrBroken = errors.New("journal broken")

// ErrFull means that the disk has no room: nothing was written, and the caller may retry.
var ErrFull = errors.New("no room for the journal")

// ErrEpoch means that a start's epoch is not above every journalled one.
var ErrEpoch = errors.New("epoch is not above the journal's")

// ErrNewerSchema means that a newer botd has written this journal.
var ErrNewerSchema = errors.New("journal was written by a newer botd")

// ErrReading means that a write was attempted on a journal opened for reading.
var ErrReading = errors.New("journal is open for reading only")

// brokenError carries the cause of ErrBroken. The driver detects it by its method.
type brokenError struct{ cause error }

func (e *brokenError) Error() string {
	return "commit the journal: " + ErrBroken.Error() + ": " + e.cause.Error()
}
func (e *brokenError) Unwrap() []error { return []error{ErrBroken, e.cause} }

// Broken reports that the process must end.
func (e *brokenError) Broken() bool { return true }

// Binding identifies the owner of a journal. It is stored at creation and compared at every start,
// so that one account's journal is never used for another.
type Binding struct {
	Mode           string `json:"mode"`
	URL            string `json:"url"`
	KeyFingerprint string `json:"key_fingerprint"`
	Instance       string `json:"instance"`
}

// differences lists the fields in which two bindings differ.
func (b Binding) differences(have Binding) string {
	text := ""
	for _, field := range []struct{ name, want, have string }{
		{"mode", b.Mode, have.Mode}, {"exchange", b.URL, have.URL}, {"key fingerprint", b.KeyFingerprint, have.KeyFingerprint},
		{"instance", b.Instance, have.Instance},
	} {
		if field.want != field.have {
			if text != "" {
				text += ", "
			}
			text += fmt.Sprintf("%s %s (not %s)", field.name, field.have, field.want)
		}
	}
	return text
}

// BindingError means that a journal belongs to another mode, venue, key or instance.
type BindingError struct {
	Path       string
	Want, Have Binding
}

// Error lists the differences.
func (e *BindingError) Error() string {
	return fmt.Sprintf("journal %s belongs to %s\nhint: use a separate data_dir for this account", e.Path, e.Want.differences(e.Have))
}

// Journal is one account's journal in a SQLite file. It is safe for concurrent use.
type Journal struct {
	path    string
	archive string // directory of its segments; empty if they are next to it
	db      *sql.DB
	key     *Key         // of its links; nil for none
	release func() error // the lock; nil for reading
	schema  int          // of the file
	format  Format       // of the file; once it is written, guarded by mu

	mu       sync.Mutex // guards all below
	writer   *sql.Conn  // nil for reading
	tables   sqlTables
	sequence int64
	hash     string
	epoch    int64
	broken   error
	reserve  reserve
	cut      string    // missing records, as found at opening
	headed   int64     // the record noted in its head
	headedAt time.Time // time of that note
	watch    watch
}

const schema = `
CREATE TABLE IF NOT EXISTS meta (name TEXT PRIMARY KEY, value TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS record (
	sequence INTEGER PRIMARY KEY, at_ms INTEGER NOT NULL, kind TEXT NOT NULL, strategy TEXT NOT NULL,
	market TEXT NOT NULL, symbol TEXT NOT NULL, client_order_id TEXT NOT NULL,
	body TEXT NOT NULL, previous TEXT NOT NULL, hash TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS placement (
	client_order_id TEXT PRIMARY KEY, sequence INTEGER NOT NULL, strategy TEXT NOT NULL, market TEXT NOT NULL, symbol TEXT NOT NULL,
	purpose TEXT NOT NULL, state TEXT NOT NULL, order_id INTEGER NOT NULL, filled INTEGER NOT NULL, sent_ms INTEGER NOT NULL, ended_ms INTEGER NOT NULL);
CREATE TABLE IF NOT EXISTS balance (
	account TEXT NOT NULL, strategy TEXT NOT NULL, market TEXT NOT NULL, symbol TEXT NOT NULL, asset TEXT NOT NULL,
	amount TEXT NOT NULL, derived INTEGER NOT NULL, sequence INTEGER NOT NULL, PRIMARY KEY (account, strategy, market, symbol, asset));
CREATE INDEX IF NOT EXISTS record_boot ON record (sequence) WHERE kind = 'boot';
CREATE INDEX IF NOT EXISTS record_checkpoint ON record (sequence) WHERE kind = 'checkpoint';
`

// untrusted prevents SQLite from running functions named in a schema.
const untrusted = "&_pragma=trusted_schema(0)"

// Options configure a journal.
type Options struct {
	Reserve int64 // bytes kept free for facts and exits; 0 for defaultReserve, negative for none

	Layer string // SQLite's file layer by its name; empty for the system's

	Key      *Key // of the chain's links; nil for plain hashes
	BeginKey bool // key an unkeyed journal from its next record on; otherwise it is refused
}

func (o *Options) layer() string {
	if o.Layer == "" {
		return ""
	}
	return "&vfs=" + o.Layer
}

// Open opens or creates the journal file for this process only.
func Open(ctx context.Context, path string, binding Binding, options Options) (*Journal, error) {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return nil, fmt.Errorf("make the data directory: %w", err)
	}
	release, err := lock(path+".lock", "journal "+path)
	if err != nil {
		return nil, err
	}
	if file, err := privatefile.Open(path, os.O_CREATE|os.O_RDWR); err != nil {
		return nil, errors.Join(fmt.Errorf("open journal: %w", err), release())
	} else if err := file.Close(); err != nil {
		return nil, errors.Join(fmt.Errorf("open journal: %w", err), release())
	}
	db, err := sql.Open(
		"sqlite",
		"file:"+path+"?_pragma=journal_mode(WAL)"+untrusted+"&_pragma=synchronous(FULL)&_pragma=busy_timeout(5000)"+options.layer(),
	)
	if err != nil {
		return nil, errors.Join(fmt.Errorf("open journal %s: %w", path, err), release())
	}
	db.SetMaxOpenConns(maxConnections)
	j := &Journal{path: path, db: db, key: options.Key, release: release, reserve: reserve{path: path + ".reserve", size: options.Reserve},
		watch: newWatch(path)}
	if err := j.prepare(ctx, binding, options.BeginKey); err != nil {
		return nil, errors.Join(err, j.Close())
	}
	j.reserve.begin()
	j.watch.poll()
	return j, nil
}

func (j *Journal) prepare(ctx context.Context, binding Binding, beginKey bool) (err error) {
	if j.writer, err = j.db.Conn(ctx); err != nil {
		return fmt.Errorf("open journal %s: %w", j.path, err)
	}
	var version int
	if err := j.writer.QueryRowContext(ctx, "PRAGMA user_version").Scan(&version); err != nil {
		return fmt.Errorf("open journal %s: %w", j.path, err)
	}
	if err := j.checkSchema(ctx, version); err != nil {
		return err
	}
	if version > 0 {
		if j.format, err = readFormat(ctx, j.writer, j.path, version); err != nil {
			return err
		}
		if err := j.readTail(ctx); err != nil {
			return err
		}
		if err := j.checkKey(beginKey); err != nil {
			return err
		}
	}
	if version < schemaVersion {
		if err := j.migrate(ctx, version); err != nil {
			return fmt.Errorf("prepare journal %s: %w", j.path, err)
		}
	}
	j.schema = max(version, schemaVersion)
	if err := j.bind(ctx, binding); err != nil {
		return err
	}
	if j.tables, err = prepareTables(ctx, j.writer); err != nil {
		return fmt.Errorf("prepare journal %s: %w", j.path, err)
	}
	return j.beginHead(ctx)
}

// migrate updates the schema in one transaction. The records' texts and their chain stay unchanged; the
// derived tables are rebuilt if the older schema's differ.
func (j *Journal) migrate(ctx context.Context, version int) (err error) {
	if _, err := j.writer.ExecContext(ctx, "BEGIN IMMEDIATE;"+schema); err != nil {
		return err
	}
	defer func() {
		if err != nil {
			_, rollback := j.writer.ExecContext(context.WithoutCancel(ctx), "ROLLBACK")
			err = errors.Join(err, rollback)
		}
	}()
	if version < sameTables {
		t, err := prepareTables(ctx, j.writer)
		if err == nil {
			err = t.rederive(ctx, j.writer)
		}
		if err = errors.Join(err, t.close()); err != nil {
			return err
		}
	}
	_, err = j.writer.ExecContext(ctx, fmt.Sprintf("PRAGMA user_version = %d; COMMIT", schemaVersion))
	return err
}

// bind stores the binding of a new journal, or compares it with the stored one.
func (j *Journal) bind(ctx context.Context, binding Binding) error {
	want, err := json.Marshal(binding)
	if err != nil {
		return err
	}
	var stored string
	err = j.writer.QueryRowContext(ctx, "SELECT value FROM meta WHERE name = 'binding'").Scan(&stored)
	if errors.Is(err, sql.ErrNoRows) {
		_, err = j.writer.ExecContext(ctx, "INSERT INTO meta (name, value) VALUES ('binding', $1)", string(want))
		return err
	}
	if err != nil {
		return err
	}
	var have Binding
	if err := json.Unmarshal([]byte(stored), &have); err != nil {
		return fmt.Errorf("journal %s: binding: %w", j.path, err)
	}
	if have == binding {
		started, found, err := chained(ctx, j.writer)
		if err != nil || !found {
			return err
		}
		have = started
	}
	if have != binding {
		return &BindingError{Path: j.path, Want: binding, Have: have}
	}
	return nil
}

// readTail finds the end of the journal.
func (j *Journal) readTail(ctx context.Context) error {
	sequence, hash, err := tail(ctx, j.writer)
	if err != nil {
		return fmt.Errorf("read the end of journal %s: %w", j.path, err)
	}
	var epoch sql.NullInt64
	if err := j.writer.QueryRowContext(ctx, "SELECT max(json_extract(body, '$.epoch')) FROM record WHERE kind = 'boot'").Scan(&epoch); err != nil {
		return fmt.Errorf("read the epoch of journal %s: %w", j.path, err)
	}
	sealed, err := newestOf(ctx, j.writer, "checkpoint", "epoch") // starts whose records are sealed
	if err != nil {
		return fmt.Errorf("read the epoch of journal %s: %w", j.path, err)
	}
	checkpointed, _ := strconv.ParseInt(sealed, 10, 64)
	j.sequence, j.hash, j.epoch = sequence, hash, max(epoch.Int64, checkpointed)
	return nil
}

// Records returns the number of records, sealed ones included. Only the goroutine that appends may call it.
func (j *Journal) Records() int64 { return j.sequence }

func tail(ctx context.Context, conn *sql.Conn) (sequence int64, hash string, err error) {
	err = conn.QueryRowContext(ctx, "SELECT sequence, hash FROM record ORDER BY sequence DESC LIMIT 1").Scan(&sequence, &hash)
	if errors.Is(err, sql.ErrNoRows) {
		err = nil
	}
	return sequence, hash, err
}

// Read opens a journal for reading, whatever its binding and even with an older schema, while a
// daemon may write it. It does not check the codes of the links.
func Read(ctx context.Context, path string) (*Journal, error) { return ReadKeyed(ctx, path, nil) }

// ReadKeyed opens a journal for reading, and checks the codes of its links with their key.
func ReadKeyed(ctx context.Context, path string, key *Key) (*Journal, error) {
	db, err := sql.Open("sqlite", "file:"+path+"?mode=ro"+untrusted+"&_pragma=busy_timeout(5000)")
	if err != nil {
		return nil, fmt.Errorf("open journal %s: %w", path, err)
	}
	db.SetMaxOpenConns(maxConnections)
	j := &Journal{path: path, db: db, key: key, broken: ErrReading}
	if err := db.QueryRowContext(ctx, "PRAGMA user_version").Scan(&j.schema); err != nil {
		return nil, errors.Join(fmt.Errorf("open journal %s: %w", path, err), db.Close())
	}
	if j.schema == 0 {
		return nil, errors.Join(fmt.Errorf("%s is not a journal", path), db.Close())
	}
	if j.format, err = readFormat(ctx, db, path, j.schema); err != nil {
		return nil, errors.Join(err, db.Close())
	}
	return j, nil
}

// Close closes the file and releases its lock.
func (j *Journal) Close() error {
	j.mu.Lock()
	defer j.mu.Unlock()
	var err error
	if j.writer != nil {
		j.keepHead(true)
		if j.watch.poll() != "" && !j.watch.truncated {
			_, err = j.rescue()
		}
		err = errors.Join(err, j.tables.close(), j.writer.Close())
		j.writer = nil
	}
	if j.broken == nil {
		j.broken = errors.New("journal is closed")
	}
	err = errors.Join(err, j.db.Close())
	if j.release != nil {
		err = errors.Join(err, j.release())
		j.release = nil
	}
	return err
}

// chain returns the hash of a record, computed from the previous hash and its own text.
func chain(previous string, body []byte) string {
	sum := sha256.New()
	sum.Write([]byte(previous))
	sum.Write(body)
	return hex.EncodeToString(sum.Sum(nil))
}
