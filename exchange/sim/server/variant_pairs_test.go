package server

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"botd/exchange/wire"
)

// effects report whether a server shows the documented effect of a variant. They tolerate the formats of all
// other variants.
var effects = map[string]func(*scene) bool{
	"history-without-client-id": func(s *scene) bool { return !strings.Contains(s.history, "mine") },
	"open-without-client-id":    func(s *scene) bool { return !strings.Contains(s.open, "mine") },
	"float-noise":               func(s *scene) bool { return strings.Contains(s.open, "0.12300000000000003") },
	"foreign-status-words":      func(s *scene) bool { return strings.Contains(s.history, `"EXECUTED"`) },
	"extra-fields": func(s *scene) bool {
		return strings.Contains(s.open, `"Status"`) && strings.Contains(s.wallet, `"note"`) && strings.Contains(s.tickers, `"note"`)
	},
	"strings-for-numbers": func(s *scene) bool { return strings.Contains(s.time, `"serverTime":"`) },
	"null-lists": func(s *scene) bool {
		return s.none == "null" && !strings.Contains(s.noHistory+s.account, "[]") && strings.Contains(s.noHistory, "null")
	},
	"list-envelopes-off": func(s *scene) bool { return s.tickers[0] == '[' && s.wallet[0] == '[' },
	"list-envelopes-on": func(s *scene) bool {
		return strings.HasPrefix(s.history, `{"data":[`) && strings.HasPrefix(s.candles, `{"data":[`) && strings.HasPrefix(s.noHistory, `{"data":`)
	},
	"byte-order-mark": func(s *scene) bool { return s.marked == s.all },
	"error-words": func(s *scene) bool {
		return strings.Contains(s.refusal, `"msg"`) && !strings.Contains(s.refusal, `"error"`)
	},
	"refuse-but-execute": func(s *scene) bool { return s.fifth == 400 && s.placed >= 5 },
	"duplicate-delivery": func(s *scene) bool { return s.placed == 6 },
	"stale-positions":    func(s *scene) bool { return !strings.Contains(s.early, "LONG") },
	"empty-positions":    func(s *scene) bool { return !strings.Contains(s.first, "LONG") },
}

// scene has the answers of one server.
type scene struct {
	all, marked                                                                      int // bodies, and those with a byte order mark
	time, refusal, tickers, wallet, candles, none, noHistory, account, open, history string
	early, first                                                                     string // lists of positions: soon after a fill, in a minute's first second
	fifth, placed                                                                    int
}

// play sends all requests that may show an effect to a server with variants.
func play(t *testing.T, names string) *scene {
	t.Helper()
	_, c := startServer(t, func(config *Config) { config.Variants = []string{names} })
	s := &scene{}
	plain := func(a answer) string {
		text := string(wire.WithoutMark([]byte(a.body)))
		if s.all++; len(text) < len(a.body) {
			s.marked++
		}
		return text
	}
	get := func(path string) string { return plain(c.call("GET", path, "")) }
	c.advance(10_000) // beyond the first seconds of the minute
	s.time, s.refusal = get("/fapi/v1/time"), get("/api/v1/spot/public/ticker/NO-SUCH")
	s.tickers, s.wallet = get("/api/v1/spot/public/tickers"), get("/hapi/v1/spot/wallet")
	s.none, s.noHistory, s.account = get("/hapi/v1/spot/order/open"), get("/hapi/v1/spot/order/history"), get("/fhapi/v1/margin/account")
	c.call("POST", "/hapi/v1/spot/order", `{"symbol":"BTC-USDT","side":"BUY","type":"LIMIT","qt":0.123,"price":40000,"clientOrderId":"mine"}`)
	c.call("POST", "/hapi/v1/spot/order", `{"symbol":"BTC-USDT","side":"BUY","type":"LIMIT","qt":0.01,"price":50100,"clientOrderId":"mine"}`)
	c.advance(10)
	s.open, s.history = get("/hapi/v1/spot/order/open"), get("/hapi/v1/spot/order/history")
	s.candles = get("/api/v1/spot/public/candles?symbol=BTC-USDT&interval=1m&startTime=1767225600000&endTime=1767225700000")
	c.call("POST", "/fhapi/v1/order", buyMarket)
	c.advance(10)
	s.early = plain(c.call("POST", "/fhapi/v1/positions/open", "{}"))
	c.call("POST", "/fhapi/v1/order", buyBelow)
	s.fifth = c.call("POST", "/fhapi/v1/order", buyBelow).status
	c.advance(51_000)
	s.first = plain(c.call("POST", "/fhapi/v1/positions/open", "{}"))
	var state struct{ Orders []json.RawMessage }
	c.control("GET", "/control/v1/orders", "").read(t, &state)
	s.placed = len(state.Orders)
	return s
}

// No variant reverts another one, in whatever order they are given, and without it the effect is absent.
func TestEveryPairOfVariantsHasBothEffects(t *testing.T) {
	t.Parallel()
	variants := Variants()
	for i, one := range variants {
		if effects[one.Name] == nil {
			t.Fatalf("no effect of %s is known", one.Name)
		}
		for _, other := range variants[i+1:] {
			for _, names := range []string{one.Name + "," + other.Name, other.Name + "," + one.Name} {
				s := play(t, names)
				for _, each := range variants {
					given := slices.Contains(strings.Split(names, ","), each.Name)
					if have := effects[each.Name](s); have != given {
						t.Errorf("%s: want the effect of %s %v, have %v: %+v", names, each.Name, given, have, s)
					}
				}
			}
		}
	}
}
