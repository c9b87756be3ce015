package conformance

import (
	"strings"
	"testing"

	"botd/exchange"
	"botd/exchange/wire"
)

// TestTheClientUnderstandsEveryVariant runs the cases through the client on a server that writes its
// answers in other legal ways, one by one and all together: what the client reads is the same.
func TestTheClientUnderstandsEveryVariant(t *testing.T) {
	t.Parallel()
	cases, err := Cases()
	if err != nil {
		t.Fatal(err)
	}
	words := &wire.Profile{StatusWords: map[exchange.Market]map[string]exchange.OrderStatus{exchange.Spot: {"EXECUTED": exchange.StatusFilled}}}
	null := &wire.Profile{NullLists: true}
	for _, v := range []struct {
		names   string
		profile *wire.Profile
		every   int // of the cases: each variant sees some, all together see all
	}{
		{"float-noise", nil, 6}, {"extra-fields", nil, 6}, {"strings-for-numbers", nil, 6}, {"list-envelopes-off", nil, 6},
		{"list-envelopes-on", nil, 6}, {"byte-order-mark", nil, 6}, {"error-words", nil, 6}, {"null-lists", null, 6},
		{"foreign-status-words", words, 6},
		{"float-noise,extra-fields,strings-for-numbers,list-envelopes-off,list-envelopes-on,byte-order-mark,error-words,null-lists,foreign-status-words",
			&wire.Profile{NullLists: true, StatusWords: words.StatusWords}, 1},
	} {
		t.Run(v.names, func(t *testing.T) {
			t.Parallel()
			ran := 0
			for i := range cases {
				if cases[i].Wired() || i%v.every != 0 { // the server's own bytes are another matter
					continue
				}
				ran++
				if err := Run(&cases[i], ServedAs(strings.Split(v.names, ","), v.profile)); err != nil {
					t.Errorf("%s: %v", cases[i].String(), err)
				}
			}
			if ran < 30 {
				t.Errorf("want 30 cases at least, have %d", ran)
			}
		})
	}
}
