package auth

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

func TestATokenEnds(t *testing.T) {
	t.Parallel()
	keyring, err := OpenKeyring(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	made := time.Now()
	ends := made.Add(time.Hour)
	token, err := keyring.Add(Key{Name: "phone", Role: "viewer", Made: made, Ends: &ends})
	if err != nil {
		t.Fatal(err)
	}
	if _, held := keyring.find(token, ends.Add(-time.Second)); !held {
		t.Error("before its end: want it held")
	}
	if _, held := keyring.find(token, ends); held {
		t.Error("at its end: want it ended")
	}
}

func TestABrokenKeyringIsNoEmptyOne(t *testing.T) {
	t.Parallel()
	directory := t.TempDir()
	if err := os.WriteFile(filepath.Join(directory, KeyringFile), []byte(`[{"name"`), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := OpenKeyring(directory); err == nil || !strings.Contains(err.Error(), "hint: ") {
		t.Errorf("want it reported, have %v", err)
	}
}

// A token has a name of 1 to 32 letters, a role, and a future end; there are at most a hundred.
func TestANamedTokenIsCheckedBeforeItIsMade(t *testing.T) {
	t.Parallel()
	made := time.Date(2027, 1, 15, 8, 0, 0, 0, time.UTC)
	before, after := made.Add(-time.Second), made.Add(time.Nanosecond)
	for _, c := range []struct {
		key  Key
		want string
	}{
		{Key{Name: "a", Role: "viewer"}, ""}, {Key{Name: strings.Repeat("a", 32), Role: "operator", Ends: &after}, ""},
		{Key{Name: strings.Repeat("a", 33), Role: "viewer"}, "is not 1 to 32 of a-z, 0-9 and -"}, {Key{Role: "viewer"}, `name "" is not`},
		{Key{Name: "-a", Role: "viewer"}, "is not"}, {Key{Name: "a", Role: "nobody"}, `role "nobody" is neither viewer nor operator`},
		{Key{Name: "a", Role: "Operator"}, "is neither"}, {Key{Name: "a", Role: "viewer", Ends: &made}, "ends 2027-01-15T08:00:00Z is in the past"},
		{Key{Name: "a", Role: "viewer", Ends: &before}, "ends 2027-01-15T07:59:59Z is in the past"},
	} {
		c.key.Made = made
		have := ""
		if err := c.key.Check(); err != nil {
			have = err.Error()
		}
		if (have == "") != (c.want == "") || !strings.Contains(have, c.want) {
			t.Errorf("%+v: want %q, have %q", c.key, c.want, have)
		}
	}
	k := &Keyring{}
	for n := range 100 {
		if err := k.Room(fmt.Sprint("other-", n)); err != nil {
			t.Fatalf("token %d: want room, have %v", n+1, err)
		}
		k.keys = append(k.keys, Key{Name: fmt.Sprint("t-", n)})
		if err := k.Room(fmt.Sprint("t-", n)); err == nil || !strings.HasPrefix(err.Error(), fmt.Sprintf(`token "t-%d" already exists`, n)) {
			t.Fatalf("the same name: have %v", err)
		}
	}
	if err := k.Room("one-more"); err == nil || !strings.HasPrefix(err.Error(), "there are already 100 tokens, the maximum") {
		t.Errorf("one more: have %v", err)
	}
	if (&Key{Role: "operator"}).role() != Operator || (&Key{Role: "viewer"}).role() != Viewer || (&Key{Role: "?"}).role() != Viewer {
		t.Error("want the role that is written, and no operator of anything else")
	}
}
