package journal

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"

	"botd/internal/privatefile"
)

// copyRecords copies a journal's rows into a fresh file with botd's own schema. Nothing else that a
// file can contain is copied: no trigger, no view, no free page with old content.
func copyRecords(ctx context.Context, from, to string) error {
	file, err := privatefile.Open(to, os.O_CREATE|os.O_TRUNC|os.O_WRONLY)
	if err != nil {
		return err
	}
	if err := file.Close(); err != nil {
		return err
	}
	return writing(ctx, to, func(conn *sql.Conn) error { return copyRows(ctx, conn, from) })
}

// writing passes use a connection to a journal's file whose commits are durable, and closes the file.
func writing(ctx context.Context, path string, use func(*sql.Conn) error) error {
	db, err := sql.Open("sqlite", "file:"+path+"?mode=rw"+untrusted+"&_pragma=synchronous(FULL)")
	if err != nil {
		return err
	}
	conn, err := db.Conn(ctx)
	if err == nil {
		err = errors.Join(use(conn), conn.Close())
	}
	return errors.Join(err, db.Close())
}

func copyRows(ctx context.Context, conn *sql.Conn, from string) error {
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
	_, err := conn.ExecContext(ctx, fmt.Sprintf("PRAGMA main.user_version = %d; COMMIT", version))
	return err
}
