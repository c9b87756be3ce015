package overlay

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

const before = `package shop

func (t *till) pay(price, change int) bool {
	if t.open && // only now
		price > 0 {
		t.taken = max(price, change)
		t.count++
	}
	return t.open
}

func pay() bool { return true }
`

func TestEditsAreFoundByTheirTokensAndMade(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name  string
		edits [][2]string // function and code
		want  string      // part of the changed file, or of the error
	}{
		{"whatever the white space", [][2]string{{"shop.till.pay", "price>0"}}, "[0 price > 0] {"},
		{"over two lines and a comment", [][2]string{{"shop.till.pay", "t.open && price > 0"}}, "if [0 t.open && // only now"},
		{"a statement", [][2]string{{"shop.till.pay", "t.count++"}}, "[0 t.count++]"},
		{"a part of a snippet", [][2]string{{"shop.till.pay", "return «t.open»"}}, "return [0 t.open]"},
		{"one within another", [][2]string{{"shop.till.pay", "price > 0"}, {"shop.till.pay", "t.open && price > 0"}}, "[0 price > 0]] {"},
		{"two of the same code", [][2]string{{"shop.till.pay", "t.count++"}, {"shop.till.pay", "t.count++"}}, "t.count++]]"},
		{"its import", [][2]string{{"shop.till.pay", "t.count++"}}, `package shop; import "botd/internal/zero"`},
		{"two that overlap", [][2]string{{"shop.till.pay", "t.open && price"}, {"shop.till.pay", "price > 0"}}, "the code of edit 0 and edit 1 overlaps"},
		{"not in the function", [][2]string{{"shop.pay", "t.count++"}},
			"edit 0: its code is found 0 times in shop.pay, want once:\n\tt.count++\n\tthese words stand in exchange/shop.till.pay\n\ttable.go: "},
		{"twice in the function", [][2]string{{"shop.till.pay", "t.open"}}, "found 2 times in shop.till.pay"},
		{"nowhere", [][2]string{{"shop.till.pay", "t.lost"}}, "these words stand nowhere"},
		{"without a function", [][2]string{{"shop", "t.count++"}}, `"shop" names no function`},
		{"without code", [][2]string{{"shop.till.pay", "«»t.open"}}, "names no code"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			root := t.TempDir()
			for _, room := range []string{"shop", "exchange/shop"} {
				if err := os.MkdirAll(filepath.Join(root, room), 0o700); err != nil {
					t.Fatal(err)
				}
				if err := os.WriteFile(filepath.Join(root, room, "till.go"), []byte(before), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			var edits []Edit
			for i, e := range test.edits {
				edits = append(edits, Edit{Name: fmt.Sprint("edit ", i), Table: "table.go", In: e[0], Code: e[1], Import: "botd/internal/zero",
					Replace: func(code string) string { return fmt.Sprintf("[%d %s]", i, code) }})
			}
			changed, err := Apply(root, edits)
			have := string(changed["shop/till.go"])
			if err != nil {
				have = err.Error()
			}
			if !strings.Contains(have, test.want) {
				t.Errorf("want %s\nhave %s", test.want, have)
			}
		})
	}
}
