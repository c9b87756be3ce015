package server

import (
	"errors"
	"path/filepath"
	"testing"
)

// An owner other than Server saves a state, ends, and finds what it saved.
func TestAStateIsStoredForAnotherOwner(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "state")
	snapshots := map[uint64]string{1: `{"Schema":2,"NowMS":5}`, 2: `{"Schema":2,"NowMS":6}`}
	source := func(newest uint64) func(bool) ([]byte, []byte, uint64, error) {
		return func(bool) ([]byte, []byte, uint64, error) {
			return []byte(snapshots[newest]), []byte(snapshots[newest]), newest, nil
		}
	}
	s, merged, err := OpenState(path, t.Logf)
	if err != nil || merged != nil {
		t.Fatalf("want no state at first, have %s and %v", merged, err)
	}
	for newest := uint64(1); newest <= 2; newest++ { // a snapshot, then a change
		if err := s.Save(newest, source(newest)); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.Save(2, func(bool) ([]byte, []byte, uint64, error) { return nil, nil, 0, errors.New("asked again") }); err != nil {
		t.Errorf("want what is on disk not written again, have %v", err)
	}
	if _, _, err := OpenState(path, t.Logf); !errors.Is(err, ErrBusy) {
		t.Errorf("want it locked, have %v", err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	again, merged, err := OpenState(path, t.Logf)
	if want := `{"Schema":2,"NowMS":6,"OrderID":0,"PositionID":0,"FillID":0,"Sequence":0,"Stood":0,"Version":0}`; err != nil || string(merged) != want {
		t.Errorf("want %s, have %s and %v", want, merged, err)
	}
	if err := again.Save(3, func(bool) ([]byte, []byte, uint64, error) { return nil, nil, 0, errors.New("no changes") }); err == nil {
		t.Error("want an error of the source returned, have none")
	}
	if err := again.Close(); err != nil {
		t.Fatal(err)
	}
	if err := again.Save(4, source(2)); err == nil {
		t.Error("want nothing saved after it was closed, have no error")
	}
}
