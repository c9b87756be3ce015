package conformance

import (
	"context"
	"testing"

	"botd/exchange"
)

func wantStory(t *testing.T, findings []Finding, least int) {
	t.Helper()
	if len(findings) < least {
		t.Errorf("want at least %d findings, have %d", least, len(findings))
	}
	for _, f := range findings {
		if f.Err != nil {
			text := f.Err.Error()
			t.Errorf("%s: %s", f.What, text[:min(600, len(text))])
		}
	}
}

// asked counts the operations of a reader.
type asked struct {
	Reader
	operations map[exchange.Operation]int
}

func (a *asked) Do(ctx context.Context, request exchange.Request) (exchange.Answer, error) {
	a.operations[request.Operation]++
	return a.Reader.Do(ctx, request)
}

// TestTheRandomMarketIsConsistentOverHTTP reads a served random market with the client, by
// all 18 public operations.
func TestTheRandomMarketIsConsistentOverHTTP(t *testing.T) {
	t.Parallel()
	venue, err := overHTTP(World{Random: 21})
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := venue.Close(); err != nil {
			t.Error(err)
		}
	}()
	client, err := venue.(*served).client("alice")
	if err != nil {
		t.Fatal(err)
	}
	a := &asked{client, map[exchange.Operation]int{}}
	for _, ms := range []int64{61_003, 3_600_000} {
		if err := venue.Advance(ms); err != nil {
			t.Fatal(err)
		}
		wantStory(t, Read(t.Context(), a, Bounds{}), 90)
	}
	public := 0
	for _, operation := range exchange.Operations() {
		if operation.Signed() {
			continue
		}
		if public++; a.operations[operation] == 0 {
			t.Errorf("%s was not asked", operation)
		}
	}
	if public != 18 {
		t.Errorf("want 18 public operations, have %d", public)
	}
}

// TestAServedVenueIsReadByItsAddress reads a market that stands still within the bounds of one that moves.
func TestAServedVenueIsReadByItsAddress(t *testing.T) {
	t.Parallel()
	venue, err := overHTTP(World{Random: 21})
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := venue.Close(); err != nil {
			t.Error(err)
		}
	}()
	if err := venue.Advance(3_600_000); err != nil {
		t.Fatal(err)
	}
	findings, err := ReadAt(t.Context(), venue.(*served).url)
	if err != nil {
		t.Fatal(err)
	}
	wantStory(t, findings, 90)
	if _, err := ReadAt(t.Context(), "nowhere"); err == nil {
		t.Error("want an address that is none refused")
	}
}
