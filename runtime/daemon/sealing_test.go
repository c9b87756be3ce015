package daemon

import (
	"context"
	"errors"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"botd/reconcile/journal"
)

// script answers a sealer's calls in order, and then with nothing to seal.
type script struct {
	began   time.Time
	answers []error // nil for a segment
	calls   []time.Duration
}

func (s *script) Seal(_ context.Context, options journal.SealOptions) (*journal.Sealed, error) {
	s.calls = append(s.calls, time.Since(s.began))
	if len(s.answers) == 0 || options.Keep != 7 {
		return nil, nil
	}
	err := s.answers[0]
	if s.answers = s.answers[1:]; err != nil {
		return nil, err
	}
	return &journal.Sealed{Span: journal.Span{First: 1, Last: 10}}, nil
}

// TestWhatIsSealedIsLogged names the records and their file.
func TestWhatIsSealedIsLogged(t *testing.T) {
	t.Parallel()
	console, lines := logged(t)
	(&process{console: console}).logSealed(&journal.Sealed{Span: journal.Span{First: 1, Last: 10}, File: "journal-1-10.seg", Bytes: 512}, nil)
	if have := lines(); !slices.Equal(have, []string{"info journal.sealed journal   records 1 to 10 are sealed in journal-1-10.seg, 512 bytes"}) {
		t.Errorf("have %q", have)
	}
}

func TestSealingInterval(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), 63*time.Minute+time.Second)
		defer cancel()
		full := errors.New("no room")
		s := &script{began: time.Now(), answers: []error{nil, full, nil}}
		var reported []error
		seal(ctx, s, 7, func(_ *journal.Sealed, err error) { reported = append(reported, err) })
		if want := []time.Duration{0, time.Minute, 61 * time.Minute, 62 * time.Minute, 63 * time.Minute}; !slices.Equal(want, s.calls) {
			t.Errorf("want it tried at %v, have %v", want, s.calls)
		}
		if want := []error{nil, full, nil}; !slices.Equal(want, reported) {
			t.Errorf("want each segment and each failure logged, have %v", reported)
		}
	})
}
