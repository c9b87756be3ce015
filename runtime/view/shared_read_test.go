package view

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

func TestEqualQuestionsCostOneRead(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var (
			s     shared[string, int]
			reads atomic.Int64
			group sync.WaitGroup
		)
		read := func(ctx context.Context) (int, error) {
			time.Sleep(time.Second)
			return int(reads.Add(1)), ctx.Err()
		}
		leaving, leave := context.WithCancel(t.Context())
		group.Go(func() {
			if _, err := s.get(leaving, "a", read); !errors.Is(err, context.Canceled) {
				t.Errorf("who leaves: want no answer, have %v", err)
			}
		})
		synctest.Wait()
		for range 100 {
			group.Go(func() {
				if have, err := s.get(t.Context(), "a", read); have != 1 || err != nil {
					t.Errorf("want the answer of the one read, have %d, %v", have, err)
				}
			})
		}
		synctest.Wait()
		leave() // the caller that started the read: the others are answered nevertheless
		group.Wait()
		if have, err := s.get(t.Context(), "a", read); have != 1 || err != nil {
			t.Errorf("soon after: want the same answer, have %d, %v", have, err)
		}
		time.Sleep(sharedLife)
		if have, err := s.get(t.Context(), "a", read); have != 2 || err != nil {
			t.Errorf("when it is old: want a new read, have %d, %v", have, err)
		}
		if _, err := s.get(t.Context(), "b", func(context.Context) (int, error) { return 0, errors.New("no answer") }); err == nil {
			t.Error("want the error of a read")
		}
		if have, err := s.get(t.Context(), "b", read); have != 3 || err != nil {
			t.Errorf("after an error: want a new read, have %d, %v", have, err)
		}
	})
}
