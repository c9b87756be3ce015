package journal

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
)

// Text returns a binding as the record of a start contains it: inside the chain, so that changing
// one row outside it cannot assign the journal to another account.
func (b Binding) Text() string {
	text, err := json.Marshal(b)
	if err != nil {
		panic("journal: " + err.Error()) // impossible: a Binding has only strings
	}
	return string(text)
}

// chained returns the binding in the last start's record, or false if that record has none because an
// older version wrote it.
func chained(ctx context.Context, conn *sql.Conn) (b Binding, found bool, err error) {
	text, err := newestOf(ctx, conn, "boot", "account")
	if err == nil && text == "" {
		text, err = newestOf(ctx, conn, "checkpoint", "account") // the start's record is sealed
	}
	if err == nil && text == "" {
		return b, false, nil
	}
	if err == nil {
		err = json.Unmarshal([]byte(text), &b)
	}
	if err != nil {
		return b, false, fmt.Errorf("read the binding of the last start: %w", err)
	}
	return b, true, nil
}

// newestOf returns a field of the newest record of a kind, or an empty string if there is none.
func newestOf(ctx context.Context, q querier, kind, field string) (string, error) {
	var text sql.NullString
	err := q.QueryRowContext(ctx, "SELECT json_extract(body, ?) FROM record WHERE kind = '"+kind+"' ORDER BY sequence DESC LIMIT 1", "$."+field).
		Scan(&text)
	if errors.Is(err, sql.ErrNoRows) {
		err = nil
	}
	return text.String, err
}

// Binding returns the account to which the journal belongs.
func (j *Journal) Binding(ctx context.Context) (b Binding, err error) {
	conn, err := j.db.Conn(ctx)
	if err != nil {
		return b, fmt.Errorf("read the binding of journal %s: %w", j.path, err)
	}
	defer conn.Close()
	if b, err = bindingOf(ctx, conn); err != nil {
		return b, fmt.Errorf("journal %s: %w", j.path, err)
	}
	return b, nil
}

// bindingOf returns the stored binding, or the zero value for none.
func bindingOf(ctx context.Context, conn *sql.Conn) (b Binding, err error) {
	var text string
	err = conn.QueryRowContext(ctx, "SELECT value FROM meta WHERE name = 'binding'").Scan(&text)
	if errors.Is(err, sql.ErrNoRows) {
		return b, nil
	}
	if err == nil {
		err = json.Unmarshal([]byte(text), &b)
	}
	if err != nil {
		return b, fmt.Errorf("read the binding: %w", err)
	}
	return b, nil
}
