package journal

import (
	"context"
	"errors"
	"fmt"
	"time"

	"botd/internal/failure"
	"botd/reconcile/record"
)

// BegunKey is the output of "botd journal key".
type BegunKey struct {
	Schema  int    `json:"schema"`
	Journal string `json:"journal"`
	Records int64  `json:"records"` // number of records from before the key: nothing proves who wrote them
	Last    string `json:"last"`    // the hash of the last of them
	From    int64  `json:"keyed_from"`
	Hash    string `json:"hash"` // of that record
}

// BeginKey keys a journal: the links carry codes from its next record on, which is an audit record of
// this. It first verifies the existing records, which must include the record with the noted hash if one
// is given.
func BeginKey(ctx context.Context, path string, key *Key, expect string) (done BegunKey, err error) {
	store, err := Read(ctx, path)
	if err != nil {
		return done, Failure(err)
	}
	report, binding, err := store.beforeKey(ctx, expect)
	if err = errors.Join(err, store.Close()); err != nil {
		return done, Failure(err)
	}
	switch {
	case report.Keyed > 0:
		return done, failure.New(failure.Negative, "botd journal verify checks every link with it", "journal %s is keyed from record %d on", path, report.Keyed)
	case report.Records == 0:
		return done, failure.New(failure.Negative, "botd run keys it from its first record on", "journal %s has no records", path)
	}
	if _, err := BackupOlder(ctx, path, nil); err != nil {
		return done, err
	}
	opened, err := Open(ctx, path, binding, Options{Reserve: -1, Key: key, BeginKey: true})
	if err != nil {
		return done, Failure(err)
	}
	err = opened.Append(ctx, []record.Record{{AtMS: time.Now().UnixMilli(), Body: record.Audit{Actor: "command line", Role: "operator",
		Action: "journal key", Detail: fmt.Sprintf("keyed with journal_key_file from this record on; %d records before", report.Records)}}})
	done = BegunKey{1, path, int64(report.Records), report.Hash, opened.sequence, opened.hash}
	return done, Failure(errors.Join(err, opened.Close()))
}

// beforeKey verifies the existing records.
func (j *Journal) beforeKey(ctx context.Context, expect string) (report Report, binding Binding, err error) {
	if report, err = j.Verify(ctx); err != nil {
		return report, binding, err
	}
	if expect != "" {
		there, err := j.Has(ctx, expect)
		if err != nil {
			return report, binding, err
		}
		if !there {
			report.add(Problem{"record", "", "a record with hash " + expect, "no such record"})
		}
	}
	if len(report.Problems) > 0 {
		return report, binding, &UnsoundError{j.path, report.Problems}
	}
	binding, err = j.Binding(ctx)
	return report, binding, err
}
