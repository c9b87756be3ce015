package journal

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"botd/reconcile"
	"botd/reconcile/placement"
	"botd/reconcile/record"
)

// Stored is a record with its position in the journal.
type Stored struct {
	Sequence int64
	Hash     string
	record.Record
}

// MarshalJSON writes the record's position before its own fields.
func (s Stored) MarshalJSON() ([]byte, error) {
	body, err := s.Record.MarshalJSON()
	if err != nil {
		return nil, err
	}
	return append(fmt.Appendf(nil, `{"sequence":%d,"hash":%q,`, s.Sequence, s.Hash), body[1:]...), nil
}

// AlteredError means that a record does not fit the chain: it was altered, or its predecessor is
// missing.
type AlteredError struct {
	Sequence int64
	Cause    error
}

// Error names the position.
func (e *AlteredError) Error() string {
	return fmt.Sprintf("journal record %d %v", e.Sequence, e.Cause)
}

// link follows the chain of records.
type link struct {
	key      *Key
	sequence int64 // sequence of the last record
	hash     string
}

// decode checks one record against the chain and decodes it.
func (l *link) decode(sequence int64, body, previous, hash string) (Stored, error) {
	err := l.key.fits(previous, []byte(body), hash)
	if sequence != l.sequence+1 || previous != l.hash {
		err = errAltered
	}
	if err != nil {
		return Stored{}, &AlteredError{l.sequence + 1, err}
	}
	l.sequence, l.hash = sequence, hash
	stored := Stored{Sequence: sequence, Hash: hash}
	if err := json.Unmarshal([]byte(body), &stored.Record); err != nil {
		return stored, fmt.Errorf("journal record %d: %w", sequence, err)
	}
	return stored, nil
}

// Replay passes on every record in order and checks the chain. An altered or missing record is an
// error that names its sequence.
func (j *Journal) Replay(ctx context.Context, visit func(*record.Record) error) error {
	return j.reading(ctx, func(conn *sql.Conn, b *base) error {
		segments, missing, err := j.segments(b)
		if err != nil {
			return err
		}
		if len(missing) > 0 {
			return &MissingError{j.segmentsDirectory(), missing[0]}
		}
		return j.each(ctx, conn, segments, b, func(s *Stored) error { return visit(&s.Record) })
	})
}

// each passes on the records of consecutive segments up to the base and then those of the file, and
// checks the chain.
func (j *Journal) each(ctx context.Context, conn *sql.Conn, segments []segment, b *base, visit func(*Stored) error) error {
	l := link{j.key, b.Through, b.Hash}
	if len(segments) > 0 {
		l = link{j.key, segments[0].First - 1, segments[0].Previous}
	}
	for i := range segments {
		if err := segments[i].each(&l, visit); err != nil {
			return err
		}
	}
	if l.sequence != b.Through || l.hash != b.Hash {
		return &AlteredError{b.Through + 1, errAltered}
	}
	return eachAfter(ctx, conn, l, visit)
}

// eachAfter passes on every record after a position in the chain.
func eachAfter(ctx context.Context, conn *sql.Conn, l link, visit func(*Stored) error) error {
	const query = "SELECT sequence, body, previous, hash FROM record WHERE sequence > ? ORDER BY sequence"
	return eachRow(ctx, conn, query, []any{l.sequence}, func(sequence int64, body, previous, hash string) error {
		stored, err := l.decode(sequence, body, previous, hash)
		if err != nil {
			return err
		}
		if err := visit(&stored); err != nil {
			return fmt.Errorf("journal record %d: %w", sequence, err)
		}
		return nil
	})
}

// eachRow passes on the rows of records that a query selects.
func eachRow(ctx context.Context, conn *sql.Conn, query string, arguments []any, visit func(sequence int64, body, previous, hash string) error) error {
	rows, err := conn.QueryContext(ctx, query, arguments...)
	if err != nil {
		return fmt.Errorf("read the journal: %w", err)
	}
	defer rows.Close()
	for rows.Next() {
		var sequence int64
		var body, previous, hash string
		if err := rows.Scan(&sequence, &body, &previous, &hash); err != nil {
			return fmt.Errorf("read the journal: %w", err)
		}
		if err := visit(sequence, body, previous, hash); err != nil {
			return err
		}
	}
	return rows.Err()
}

// Filter selects records. Its zero value selects all.
type Filter struct {
	After    int64 // a sequence: only records after it
	SinceMS  int64 // server time
	Kinds    []record.Kind
	Symbol   string
	Strategy string
	Last     int // of those, the last n; 0 for all
}

// where returns the filter as SQL.
func (f *Filter) where() (text string, arguments []any) {
	parts := []string{"sequence > ?"}
	arguments = append(arguments, f.After)
	if f.SinceMS != 0 {
		parts, arguments = append(parts, "at_ms >= ?"), append(arguments, f.SinceMS)
	}
	if len(f.Kinds) > 0 {
		parts = append(parts, "kind IN (?"+placeholders(len(f.Kinds)-1)+")")
		for _, kind := range f.Kinds {
			arguments = append(arguments, kind.String())
		}
	}
	if f.Symbol != "" {
		parts, arguments = append(parts, "symbol = ?"), append(arguments, f.Symbol)
	}
	if f.Strategy != "" {
		parts, arguments = append(parts, "strategy = ?"), append(arguments, f.Strategy)
	}
	return strings.Join(parts, " AND "), arguments
}

// placeholders returns the placeholders after the first.
func placeholders(more int) string { return strings.Repeat(",?", more) }

// matches reports whether the filter selects a record, apart from Last.
func (f *Filter) matches(s *Stored) bool {
	return s.Sequence > f.After && s.AtMS >= f.SinceMS && (len(f.Kinds) == 0 || slices.Contains(f.Kinds, s.Kind())) &&
		(f.Symbol == "" || f.Symbol == s.Symbol.Name) && (f.Strategy == "" || f.Strategy == s.Strategy)
}

// pick passes on those of all records that the filter selects.
func (f *Filter) pick(visit func(*Stored) error, all func(func(*Stored) error) error) error {
	var last []Stored
	if err := all(func(s *Stored) error {
		if !f.matches(s) {
			return nil
		}
		if f.Last == 0 {
			return visit(s)
		}
		last = append(last[max(0, len(last)+1-f.Last):], *s)
		return nil
	}); err != nil {
		return err
	}
	for i := range last {
		if err := visit(&last[i]); err != nil {
			return err
		}
	}
	return nil
}

// all reports whether the filter excludes nothing.
func (f *Filter) all() bool {
	return f.After == 0 && f.SinceMS == 0 && len(f.Kinds) == 0 && f.Symbol == "" && f.Strategy == "" && f.Last == 0
}

// Tracker returns the state of all records, and passes each one on after it was applied. It settles nothing: its
// ledger and its placements are those of the journal alone.
func (j *Journal) Tracker(ctx context.Context, each func(*Stored)) (*reconcile.Tracker, error) {
	tracker := reconcile.NewTracker(placement.Bounds{})
	err := j.Select(ctx, Filter{}, func(s *Stored) error {
		tracker.Apply(&s.Record)
		each(s)
		return nil
	})
	return tracker, err
}

// Select passes on the records that a filter selects, in order. It checks each record against its own
// hash, and the chain only if all records are selected. If a segment is missing, Select begins after it.
func (j *Journal) Select(ctx context.Context, filter Filter, visit func(*Stored) error) error {
	return j.reading(ctx, func(conn *sql.Conn, b *base) error {
		segments, missing, err := j.segments(b)
		if err != nil {
			return err
		}
		for len(missing) > 0 && len(segments) > 0 && segments[0].First <= missing[len(missing)-1].First {
			segments = segments[1:] // records between this segment and the file are missing
		}
		if filter.all() || j.schema < sameTables { // older schemas have other names for some kinds
			return filter.pick(visit, func(visit func(*Stored) error) error { return j.each(ctx, conn, segments, b, visit) })
		}
		return j.choose(ctx, conn, segments, b, filter, visit)
	})
}

// choose passes on the selected records of segments and file.
func (j *Journal) choose(ctx context.Context, conn *sql.Conn, segments []segment, b *base, filter Filter, visit func(*Stored) error) error {
	segments = slices.DeleteFunc(segments, func(s segment) bool { return s.Last <= filter.After || s.NewestMS < filter.SinceMS })
	if filter.Last == 0 {
		if err := j.chooseSealed(segments, filter, visit); err != nil {
			return err
		}
		return j.chooseStored(ctx, conn, b, filter, visit)
	}
	var newest []Stored
	if err := j.chooseStored(ctx, conn, b, filter, func(s *Stored) error { newest = append(newest, *s); return nil }); err != nil {
		return err
	}
	if filter.Last -= len(newest); filter.Last > 0 {
		if err := j.chooseSealed(segments, filter, visit); err != nil {
			return err
		}
	}
	for i := range newest {
		if err := visit(&newest[i]); err != nil {
			return err
		}
	}
	return nil
}

// chooseSealed passes on the selected records of segments.
func (j *Journal) chooseSealed(segments []segment, filter Filter, visit func(*Stored) error) error {
	return filter.pick(visit, func(visit func(*Stored) error) error {
		for i := range segments {
			if err := segments[i].each(&link{j.key, segments[i].First - 1, segments[i].Previous}, visit); err != nil {
				return err
			}
		}
		return nil
	})
}

// chooseStored passes on the selected records of the file.
func (j *Journal) chooseStored(ctx context.Context, conn *sql.Conn, b *base, filter Filter, visit func(*Stored) error) error {
	filter.After = max(filter.After, b.Through)
	where, arguments := filter.where()
	query := "SELECT sequence, body, previous, hash FROM record WHERE " + where + " ORDER BY sequence"
	if filter.Last > 0 {
		query = "SELECT * FROM (" + query + " DESC LIMIT ?) ORDER BY sequence"
		arguments = append(arguments, filter.Last)
	}
	return eachRow(ctx, conn, query, arguments, func(sequence int64, body, previous, hash string) error {
		l := link{j.key, sequence - 1, previous}
		stored, err := l.decode(sequence, body, previous, hash)
		if err != nil {
			return err
		}
		return visit(&stored)
	})
}
