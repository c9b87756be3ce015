package journal

import (
	"context"
	"errors"
	"math/rand/v2"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"botd/reconcile/account"
	"botd/reconcile/record"
)

// opened returns a journal of one start and one halt, for tests of unexported methods.
func opened(t *testing.T, key *Key) *Journal {
	t.Helper()
	j, err := Open(t.Context(), filepath.Join(t.TempDir(), FileName), Binding{Mode: "demo"}, Options{Reserve: -1, Key: key})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { j.Close() })
	if err := j.Append(t.Context(), []record.Record{{Body: record.Boot{Epoch: 1}}, {Body: record.Halt{Level: record.LevelPause}}}); err != nil {
		t.Fatal(err)
	}
	return j
}

// The base shows which records are sealed. If it cannot be read, no operation proceeds as if the file contained all records.
func TestABaseThatCannotBeReadHidesNoRecord(t *testing.T) {
	t.Parallel()
	for stored, want := range map[string]string{
		`none`: "invalid character", `{"base":"no base"}`: "json: cannot unmarshal string", `{}`: "unexpected end",
		`{"base":{"through":0,"hash":"a"}}`:  "record 0",
		`{"base":{"through":-1,"hash":"a"}}`: "record -1", `{"base":{"through":7,"hash":""}}`: "record 7",
	} {
		j := opened(t, nil)
		if _, err := j.db.ExecContext(t.Context(), "INSERT INTO meta (name, value) VALUES ('sealed', ?)", stored); err != nil {
			t.Fatal(err)
		}
		nothing := func(*Stored) error { t.Error("want no record"); return nil }
		for what, does := range map[string]func(ctx context.Context) error{
			"replay": func(ctx context.Context) error {
				return j.Replay(ctx, func(*record.Record) error { return nothing(nil) })
			},
			"select":     func(ctx context.Context) error { return j.Select(ctx, Filter{Last: 1}, nothing) },
			"checkpoint": func(ctx context.Context) error { _, err := j.Checkpoint(ctx); return err },
			"seal":       func(ctx context.Context) error { _, err := j.Seal(ctx, SealOptions{}); return err },
			"verify":     func(ctx context.Context) error { _, err := j.Verify(ctx); return err },
			"has":        func(ctx context.Context) error { _, err := j.Has(ctx, "a"); return err },
		} {
			if err := does(t.Context()); err == nil || !strings.HasPrefix(err.Error(), "read which records are sealed: "+want) {
				t.Errorf("%s of %s: want %q, have %v", what, stored, want, err)
			}
		}
	}
}

// Without the base's code, anyone who can write the file could make botd forget open orders together with the sealed records.
func TestTheCodeOfABaseIsChecked(t *testing.T) {
	t.Parallel()
	key, other := NewKey([]byte("a secret of thirty-two characters")), NewKey([]byte("another one of thirty-two letters"))
	var none *Key
	plain, coded := base{Through: 9, Hash: "a"}, base{Through: 9, Hash: "a.b"}
	for name, c := range map[string]struct {
		base     *base
		by, with *Key
		found    bool
	}{
		"its own": {&coded, key, key, false}, "another's": {&coded, other, key, true}, "none": {&coded, none, key, true}, "read without": {&coded, key, none,
			false},
		"sealed before the key": {&plain, none, key, false},
	} {
		j := opened(t, c.with)
		text, err := c.base.text(c.by)
		if err == nil {
			_, err = j.db.ExecContext(t.Context(), "INSERT INTO meta (name, value) VALUES ('sealed', ?)", text)
		}
		if err != nil {
			t.Fatal(err)
		}
		conn, err := j.db.Conn(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		v := newVerifier()
		l, err := v.sealed(t.Context(), conn, j)
		if err = errors.Join(err, conn.Close()); err != nil || l.sequence != 9 || l.hash != c.base.Hash {
			t.Errorf("%s: want it to go on after record 9, have %+v, %v", name, l, err)
		}
		have := len(v.report.Problems) == 1 && v.report.Problems[0] == Problem{"meta", "sealed", "a code of the configured key", "another"}
		if have != c.found || !have && len(v.report.Problems) > 0 {
			t.Errorf("%s: want it found %t, have %v", name, c.found, v.report.Problems)
		}
		if want := []Span{{1, 9}}; !reflect.DeepEqual(v.report.Missing, want) || !v.blind {
			t.Errorf("%s: want records 1 to 9 missing, have %v", name, v.report.Missing)
		}
	}
}

// Two journals of the same records write the same segments, and verification compares rows one by one.
func TestCarriedStateIsSorted(t *testing.T) {
	t.Parallel()
	want := carried{
		Placements: []placementRow{{ClientOrderID: "b-1", Sequence: 4}, {ClientOrderID: "b-2", Sequence: 3}, {ClientOrderID: "c-1", Sequence: 2}},
		Balances: []carriedBalance{
			{Account: "fees", Strategy: "one", Market: "futures", Symbol: "A", Asset: "B", Amount: "5"},
			{Account: "fees", Strategy: "one", Market: "futures", Symbol: "A", Asset: "C", Amount: "4", Derived: true},
			{Account: "fees", Strategy: "one", Market: "futures", Symbol: "B", Asset: "A", Amount: "3"},
			{Account: "fees", Strategy: "one", Market: "spot", Symbol: "A", Asset: "A", Amount: "2"},
			{Account: "fees", Strategy: "two", Market: "futures", Symbol: "A", Asset: "A", Amount: "1"},
			{Account: "wallet", Strategy: "one", Market: "futures", Symbol: "A", Asset: "A", Amount: "0", Sequence: 8},
		},
	}
	over := map[string]placementRow{"a-1": {ClientOrderID: "a-1", EndedMS: 1}, "b-3": {ClientOrderID: "b-3", EndedMS: 9}, "d-1": {ClientOrderID: "d-1",
		EndedMS: 5}}
	for range 5 {
		mixed := carried{append([]placementRow(nil), want.Placements...), append([]carriedBalance(nil), want.Balances...)}
		rand.Shuffle(len(mixed.Balances), func(a, b int) { mixed.Balances[a], mixed.Balances[b] = mixed.Balances[b], mixed.Balances[a] })
		m := newMemoryTables()
		if err := mixed.put(m); err != nil {
			t.Fatal(err)
		}
		for id, p := range over {
			m.placements[id] = p
		}
		have, ended := m.seal()
		if !reflect.DeepEqual(have, want) || !reflect.DeepEqual(ended, []string{"a-1", "b-3", "d-1"}) {
			t.Fatalf("want %+v, without those that ended; have %+v, %v", want, have, ended)
		}
		if len(m.placements) != 3 || len(m.balances) != 6 {
			t.Fatalf("want the ended placements taken out of the tables alone, have %+v", m)
		}
		if !have.equal(&want) {
			t.Fatal("want two that are the same equal")
		}
	}
	for name, change := range map[string]func(c *carried){
		"a placement less": func(c *carried) { c.Placements = c.Placements[1:] }, "a placement's id": func(c *carried) { c.Placements[2].OrderID = 9 },
		"a balance less": func(c *carried) { c.Balances = c.Balances[1:] }, "an amount": func(c *carried) { c.Balances[5].Amount = "0.1" },
	} {
		other := carried{append([]placementRow(nil), want.Placements...), append([]carriedBalance(nil), want.Balances...)}
		if change(&other); want.equal(&other) {
			t.Errorf("%s: want them to differ", name)
		}
	}
}

// A start uses a checkpoint in a journal of more than ten thousand records, or with sealed ones. It ignores a checkpoint of another layout,
// which another version of botd wrote, and fails at an altered one.
func TestStartReadsNewestKnownCheckpoint(t *testing.T) {
	t.Parallel()
	j := opened(t, nil)
	add := func(c record.Checkpoint) {
		t.Helper()
		if err := j.Append(t.Context(), []record.Record{{Body: c}}); err != nil {
			t.Fatal(err)
		}
	}
	wants := func(what string, records, sequence int64) {
		t.Helper()
		last := j.sequence
		defer func() { j.sequence = last }()
		if records > 0 {
			j.sequence = records // as in a journal of that many records
		}
		c, err := j.Checkpoint(t.Context())
		if err != nil || (c == nil) != (sequence == 0) || c != nil && (c.Sequence != sequence || c.Epoch != sequence || c.Hash == "") {
			t.Errorf("%s: want record %d, have %+v, %v", what, sequence, c, err)
		}
	}
	wants("none of many", 10_001, 0)
	add(record.Checkpoint{Layout: account.Layout, Epoch: 3, State: []byte{1}})
	add(record.Checkpoint{Layout: account.Layout, Epoch: 4, State: []byte{2}})
	wants("ten thousand", 10_000, 0)
	wants("one more", 10_001, 4)
	wants("few, none sealed", 0, 0)
	text, err := (&base{Through: 1, Hash: "a"}).text(nil)
	if err == nil {
		_, err = j.db.ExecContext(t.Context(), "INSERT INTO meta (name, value) VALUES ('sealed', ?)", text)
	}
	if err != nil {
		t.Fatal(err)
	}
	wants("few, one sealed", 0, 4)
	add(record.Checkpoint{Layout: "of another botd", Epoch: 5})
	wants("another botd's", 0, 0)
	add(record.Checkpoint{Layout: account.Layout, Epoch: 6})
	wants("after another botd's", 0, 6)
	if _, err := j.db.ExecContext(t.Context(), "UPDATE record SET body = replace(body, '6', '7') WHERE sequence = 6"); err != nil {
		t.Fatal(err)
	}
	altered := new(AlteredError)
	if c, err := j.Checkpoint(t.Context()); !errors.As(err, &altered) || altered.Sequence != 6 || c != nil {
		t.Errorf("altered: want record 6 named, have %+v, %v", c, err)
	}
}
