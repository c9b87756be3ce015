package connect

import (
	"net/http"
	"slices"
	"strings"
	"testing"

	"botd/configs"
	"botd/internal/failure"
	"botd/runtime/api/client"
)

func TestAnUnknownNameHasAHint(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name  string
		known []string
		want  string
	}{
		{"trned", []string{"hold", "trend"}, "there is no strategy \"trned\"\nhint: did you mean trend?"},
		{"zzzzzz", []string{"hold", "trend"}, "there is no strategy \"zzzzzz\"\nhint: there are hold, trend"},
		{"hold", nil, "there is no strategy \"hold\"\nhint: there is none yet"},
	} {
		if err := Unknown(NoStrategy, c.name, c.known); err.Error() != c.want || failure.CodeOf(err) != 64 {
			t.Errorf("want %q, have %q", c.want, err)
		}
	}
	config := &configs.Config{Strategies: []configs.StrategyConfig{
		{Name: "b", Symbol: "ETH-USDT"}, {Name: "a", Symbol: "BTC-USDT"}, {Name: "c", Symbol: "ETH-USDT"}}}
	strategies, symbols := Configured(config)
	if !slices.Equal(strategies, []string{"b", "a", "c"}) || !slices.Equal(symbols, []string{"BTC-USDT", "ETH-USDT"}) {
		t.Errorf("want each strategy and each symbol once, have %q, %q", strategies, symbols)
	}
}

// TestAnEmptyPageOfAnUnknownNameIsRefused uses a daemon with two strategies on two symbols, or with none.
func TestAnEmptyPageOfAnUnknownNameIsRefused(t *testing.T) {
	t.Parallel()
	const two = `{"items":[{"name":"trend","symbol":"ETH-USDT"},{"name":"hold","symbol":"BTC-USDT"},{"name":"grid","symbol":"ETH-USDT"}]}`
	for _, c := range []struct {
		name, path, page, strategies, want string
		status                             int
	}{
		{"known", "/orders?strategy=trend&symbol=BTC-USDT", `{"items":[]}`, two, "", 200},
		{"an unknown strategy", "/orders?strategy=tredn", `{"items":[]}`, two, "there is no strategy \"tredn\"\nhint: did you mean trend?", 200},
		{"an unknown symbol", "/orders?strategy=trend&symbol=XXX", `{"items":[]}`, two, "no strategy trades \"XXX\"\nhint: there are BTC-USDT, ETH-USDT", 200},
		{"an unknown symbol alone", "/orders?symbol=XXX", `{"items":[]}`, two, "no strategy trades \"XXX\"\nhint: there are BTC-USDT, ETH-USDT", 200},
		{"both unknown", "/orders?strategy=zzzzzz&symbol=XXX", `{}`, two, "there is no strategy \"zzzzzz\"\nhint: there are trend, hold, grid", 200},
		{"a page with rows", "/orders?strategy=removed", `{"items":[{}]}`, two, "", 200},
		{"a page with one row of a removed strategy", "/orders?symbol=XXX", `{"items":[1]}`, two, "", 200},
		{"no filter", "/orders?limit=7", `{"items":[]}`, two, "", 200},
		{"no page", "/orders?strategy=zzzzzz", `[]`, two, "", 200},
		{"no strategy trades yet", "/orders?strategy=trend", `{"items":[]}`, `{"items":[]}`, "", 200},
		{"a daemon that starts", "/orders?strategy=trend", `{"items":[]}`, `{"detail":"starting"}`,
			"the daemon answered 503 Service Unavailable: starting", 503},
		{"no path", "%zz", `{"items":[]}`, two, "parse \"%zz\": invalid URL escape \"%zz\"", 200},
	} {
		s := newStub(t)
		s.answers["/api/v1/strategies"] = answer{c.status, c.strategies}
		d, err := client.Search{Socket: s.socket}.Find(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		have := ""
		if err := Refuse(t.Context(), d, c.path, []byte(c.page)); err != nil {
			if have = err.Error(); strings.Contains(have, "hint") && failure.CodeOf(err) != 64 {
				t.Errorf("%s: want exit code 64, have %d", c.name, failure.CodeOf(err))
			}
		}
		if have != c.want {
			t.Errorf("%s: want %q, have %q", c.name, c.want, have)
		}
		needed := strings.Contains(c.name, "known") || c.status != 200 || c.name == "no strategy trades yet"
		if have := slices.Contains(s.got, http.MethodGet+" /api/v1/strategies "); have != needed {
			t.Errorf("%s: want the strategies read %t, have %q", c.name, needed, s.got)
		}
	}
}
