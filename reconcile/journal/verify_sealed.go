package journal

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"botd/reconcile"
	"botd/reconcile/placement"
)

// sealed verifies the existing segments, oldest first, and returns the position in the chain from
// which the file continues. After missing records it continues with the rows that the next segment,
// or the file, declares, and with the checkpoint at its beginning.
func (v *verifier) sealed(ctx context.Context, conn *sql.Conn, j *Journal) (link, error) {
	l := link{key: j.key}
	b, stored, err := readSealedBase(ctx, conn)
	if err != nil || b.Through == 0 {
		return l, err
	}
	if code := j.key.coder(); code != nil && keyed(b.Hash) && stored.Code != code(stored.Base) {
		v.report.add(Problem{"meta", baseMark, "a code of the configured key", "another"})
	}
	segments, missing, err := j.segments(b)
	if err != nil {
		v.report.add(Problem{"segment", j.segmentsDirectory(), "segments that can be read", err.Error()})
		segments, missing = nil, []Span{{1, b.Through}}
	}
	v.report.Missing, v.report.Segments = missing, len(segments)
	for i := range segments {
		s := &segments[i]
		v.reach(&l, s.First-1, s.Previous, &s.Rows, "segment "+s.name())
		if err := s.each(&l, v.verify); err != nil {
			return l, err
		}
	}
	v.reach(&l, b.Through, b.Hash, &b.Rows, "the journal's file")
	return l, nil
}

// reach handles the start of a segment or the file, and compares the rows declared for the earlier
// records with the recomputed ones.
func (v *verifier) reach(l *link, through int64, hash string, rows *carried, where string) {
	if l.sequence == through { // its hash matches: the segments of one history fit together
		if have, _ := v.want.seal(); !have.equal(rows) {
			v.report.add(
				Problem{"segment", where, fmt.Sprintf("%d open placements and %d balances, as the earlier records produce", len(have.Placements),
					len(have.Balances)), fmt.Sprintf("%d and %d, others", len(rows.Placements), len(rows.Balances))},
			)
		}
		return
	}
	l.sequence, l.hash = through, hash
	v.want, v.tracker, v.blind = newMemoryTables(), reconcile.NewTracker(placement.Bounds{}), true
	if err := rows.put(v.want); err != nil {
		v.report.add(Problem{"segment", where, "rows that can be read", err.Error()})
	}
}

// errFound ends reading.
var errFound = errors.New("found")

// hasSealed reports whether a segment contains the record with a hash.
func (j *Journal) hasSealed(ctx context.Context, hash string) (found bool, err error) {
	err = j.reading(ctx, func(_ *sql.Conn, b *base) error {
		segments, _, err := j.segments(b)
		if err != nil {
			return err
		}
		return j.chooseSealed(segments, Filter{}, func(s *Stored) error {
			if s.Hash == hash {
				return errFound
			}
			return nil
		})
	})
	if errors.Is(err, errFound) {
		return true, nil
	}
	return false, err
}
