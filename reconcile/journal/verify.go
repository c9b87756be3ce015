package journal

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"strings"

	"botd/reconcile"
	"botd/reconcile/account"
	"botd/reconcile/ledger"
	"botd/reconcile/placement"
	"botd/reconcile/record"
)

// maxProblems bounds the number of problems listed in a report.
const maxProblems = 100

// Report is the result of Verify.
type Report struct {
	Records  int       `json:"records"`              // including sealed ones
	Segments int       `json:"segments,omitempty"`   // verified segments
	Missing  []Span    `json:"missing,omitempty"`    // sealed records whose segments are missing; they were not verified
	Postings int       `json:"entries"`              // of the ledger
	Rows     int       `json:"rows"`                 // of derived tables
	Hash     string    `json:"hash"`                 // of the last record: two copies of a journal with the same hash have the same records
	Head     *Head     `json:"head,omitempty"`       // the externally noted end of the journal, which was compared
	Keyed    int64     `json:"keyed_from,omitempty"` // the first record whose link carries a code of the journal's key; 0 for none
	Proves   string    `json:"proves"`               // what the chain proves if no problem is listed: ProvesConsistency, ProvesAuthenticity
	Older    bool      `json:"older,omitempty"`      // of an older schema: its derived tables were not checked, and the next start rebuilds them
	Problems []Problem `json:"problems"`
}

// Problem is one inconsistency.
type Problem struct {
	Table string `json:"table"` // record, ledger, or a derived table
	Key   string `json:"key"`   // the record's sequence, or the row's key
	Want  string `json:"want"`
	Have  string `json:"have"`
}

// String names the place and both values.
func (p Problem) String() string {
	return fmt.Sprintf("%s %s: want %s, have %s", p.Table, p.Key, p.Want, p.Have)
}

func (r *Report) add(problems ...Problem) {
	r.Problems = append(r.Problems, problems[:min(len(problems), maxProblems-min(maxProblems, len(r.Problems)))]...)
}

// verifier recomputes the state from the records.
type verifier struct {
	report  Report
	want    *memoryTables
	tracker *reconcile.Tracker

	account string // owner of the journal, as recorded by the last start
	blind   bool   // missing records leave no state to apply records to, until the next checkpoint
}

func newVerifier() *verifier {
	return &verifier{report: Report{Problems: []Problem{}, Proves: ProvesConsistency}, want: newMemoryTables(),
		tracker: reconcile.NewTracker(placement.Bounds{})}
}

// verify verifies one record whose link has been checked.
func (v *verifier) verify(s *Stored) error {
	v.report.Records, v.report.Hash = int(s.Sequence), s.Hash
	if c := checkpointOf(s); v.blind && c != nil {
		if tracker, err := reconcile.Restore(placement.Bounds{}, c); err == nil {
			v.tracker, v.account, v.blind = tracker, c.Account, false
			return nil
		}
	}
	if v.report.Keyed == 0 && keyed(s.Hash) {
		v.report.Keyed = s.Sequence
	}
	if err := derive(v.want, s.Sequence, &s.Record); err != nil {
		v.report.add(Problem{"record", sequenceText(s.Sequence), "a record that can follow its predecessors", err.Error()})
	}
	switch body := s.Body.(type) {
	case record.Boot:
		v.account = body.Account
	case record.Posting:
		v.posting(s, &body.Posting)
	case record.Transfer:
		v.report.Postings++
	case record.Checkpoint:
		v.checkpoint(s, &body)
	}
	if v.blind {
		return nil
	}
	return v.apply(s)
}

// apply applies a record as a start does. A record that fails here would fail at a start too.
func (v *verifier) apply(s *Stored) (err error) {
	defer func() {
		if cause := recover(); cause != nil {
			v.report.add(Problem{"record", sequenceText(s.Sequence), "a record that a start can apply", fmt.Sprint(cause)})
		}
	}()
	v.tracker.Apply(&s.Record)
	return nil
}

// checkpoint checks that a checkpoint equals the state of the records before it. One of another
// layout comes from another botd version, and this one never reads it.
func (v *verifier) checkpoint(s *Stored, c *record.Checkpoint) {
	if c.Layout != account.Layout || v.blind {
		return
	}
	if have := v.tracker.Checkpoint(v.account); c.Epoch != have.Epoch || c.Account != have.Account || !account.SameSnapshot(have.State, c.State) {
		v.report.add(Problem{"checkpoint", sequenceText(s.Sequence), "the state that the earlier records produce", "another state"})
	}
}

// posting checks a posting of the ledger: its lines sum to zero, and they follow from its reading and
// the earlier records.
func (v *verifier) posting(s *Stored, p *ledger.Posting) {
	v.report.Postings++
	if asset, sum := p.Balanced(); !sum.IsZero() {
		v.report.add(Problem{"ledger", sequenceText(s.Sequence), "lines that sum to zero", fmt.Sprintf("%s %s", sum, asset)})
	}
	if v.blind {
		return
	}
	defer func() {
		if cause := recover(); cause != nil { // numbers out of range
			v.report.add(Problem{"ledger", sequenceText(s.Sequence), "a reading that can be booked", fmt.Sprint(cause)})
		}
	}()
	if want := v.tracker.Ledger().Lines(&p.Reading); !slices.Equal(want, p.Lines) {
		v.report.add(Problem{"ledger", sequenceText(s.Sequence), fmt.Sprint(want), fmt.Sprint(p.Lines)})
	}
}

// broke reports an invalid link as a problem. It returns false for any other error.
func (v *verifier) broke(err error) bool {
	var altered *AlteredError
	if !errors.As(err, &altered) {
		return false
	}
	v.report.add(Problem{"record", sequenceText(altered.Sequence), "the successor of the previous record", altered.Cause.Error()})
	return true
}

// outside compares the data outside the chain: the journal's binding with that of the last start,
// and its end with the external note.
func (v *verifier) outside(ctx context.Context, conn *sql.Conn, head *Head) error {
	have, err := bindingOf(ctx, conn)
	if err != nil {
		v.report.add(Problem{"meta", "binding", "a binding that can be read", err.Error()})
	} else if v.account != "" && have.Text() != v.account {
		v.report.add(Problem{"meta", "binding", v.account, have.Text()})
	}
	if v.report.Head = head; head == nil {
		return nil
	}
	missing, err := head.missing(ctx, conn)
	if missing != "" {
		v.report.add(Problem{"record", sequenceText(head.Records), head.required(), missing})
	}
	return err
}

// proves sets what the chain proves. If a key is configured, a journal without codes is not the one
// that was written with it.
func (v *verifier) proves(key *Key) {
	switch {
	case key != nil && v.report.Keyed > 0:
		v.report.Proves = ProvesAuthenticity
	case key != nil && v.report.Records > 0:
		v.report.add(Problem{"record", sequenceText(int64(v.report.Records)), "a link with a code of the configured key", "a plain hash: not keyed"})
	}
}

// records checks the chain, and the selection columns against the records' texts.
func (v *verifier) records(ctx context.Context, conn *sql.Conn, l link, older bool) error {
	rows, err := conn.QueryContext(
		ctx,
		"SELECT sequence, body, previous, hash, at_ms, kind, strategy, market, symbol, client_order_id FROM record WHERE sequence > ? ORDER BY sequence",
		l.sequence,
	)
	if err != nil {
		return fmt.Errorf("read the journal: %w", err)
	}
	defer rows.Close()
	for rows.Next() {
		var sequence int64
		var body, previous, hash string
		var have columns
		if err := rows.Scan(
			&sequence,
			&body,
			&previous,
			&hash,
			&have.atMS,
			&have.kind,
			&have.strategy,
			&have.market,
			&have.symbol,
			&have.clientOrderID,
		); err != nil {
			return fmt.Errorf("read the journal: %w", err)
		}
		s, err := l.decode(sequence, body, previous, hash)
		if err != nil {
			return err
		}
		want := columnsOf(&s.Record)
		if older && have.kind == formerKinds[s.Kind()] {
			have.kind = want.kind
		}
		if want != have {
			v.report.add(Problem{"record", sequenceText(sequence), fmt.Sprintf("%+v", want), fmt.Sprintf("%+v", have)})
		}
		if err := v.verify(&s); err != nil {
			return err
		}
	}
	return rows.Err()
}

// columns are the columns by which records are selected.
type columns struct {
	atMS                                          int64
	kind, strategy, market, symbol, clientOrderID string
}

func columnsOf(r *record.Record) columns {
	return columns{r.AtMS, r.Kind().String(), r.Strategy, r.Symbol.Market.String(), r.Symbol.Name, r.ClientOrderID}
}

// compare compares the stored rows of the derived tables with those recomputed.
func (v *verifier) compare(have map[[2]string]string) {
	want := v.want.rows()
	v.report.Rows = len(have)
	var problems []Problem
	for key, values := range want {
		if stored, found := have[key]; !found {
			problems = append(problems, Problem{key[0], key[1], values, "no such row"})
		} else if stored != values {
			problems = append(problems, Problem{key[0], key[1], values, stored})
		}
	}
	for key, values := range have {
		if _, found := want[key]; !found {
			problems = append(problems, Problem{key[0], key[1], "no such row", values})
		}
	}
	slices.SortFunc(problems, func(a, b Problem) int { return cmp.Or(cmp.Compare(a.Table, b.Table), cmp.Compare(a.Key, b.Key)) })
	v.report.add(problems...)
}

// Verify checks a consistent snapshot of the whole journal, even while a daemon writes it: the
// file's pages and indexes, the chain of records, every posting of the ledger against its reading,
// every checkpoint, and every row of the derived tables against the records. Problems are in the
// report; an error means that the journal could not be read.
func (j *Journal) Verify(ctx context.Context) (Report, error) {
	head := readHead(j.path) // read before the journal, so that it is never newer
	conn, err := j.db.Conn(ctx)
	if err != nil {
		return Report{}, fmt.Errorf("verify the journal: %w", err)
	}
	defer conn.Close()
	if _, err := conn.ExecContext(ctx, "BEGIN"); err != nil { // all reads see the same moment
		return Report{}, fmt.Errorf("verify the journal: %w", err)
	}
	defer conn.ExecContext(context.WithoutCancel(ctx), "ROLLBACK")
	v := newVerifier()
	if err := v.pages(ctx, conn); err != nil {
		return v.report, err
	}
	if problems, err := compareSchema(ctx, conn, j.schema); err != nil || len(problems) > 0 {
		v.report.add(problems...)
		if len(v.report.Problems) > 0 { // such a file cannot be checked further
			return v.report, nil
		}
		return v.report, err
	}
	damaged := len(v.report.Problems) > 0
	l, err := v.sealed(ctx, conn, j)
	if err == nil {
		err = v.records(ctx, conn, l, j.schema < sameTables)
	}
	if err != nil {
		if v.broke(err) || damaged { // later records cannot be checked
			return v.report, nil
		}
		return v.report, err
	}
	v.proves(j.key)
	if err := v.outside(ctx, conn, head); err != nil {
		return v.report, err
	}
	if v.report.Older = j.schema < sameTables; v.report.Older {
		return v.report, nil
	}
	have, err := readRows(ctx, conn)
	switch {
	case err == nil:
		v.compare(have)
	case !damaged:
		return v.report, err
	}
	return v.report, nil
}

// maxDamage bounds the reported damage of a file.
const maxDamage = 10

// pages checks the pages and indexes of the file. Every row can be intact while an index is damaged, and
// the next record would find its row by that index.
func (v *verifier) pages(ctx context.Context, conn *sql.Conn) error {
	rows, err := conn.QueryContext(ctx, fmt.Sprintf("PRAGMA integrity_check(%d)", maxDamage))
	if err != nil {
		return fmt.Errorf("check the journal's file: %w", err)
	}
	defer rows.Close()
	for rows.Next() {
		var text string
		if err := rows.Scan(&text); err != nil {
			return fmt.Errorf("check the journal's file: %w", err)
		}
		if text == "ok" {
			continue
		}
		for _, line := range strings.Split(strings.TrimSpace(text), "\n")[:min(maxDamage, strings.Count(strings.TrimSpace(text), "\n")+1)] {
			if !strings.HasPrefix(line, "***") { // a heading
				v.report.add(Problem{"file", "", "sound pages and indexes", line})
			}
		}
	}
	return rows.Err()
}

// readRows reads every row of the derived tables.
func readRows(ctx context.Context, conn *sql.Conn) (map[[2]string]string, error) {
	all := map[[2]string]string{}
	rows, err := conn.QueryContext(ctx, "SELECT "+placementColumns+" FROM placement")
	if err != nil {
		return nil, fmt.Errorf("read the placements: %w", err)
	}
	defer rows.Close()
	for rows.Next() {
		p, err := scanPlacement(rows)
		if err != nil {
			return nil, fmt.Errorf("read the placements: %w", err)
		}
		row := p.row()
		all[[2]string{row.Table, row.Key}] = row.Values
	}
	if err := rows.Err(); err != nil {
		return nil, fmt.Errorf("read the placements: %w", err)
	}
	return all, readBalances(ctx, conn, all)
}

func readBalances(ctx context.Context, conn *sql.Conn, all map[[2]string]string) error {
	rows, err := conn.QueryContext(ctx, "SELECT "+balanceColumns+" FROM balance")
	if err != nil {
		return fmt.Errorf("read the balances: %w", err)
	}
	defer rows.Close()
	for rows.Next() {
		b, err := scanBalance(rows)
		if err != nil {
			return fmt.Errorf("read the balances: %w", err)
		}
		row := b.row()
		all[[2]string{row.Table, row.Key}] = row.Values
	}
	return rows.Err()
}
