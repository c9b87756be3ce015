package journal

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
)

// sqlTables are the derived tables in the file, as prepared statements of the writing connection.
type sqlTables struct {
	insert       *sql.Stmt
	getPlacement *sql.Stmt
	setPlacement *sql.Stmt
	getBalance   *sql.Stmt
	setBalance   *sql.Stmt
}

const placementColumns = "client_order_id, sequence, strategy, market, symbol, purpose, state, order_id, filled, sent_ms, ended_ms"

const balanceColumns = "account, strategy, market, symbol, asset, amount, derived, sequence"

func prepareTables(ctx context.Context, conn *sql.Conn) (t sqlTables, err error) {
	for _, s := range []struct {
		into **sql.Stmt
		text string
	}{
		{&t.insert, "INSERT INTO record (sequence, at_ms, kind, strategy, market, symbol, client_order_id, body, previous, hash) VALUES " +
			"($1,$2,$3,$4,$5,$6,$7,$8,$9,$10)"},
		{&t.getPlacement, "SELECT " + placementColumns + " FROM placement WHERE client_order_id = $1"},
		{&t.setPlacement, "INSERT OR REPLACE INTO placement (" + placementColumns + ") VALUES ($1,$2,$3,$4,$5,$6,$7,$8,$9,$10,$11)"},
		{&t.getBalance, "SELECT " + balanceColumns + " FROM balance WHERE account = $1 AND strategy = $2 AND market = $3 AND symbol = $4 AND asset = $5"},
		{&t.setBalance, "INSERT OR REPLACE INTO balance (" + balanceColumns + ") VALUES ($1,$2,$3,$4,$5,$6,$7,$8)"},
	} {
		if *s.into, err = conn.PrepareContext(ctx, s.text); err != nil {
			return t, fmt.Errorf("prepare %s: %w", s.text, err)
		}
	}
	return t, nil
}

// close closes the statements: SQLite keeps a file and its log open while any statement is open.
func (t *sqlTables) close() (err error) {
	for _, s := range []*sql.Stmt{t.insert, t.getPlacement, t.setPlacement, t.getBalance, t.setBalance} {
		if s != nil {
			err = errors.Join(err, s.Close())
		}
	}
	*t = sqlTables{}
	return err
}

func (t *sqlTables) placement(id string) (placementRow, bool, error) {
	p, err := scanPlacement(t.getPlacement.QueryRow(id))
	if errors.Is(err, sql.ErrNoRows) {
		return p, false, nil
	}
	return p, err == nil, err
}

func scanPlacement(row interface{ Scan(...any) error }) (p placementRow, err error) {
	err = row.Scan(
		&p.ClientOrderID,
		&p.Sequence,
		&p.Strategy,
		&p.Market,
		&p.Symbol,
		&p.Purpose,
		&p.State,
		&p.OrderID,
		&p.Filled,
		&p.SentMS,
		&p.EndedMS,
	)
	return p, err
}

func (t *sqlTables) putPlacement(p placementRow) error {
	_, err := t.setPlacement.Exec(
		p.ClientOrderID,
		p.Sequence,
		p.Strategy,
		p.Market,
		p.Symbol,
		p.Purpose,
		p.State,
		p.OrderID,
		p.Filled,
		p.SentMS,
		p.EndedMS,
	)
	return err
}

func (t *sqlTables) balance(key balanceKey) (balance, bool, error) {
	b, err := scanBalance(t.getBalance.QueryRow(key.account, key.strategy, key.market, key.symbol, key.asset))
	if errors.Is(err, sql.ErrNoRows) {
		return b, false, nil
	}
	return b, err == nil, err
}

func scanBalance(row interface{ Scan(...any) error }) (b balance, err error) {
	err = row.Scan(&b.account, &b.strategy, &b.market, &b.symbol, &b.asset, &b.amount, &b.derived, &b.sequence)
	return b, err
}

func (t *sqlTables) putBalance(b balance) error {
	_, err := t.setBalance.Exec(b.account, b.strategy, b.market, b.symbol, b.asset, b.amount, b.derived, b.sequence)
	return err
}

// rederive rebuilds the derived tables from the records, and corrects the kind column of kinds that were
// renamed, in the current transaction.
func (t *sqlTables) rederive(ctx context.Context, conn *sql.Conn) error {
	if _, err := conn.ExecContext(ctx, "DELETE FROM placement; DELETE FROM balance"); err != nil {
		return err
	}
	var stored []Stored // one connection cannot read and write at once
	b, err := readBase(ctx, conn)
	if err == nil {
		err = b.Rows.put(t)
	}
	if err == nil {
		err = eachAfter(ctx, conn, link{nil, b.Through, b.Hash}, func(s *Stored) error { stored = append(stored, *s); return nil })
	}
	if err != nil {
		return err
	}
	for i := range stored {
		s := &stored[i]
		err := derive(t, s.Sequence, &s.Record)
		if _, renamed := formerKinds[s.Kind()]; renamed && err == nil {
			_, err = conn.ExecContext(ctx, "UPDATE record SET kind = ? WHERE sequence = ?", s.Kind().String(), s.Sequence)
		}
		if err != nil {
			return fmt.Errorf("journal record %d: %w", s.Sequence, err)
		}
	}
	return nil
}
