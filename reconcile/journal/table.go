package journal

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
)

// sqlTables are the statements of the writing connection, prepared once. They
// are the derived tables while it appends.
type sqlTables struct {
	insert       *sql.Stmt
	getPlacement *sql.Stmt
	setPlacement *sql.Stmt
}

const placementColumns = "client_order_id, sequence, strategy, market, symbol, purpose, state, order_id, filled, sent_ms, ended_ms"

func prepareTables(ctx context.Context, conn *sql.Conn) (t sqlTables, err error) {
	for _, s := range []struct {
		into **sql.Stmt
		text string
	}{
		{&t.insert, "INSERT INTO record (sequence, at_ms, kind, strategy, market, symbol, client_order_id, body, previous, hash) VALUES ($1,$2,$3,$4,$5,$6,$7,$8,$9,$10)"},
		{&t.getPlacement, "SELECT " + placementColumns + " FROM placement WHERE client_order_id = $1"},
		{&t.setPlacement, "INSERT OR REPLACE INTO placement (" + placementColumns + ") VALUES ($1,$2,$3,$4,$5,$6,$7,$8,$9,$10,$11)"},
	} {
		if *s.into, err = conn.PrepareContext(ctx, s.text); err != nil {
			return t, fmt.Errorf("prepare %s: %w", s.text, err)
		}
	}
	return t, nil
}

func (t *sqlTables) placement(id string) (placement, bool, error) {
	p, err := scanPlacement(t.getPlacement.QueryRow(id))
	if errors.Is(err, sql.ErrNoRows) {
		return p, false, nil
	}
	return p, err == nil, err
}

func scanPlacement(row interface{ Scan(...any) error }) (p placement, err error) {
	err = row.Scan(&p.ClientOrderID, &p.Sequence, &p.Strategy, &p.Market, &p.Symbol, &p.Purpose, &p.State, &p.OrderID, &p.Filled, &p.SentMS, &p.EndedMS)
	return p, err
}

func (t *sqlTables) putPlacement(p placement) error {
	_, err := t.setPlacement.Exec(p.ClientOrderID, p.Sequence, p.Strategy, p.Market, p.Symbol, p.Purpose, p.State, p.OrderID, p.Filled, p.SentMS, p.EndedMS)
	return err
}
