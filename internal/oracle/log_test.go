package oracle

import (
	"strings"
	"testing"
)

func TestALogIsJudged(t *testing.T) {
	t.Parallel()
	const orders = `{"orders":[
		{"id":1,"account":"a","market":"futures","symbol":"BTC-USDT","side":"BUY","type":"MARKET","status":"FILLED","quantity":0.1,"client_order_id":"bx-1",
		 "createdAt":10},
		{"id":2,"account":"a","market":"futures","symbol":"BTC-USDT","side":"SELL","type":"STOP_MARKET","status":"NEW","quantity":0,"client_order_id":"bx-2",
		 "closePosition":true,"closePositionId":7,"createdAt":11},
		{"id":3,"account":"a","market":"spot","symbol":"SOL-USDT","side":"BUY","type":"MARKET","status":"FILLED","quantity":"50","clientOrderId":"bx-3",
		 "createdAt":12000},
		{"id":4,"account":"a","market":"spot","symbol":"SOL-USDT","side":"SELL","type":"LIMIT","status":"FILLED","quantity":"QUANTITY","clientOrderId":"bx-4",
		 "createdAt":13000},
		{"id":5,"account":"b","market":"futures","symbol":"BTC-USDT","side":"BUY","type":"MARKET","status":"FILLED","quantity":90,"createdAt":14}],
	 "fills":[
		{"id":1,"account":"a","market":"futures","symbol":"BTC-USDT","order_id":1,"side":"BUY","qty":"0.1","time":10020},
		{"id":2,"account":"a","market":"spot","symbol":"SOL-USDT","order_id":3,"side":"BUY","qty":"0.5","time":12010},
		{"id":3,"account":"a","market":"spot","symbol":"SOL-USDT","order_id":4,"side":"SELL","qty":"QUANTITY","time":13010},
		{"id":4,"account":"b","market":"futures","symbol":"BTC-USDT","order_id":5,"side":"BUY","qty":"90","time":14010}]}`
	own := func(id string) bool { return strings.HasPrefix(id, "bx-") }
	for name, c := range map[string]struct {
		sold, want string
		limit      int64
	}{
		"within":        {"0.5", "", 100_000_000},
		"above a limit": {"0.5", "exposure", 99_999_999},
		"oversold":      {"0.500000001", "oversold", 0},
	} {
		o, err := Read([]byte(strings.ReplaceAll(orders, "QUANTITY", c.sold)), "a", own, map[Symbol]Limits{futures: {Position: c.limit}})
		if err != nil {
			t.Fatal(err)
		}
		if have := rules(o); have != c.want {
			t.Errorf("%s: want %q, have %q: %v", name, c.want, have, o.Violations())
		}
		if have := o.Position(futures); have != 100_000_000 {
			t.Errorf("%s: want a position of 0.1, have %d units", name, have)
		}
	}
	for _, wrong := range []string{"{", strings.ReplaceAll(orders, "QUANTITY", "0.0000000001"), strings.ReplaceAll(orders, "QUANTITY", "a few")} {
		if _, err := Read([]byte(wrong), "a", own, nil); err == nil {
			t.Errorf("%.20s: want an error", wrong)
		}
	}
}
