package gateway

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"botd/exchange"
	"botd/exchange/sim"
	"botd/exchange/sim/server"
	"botd/internal/startclock"
)

// TestACallThatOnlySomeNeedFailsForThemAlone answers one auxiliary path with 404 and calls everything else.
func TestACallThatOnlySomeNeedFailsForThemAlone(t *testing.T) {
	t.Parallel()
	const btc = "BTC-USDT"
	asked := []exchange.Request{
		{Operation: exchange.FuturesTickers}, {Operation: exchange.FuturesFundingRate, Symbol: btc},
		{Operation: exchange.FuturesCandles, Symbol: btc, Interval: exchange.Minute1},
		{Operation: exchange.SpotTickers}, {Operation: exchange.SpotTrades, Symbol: btc}, {Operation: exchange.SpotDepth, Symbol: btc},
	}
	for path, fails := range map[string]exchange.Market{
		"/fapi/v1/margin-levels": 0, "/fapi/v1/funding-rate/BTC-USDT": 0, "/fapi/v1/symbols": exchange.Futures, "/api/v1/spot/public/pairs": exchange.Spot,
	} {
		address := lacking(t, path)
		v, err := PublicAt(t.Context(), address)
		if err != nil {
			t.Errorf("without %s: want the venue reached, have %v", path, err)
			continue
		}
		for _, request := range asked {
			_, err := v.Ask(t.Context(), request)
			wanted := request.Operation.Market() == fails
			if request.Operation == exchange.FuturesFundingRate { // it needs no symbols
				wanted = strings.Contains(path, "funding")
			}
			if (err != nil) != wanted {
				t.Errorf("without %s: %s: want an error %v, have %v", path, request.Operation, wanted, err)
			}
			if err != nil && !strings.Contains(err.Error(), "404") && !strings.Contains(err.Error(), "not found") {
				t.Errorf("without %s: %s: want the reason, have %v", path, request.Operation, err)
			}
		}
	}
}

// lacking serves a simulated exchange that answers one path with 404.
func lacking(t *testing.T, path string) string {
	t.Helper()
	x, err := sim.New(sim.Config{Symbols: sim.DefaultSymbols(), StartMS: startclock.MS()})
	if err != nil {
		t.Fatal(err)
	}
	made, err := server.New(server.Config{Exchange: x, Clock: server.Clock{StartMS: startclock.MS()}})
	if err != nil {
		t.Fatal(err)
	}
	reached := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == path {
			w.WriteHeader(http.StatusNotFound)
			fmt.Fprint(w, `{"code":404,"error":"not found"}`)
			return
		}
		made.Handler().ServeHTTP(w, r)
	}))
	t.Cleanup(reached.Close)
	return reached.URL
}
