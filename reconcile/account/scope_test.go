package account

import (
	"strings"
	"testing"

	"botd/exchange"
)

func TestScopeIsResolvedByName(t *testing.T) {
	t.Parallel()
	futures := exchange.SymbolKey{Market: exchange.Futures, Name: "BTC-USDT"}
	spot := exchange.SymbolKey{Market: exchange.Spot, Name: "BTC-USDT"}
	ether := exchange.SymbolKey{Market: exchange.Spot, Name: "ETH-USDT"}
	known := []Scope{
		{Strategy: "trend", Symbol: futures},
		{Strategy: "hold", Symbol: spot},
		{Strategy: "grid", Symbol: ether},
		{Strategy: "removed"},
		{Symbol: ether},
	}
	for _, c := range []struct {
		name ScopeName
		want Scope
		err  string
	}{
		{ScopeName{}, Scope{}, ""},
		{ScopeName{Strategy: "trend"}, Scope{Strategy: "trend"}, ""},
		{ScopeName{Strategy: "removed"}, Scope{Strategy: "removed"}, ""},
		{ScopeName{Strategy: "trnd"}, Scope{}, `there is no strategy "trnd" (there are: trend, hold, grid): nothing was changed`},
		{ScopeName{Strategy: "trend", Symbol: "BTC-USDT"}, Scope{}, "not both"},
		{ScopeName{Symbol: "ETH-USDT"}, Scope{Symbol: ether}, ""},
		{ScopeName{Symbol: "BTC-USDT"}, Scope{}, "BTC-USDT is traded in both markets"},
		{ScopeName{Market: "spot"}, Scope{}, "market spot without a symbol selects nothing: add a symbol or omit the market; nothing was changed"},
		{ScopeName{Symbol: "BTC-USDT", Market: "spot"}, Scope{Symbol: spot}, ""},
		{ScopeName{Symbol: "ETH-USDT", Market: "futures"}, Scope{}, `no strategy trades "futures ETH-USDT": nothing was changed`},
		{ScopeName{Symbol: "SOL-USDT"}, Scope{}, `no strategy trades "SOL-USDT"`},
	} {
		have, err := c.name.Find(known)
		switch {
		case have != c.want:
			t.Errorf("%+v: want %v, have %v", c.name, c.want, have)
		case c.err == "" && err != nil, c.err != "" && (err == nil || !strings.Contains(err.Error(), c.err)):
			t.Errorf("%+v: want error %q, have %v", c.name, c.err, err)
		}
	}
}
