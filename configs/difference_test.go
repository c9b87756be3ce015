package configs_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"botd/configs"
)

func TestDifferencesNameEachValueThatChanged(t *testing.T) {
	t.Parallel()
	was := "mode: demo\nrisk: {max_leverage: 20, max_drawdown: 20%}\nstrategies:\n  - {name: a, params: {fast: 5}}\n  - {name: b, symbol: BTC-USDT}\n"
	is := "mode: demo\nrisk: {max_leverage: 10, price_collar: 5%}\nstrategies:\n  - {name: b, symbol: BTC-USDT}\n  - {name: c, symbol: ETH-USDT}\n"
	want := []configs.Difference{
		{Path: "risk.max_drawdown", Was: "20%"},
		{Path: "risk.max_leverage", Was: "20", Is: "10"},
		{Path: "risk.price_collar", Is: "5%"},
		{Path: "strategies.a.name", Was: "a"},
		{Path: "strategies.a.params.fast", Was: "5"},
		{Path: "strategies.c.name", Is: "c"},
		{Path: "strategies.c.symbol", Is: "ETH-USDT"},
	}
	have, err := configs.Differences(was, is)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, have); diff != "" {
		t.Errorf("want - have +\n%s", diff)
	}
	if same, err := configs.Differences(was, was); err != nil || len(same) != 0 {
		t.Errorf("the same twice: want no difference, have %v, %v", same, err)
	}
	if _, err := configs.Differences("a: [", is); err == nil {
		t.Error("no YAML: want an error")
	}
}
