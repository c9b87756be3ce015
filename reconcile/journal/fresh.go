package journal

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"

	"botd/internal/private"
)

// copyRecords copies a journal's rows into a fresh file of botd's own schema. Nothing else that
// a file can hold comes along: no trigger, no view, no free page with old content.
func copyRecords(ctx context.Context, from, to string) (err error) {
	file, err := private.Open(to, os.O_CREATE|os.O_TRUNC|os.O_WRONLY)
	if err != nil {
		return err
	}
	if err := file.Close(); err != nil {
		return err
	}
	db, err := sql.Open("sqlite", "file:"+to+"?mode=rw"+untrusted+"&_pragma=synchronous(FULL)")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	conn, err := db.Conn(ctx)
	if err != nil {
		return err
	}
	defer conn.Close()
	if _, err := conn.ExecContext(ctx, "ATTACH DATABASE ? AS source", "file:"+from+"?mode=ro"); err != nil {
		return err
	}
	var version int
	if err := conn.QueryRowContext(ctx, "PRAGMA source.user_version").Scan(&version); err != nil {
		return err
	}
	if _, err := conn.ExecContext(ctx, "BEGIN IMMEDIATE;"+schema); err != nil {
		return err
	}
	tables := []string{"meta", "record", "placement", "balance"}
	if version < withBalances {
		tables = tables[:3]
	}
	for _, table := range tables {
		if _, err := conn.ExecContext(ctx, fmt.Sprintf("INSERT INTO main.%s SELECT * FROM source.%s", table, table)); err != nil {
			return fmt.Errorf("copy the rows of %s: %w", table, err)
		}
	}
	_, err = conn.ExecContext(ctx, fmt.Sprintf("PRAGMA main.user_version = %d; COMMIT", version))
	return err
}
