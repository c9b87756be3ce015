// Package journal the durable memory: SQLite by default, PostgreSQL for several machines.
//
// One append-only table of records, each carrying the hash of the one before it,
// and a table of placements derived from it in the same transaction. Append
// returns when the commit is durable (WAL, synchronous=FULL).
package journal

import (
	"context"
	"crypto/sha256"
	"database/sql"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"sync"

	_ "modernc.org/sqlite" // the driver, under the name sqlite

	"botd/reconcile"
)

// schemaVersion is the newest schema this program knows.
const schemaVersion = 1

// ErrBroken means that an append failed in a way that leaves the journal's tail
// in doubt: the process must end, and the next start replays what is there.
var ErrBroken = errors.New("journal broken")

// brokenError carries the cause of ErrBroken; the driver asks for it by its method.
type brokenError struct{ cause error }

func (e *brokenError) Error() string {
	return "commit the journal: " + ErrBroken.Error() + ": " + e.cause.Error()
}
func (e *brokenError) Unwrap() []error { return []error{ErrBroken, e.cause} }

// Broken says that the process must end.
func (e *brokenError) Broken() bool { return true }

// ErrNewerSchema means that a newer botd has written this journal.
var ErrNewerSchema = errors.New("journal was written by a newer botd")

// Binding is what a journal belongs to: it is stored at creation and compared at
// every start, so that one account's truth is never taken for another's.
type Binding struct {
	Mode           string `json:"mode"`
	URL            string `json:"url"`
	KeyFingerprint string `json:"key_fingerprint"`
	Instance       string `json:"instance"`
}

// Journal is one account's journal in a SQLite file. Safe for several goroutines.
type Journal struct {
	path string
	db   *sql.DB

	mu       sync.Mutex // guards all below
	sequence int64
	hash     string
	broken   error
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
`

// Open opens or makes the journal file.
func Open(ctx context.Context, path string, binding Binding) (*Journal, error) {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return nil, fmt.Errorf("make the data directory: %w", err)
	}
	if file, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o600); err != nil {
		return nil, fmt.Errorf("open journal: %w", err)
	} else if err := file.Close(); err != nil {
		return nil, fmt.Errorf("open journal: %w", err)
	}
	db, err := sql.Open("sqlite", "file:"+path+"?_pragma=journal_mode(WAL)&_pragma=synchronous(FULL)&_pragma=busy_timeout(5000)&_txlock=immediate")
	if err != nil {
		return nil, fmt.Errorf("open journal %s: %w", path, err)
	}
	db.SetMaxOpenConns(1)
	j := &Journal{path: path, db: db}
	if err := j.prepare(ctx, binding); err != nil {
		return nil, errors.Join(err, db.Close())
	}
	return j, nil
}

func (j *Journal) prepare(ctx context.Context, binding Binding) error {
	var version int
	if err := j.db.QueryRowContext(ctx, "PRAGMA user_version").Scan(&version); err != nil {
		return fmt.Errorf("open journal %s: %w", j.path, err)
	}
	if version > schemaVersion {
		return fmt.Errorf("journal %s has schema %d, this botd knows %d: %w", j.path, version, schemaVersion, ErrNewerSchema)
	}
	if _, err := j.db.ExecContext(ctx, schema+fmt.Sprintf("PRAGMA user_version = %d;", schemaVersion)); err != nil {
		return fmt.Errorf("prepare journal %s: %w", j.path, err)
	}
	if err := j.bind(ctx, binding); err != nil {
		return err
	}
	return j.readTail(ctx)
}

// bind stores the binding of a new journal and compares it with a known one's.
func (j *Journal) bind(ctx context.Context, binding Binding) error {
	want, err := json.Marshal(binding)
	if err != nil {
		return err
	}
	var have string
	err = j.db.QueryRowContext(ctx, "SELECT value FROM meta WHERE name = 'binding'").Scan(&have)
	if errors.Is(err, sql.ErrNoRows) {
		_, err = j.db.ExecContext(ctx, "INSERT INTO meta (name, value) VALUES ('binding', $1)", string(want))
		return err
	}
	if err == nil && have != string(want) {
		err = &BindingError{Path: j.path, Want: string(want), Have: have}
	}
	return err
}

// BindingError means that a journal belongs to another mode, venue, key or instance.
type BindingError struct{ Path, Want, Have string }

// Error names both.
func (e *BindingError) Error() string {
	return fmt.Sprintf("journal %s belongs to %s, not to %s\nhint: give this account a data_dir of its own", e.Path, e.Have, e.Want)
}

func (j *Journal) readTail(ctx context.Context) error {
	j.sequence, j.hash = 0, ""
	err := j.db.QueryRowContext(ctx, "SELECT sequence, hash FROM record ORDER BY sequence DESC LIMIT 1").Scan(&j.sequence, &j.hash)
	if errors.Is(err, sql.ErrNoRows) {
		return nil
	}
	return err
}

// Read opens a journal for reading, whatever it is bound to, also while a daemon
// writes it.
func Read(ctx context.Context, path string) (*Journal, error) {
	db, err := sql.Open("sqlite", "file:"+path+"?mode=ro&_pragma=busy_timeout(5000)")
	if err != nil {
		return nil, fmt.Errorf("open journal %s: %w", path, err)
	}
	j := &Journal{path: path, db: db, broken: errors.New("opened for reading")}
	if err := j.readTail(ctx); err != nil {
		return nil, errors.Join(fmt.Errorf("open journal %s: %w", path, err), db.Close())
	}
	return j, nil
}

// Append makes the records durable, in order, all or none.
func (j *Journal) Append(ctx context.Context, records []reconcile.Record) error {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.broken != nil {
		return j.broken
	}
	sequence, hash := j.sequence, j.hash
	transaction, err := j.db.BeginTx(ctx, nil)
	if err != nil {
		return fmt.Errorf("begin a journal append: %w", err)
	}
	for i := range records {
		sequence++
		if hash, err = appendOne(ctx, transaction, sequence, hash, &records[i]); err != nil {
			return errors.Join(fmt.Errorf("append %s to the journal: %w", records[i].Kind, err), transaction.Rollback())
		}
	}
	if err := transaction.Commit(); err != nil {
		j.broken = &brokenError{err}
		return j.broken
	}
	j.sequence, j.hash = sequence, hash
	return nil
}

func appendOne(ctx context.Context, transaction *sql.Tx, sequence int64, previous string, record *reconcile.Record) (string, error) {
	body, err := json.Marshal(record)
	if err != nil {
		return "", err
	}
	hash := chain(previous, body)
	_, err = transaction.ExecContext(ctx, `INSERT INTO record (sequence, at_ms, kind, strategy, market, symbol, client_order_id, body, previous, hash)
		VALUES ($1,$2,$3,$4,$5,$6,$7,$8,$9,$10)`, sequence, record.AtMS, record.Kind.String(), record.Strategy, record.Symbol.Market.String(),
		record.Symbol.Name, record.ClientOrderID, string(body), previous, hash)
	if err != nil {
		return "", err
	}
	return hash, derive(ctx, transaction, sequence, record)
}

func chain(previous string, body []byte) string {
	sum := sha256.New()
	sum.Write([]byte(previous))
	sum.Write(body)
	return hex.EncodeToString(sum.Sum(nil))
}

// derive keeps the table of placements: what the records say, ready to read.
func derive(ctx context.Context, transaction *sql.Tx, sequence int64, r *reconcile.Record) error {
	state := ""
	switch r.Kind {
	case reconcile.RecordSending:
		_, err := transaction.ExecContext(ctx, `INSERT INTO placement (client_order_id, sequence, strategy, market, symbol, purpose, state, order_id, filled, sent_ms, ended_ms)
			VALUES ($1,$2,$3,$4,$5,$6,$7,0,0,$8,0)`, r.ClientOrderID, sequence, r.Strategy, r.Symbol.Market.String(), r.Symbol.Name, r.Purpose.String(), reconcile.Sending.String(), r.AtMS)
		return err
	case reconcile.RecordAcknowledged:
		state = reconcile.Acknowledged.String()
	case reconcile.RecordUnknown:
		state = reconcile.Uncertain.String()
	case reconcile.RecordFill:
		state = reconcile.Working.String()
	case reconcile.RecordRefused:
		state = reconcile.Refused.String()
	case reconcile.RecordEnded:
		state = r.State.String()
	default:
		return nil
	}
	ended := int64(0)
	if r.Kind == reconcile.RecordEnded || r.Kind == reconcile.RecordRefused {
		ended = r.AtMS
	}
	_, err := transaction.ExecContext(ctx, `UPDATE placement SET state = $1, order_id = max(order_id, $2), filled = max(filled, $3), ended_ms = max(ended_ms, $4) WHERE client_order_id = $5`,
		state, r.OrderID, int64(r.Filled), ended, r.ClientOrderID)
	return err
}

// Replay gives every record in order, checking the chain. An altered or missing
// record is an error that names its sequence.
func (j *Journal) Replay(ctx context.Context, take func(*reconcile.Record) error) error {
	rows, err := j.db.QueryContext(ctx, "SELECT sequence, body, previous, hash FROM record ORDER BY sequence")
	if err != nil {
		return fmt.Errorf("read the journal: %w", err)
	}
	defer rows.Close()
	previous, expected := "", int64(1)
	for ; rows.Next(); expected++ {
		var sequence int64
		var body, before, hash string
		if err := rows.Scan(&sequence, &body, &before, &hash); err != nil {
			return fmt.Errorf("read the journal: %w", err)
		}
		if sequence != expected || before != previous || hash != chain(previous, []byte(body)) {
			return fmt.Errorf("journal record %d was altered or one before it is missing", expected)
		}
		previous = hash
		var record reconcile.Record
		if err := json.Unmarshal([]byte(body), &record); err != nil {
			return fmt.Errorf("journal record %d: %w", sequence, err)
		}
		if err := take(&record); err != nil {
			return fmt.Errorf("journal record %d: %w", sequence, err)
		}
	}
	return rows.Err()
}

// Export writes every record as a line of JSON.
func (j *Journal) Export(ctx context.Context, w io.Writer) error {
	encoder := json.NewEncoder(w)
	return j.Replay(ctx, func(r *reconcile.Record) error { return encoder.Encode(r) })
}

// Close closes the file.
func (j *Journal) Close() error { return j.db.Close() }
