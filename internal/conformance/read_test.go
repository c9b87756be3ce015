package conformance

import (
	"context"
	"os"
	"testing"
	"time"

	"botd/exchange"
	"botd/exchange/rest"
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
	venue, err := Served(World{Random: 21})
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

// TestAVenueIsConsistent reads the venue of BOTD_CONFORMANCE_URL, and changes nothing.
func TestAVenueIsConsistent(t *testing.T) {
	t.Parallel()
	base := os.Getenv("BOTD_CONFORMANCE_URL")
	if base == "" {
		t.Skip("BOTD_CONFORMANCE_URL names no venue to read")
	}
	client, err := rest.New(rest.Config{BaseURL: base, Budget: 5})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Minute)
	defer cancel()
	wantStory(t, Read(ctx, client, LiveBounds), 1)
}
