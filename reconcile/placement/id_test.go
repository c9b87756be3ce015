package placement

import (
	"fmt"
	"testing"
	"testing/quick"
)

func TestIDContainsItsStart(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, id string
		want     Serial
		ours     bool
	}{
		{"a random part after the epoch", "bmain-tox0wu7k2qz-12", Serial{Start{1_795_370_718, "7k2qz"}, 12}, true},
		{"an epoch of 7 characters, after 2038", "bmain-100000000000-1", Serial{Start{2_176_782_336, "00000"}, 1}, true},
		{"a small epoch, as a backtest has it", "bmain-00000100000-3", Serial{Start{1, "00000"}, 3}, true},
		{"an older version's, without a random part", "bmain-tox0wu-12", Serial{Start{1_795_370_718, ""}, 12}, true},
		{"a duplicate's", "bmain-tox0wu7k2qz-12#2", Serial{Start{1_795_370_718, "7k2qz"}, 12}, true},
		{"a person's", "by-hand", Serial{}, false},
		{"nothing", "", Serial{}, false},
		{"no number at its end", "bmain-tox0wu7k2qz-x", Serial{}, false},
	} {
		have, ours := ParseSerial(c.id)
		if ours != c.ours || ours && have != c.want {
			t.Errorf("%s, %s: want %+v, %t; have %+v, %t", c.name, c.id, c.want, c.ours, have, ours)
		}
	}
}

// TestEveryIDReadsBack draws starts and sequences, and checks that ids fit the 32 characters that the
// exchange accepts.
func TestEveryIDReadsBack(t *testing.T) {
	t.Parallel()
	check := func(epoch uint32, number uint64, sequence uint32, named uint8) bool {
		start := Start{int64(epoch), RandomFrom(number)}
		instance := "abcdefghij"[:1+named%10]
		id := ClientOrderID(instance, start, int64(sequence%10_000_000))
		have, ours := ParseSerial(id)
		return IsRandom(start.Random) && len(id) <= maxClientOrderID && ours && have == Serial{start, int64(sequence % 10_000_000)}
	}
	if err := quick.Check(check, nil); err != nil {
		t.Error(err)
	}
}

func TestAnIDLongerThanTheExchangeAcceptsIsNeverMade(t *testing.T) {
	t.Parallel()
	start := Start{1_795_370_718, "7k2qz"}
	if id := ClientOrderID("abcdefghij", start, 99_999_999); len(id) != maxClientOrderID {
		t.Errorf("want an id of %d characters, have %s", maxClientOrderID, id)
	}
	defer func() {
		if recover() == nil {
			t.Error("want a panic for a longer id, have none")
		}
	}()
	fmt.Println(ClientOrderID("abcdefghij", start, 100_000_000))
}

func TestTwoStartsInOneSecondMakeDifferentIDs(t *testing.T) {
	t.Parallel()
	one, other := Start{1_795_370_718, RandomFrom(1)}, Start{1_795_370_718, RandomFrom(2)}
	if ClientOrderID("main", one, 1) == ClientOrderID("main", other, 1) || one.Compare(other) == 0 {
		t.Errorf("want different ids from %v and %v", one, other)
	}
}
