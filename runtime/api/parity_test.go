package api

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"botd/backtest/parity"
)

// Comparisons run one at a time, and not next to a backtest.
func TestAComparisonIsMadeOnceForManyThatAsk(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		d, bench, _ := benched(t, writes)
		d.board.Show(*running(t))
		const path = "/api/v1/strategies/trend/parity"
		want := func(code int, path string) string {
			have, text := d.ask("GET", path, "", bearer(testToken))
			if have != code {
				t.Errorf("GET %s: want %d, have %d: %s", path, code, have, text)
			}
			return text
		}
		d.want(403, path) // it runs a backtest next to trading: a viewer must not trigger it again and again
		for range 3 {
			var answer parity.Parity
			if err := json.Unmarshal([]byte(want(200, path)), &answer); err != nil {
				t.Fatal(err)
			}
			if answer.Matched != 1 || len(answer.Pairs) != 1 || answer.Pairs[0].Slippage != 1 || answer.Sentence == "" {
				t.Errorf("want one pair, 1 %% worse, have %+v", answer)
			}
		}
		if bench.parities != 1 || bench.between != [2]int64{} {
			t.Errorf("want one run for three that ask, over all of the time, have %d over %v", bench.parities, bench.between)
		}
		if want(200, path+"?from=60000"); bench.between != [2]int64{60_000, 0} {
			t.Errorf("want the time that is requested, have %v", bench.between)
		}
		time.Sleep(parityFresh)
		want(200, path)
		if bench.parities != 3 {
			t.Errorf("want another run for another time, and one later, have %d", bench.parities)
		}
		want(404, "/api/v1/strategies/nobody/parity")
		bench.wrong = errors.New("trend has traded nothing")
		if text := want(409, path+"?to=60000"); !strings.Contains(text, "trend has traded nothing") {
			t.Errorf("want to read why, have %s", text)
		}
		if !d.server.runner.claim() {
			t.Fatal("want the place given back")
		}
		if text := want(409, path+"?to=120000"); !strings.Contains(text, "a backtest is running") {
			t.Errorf("want it refused beside another, have %s", text)
		}
		d.server.runner.release()
	})
}
