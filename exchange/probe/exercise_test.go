package probe

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/shopspring/decimal"

	"botd/exchange"
	"botd/exchange/rest"
	"botd/exchange/wire"
)

// variant is a venue's habit, and the profile's lines for it.
type variant struct {
	name    string
	profile []string
}

func TestTheProbeFindsNothingInTheInterfaceItself(t *testing.T) {
	t.Parallel()
	findsExactly(t, variant{"", nil})
}

func TestTheProbeFindsIDsThatAreMissing(t *testing.T) {
	t.Parallel()
	findsExactly(t, variant{habitHistoryIDs, []string{"spot_history: absent", "spot_open: echoed"}},
		variant{habitOpenIDs, []string{"futures_open: absent", "spot_open: absent", "futures_order: echoed"}})
}

func TestTheProbeFindsOtherSpellings(t *testing.T) {
	t.Parallel()
	findsExactly(t, variant{habitNoise, nil}, variant{habitWords, []string{"futures: {CANCELLED: CANCELED}", "spot: {CANCELLED: CANCELED, EXECUTED: FILLED}"}},
		variant{habitExtra, nil}, variant{habitStrings, nil}, variant{habitNull, []string{"null_lists: empty"}})
}

func TestTheProbeFindsOtherShapes(t *testing.T) {
	t.Parallel()
	findsExactly(t, variant{habitNoEnvelopes, nil}, variant{habitEnvelopes, nil}, variant{habitMark, nil}, variant{habitErrorWords, nil})
}

func TestTheProbeFindsWhatARefusalHides(t *testing.T) {
	t.Parallel()
	findsExactly(t, variant{habitRefuses, nil})
}

func TestTheProbeFindsADuplicate(t *testing.T) {
	t.Parallel()
	findsExactly(t, variant{habitTwice, nil})
}

func TestTheProbeFindsStalePositions(t *testing.T) {
	t.Parallel()
	findsExactly(t, variant{habitStalePositions + "=3s", nil})
}

func TestTheProbeFindsVariantsTogether(t *testing.T) {
	t.Parallel()
	findsExactly(t, variant{strings.Join([]string{habitExtra, habitNoise, habitWords, habitNull, habitStrings}, ","),
		[]string{"null_lists: empty", "EXECUTED: FILLED"}})
}

// findsExactly probes a venue of each variant with orders that fill, and checks the report. A variant that shows for
// seconds of a minute only may stay undetected.
func findsExactly(t *testing.T, variants ...variant) {
	t.Helper()
	for _, c := range variants {
		t.Run(c.name, virtual(func(t *testing.T) {
			venue := serve(t, setup{variant: c.name})
			r := probed(
				t,
				Config{BaseURL: venue.URL, Key: "key", Trade: true, Symbol: "BTC-USDT", Rounds: 1, MaxAge: time.Second, MaxWait: 15 * time.Second},
			)
			want := []string{}
			for _, name := range strings.FieldsFunc(c.name, func(r rune) bool { return r == ',' }) {
				name, _, _ = strings.Cut(name, "=")
				want = append(want, name)
			}
			slices.Sort(want)
			if !slices.Equal(r.Habits, want) || r.Failed() > 0 {
				t.Errorf("want %q and no failure, have %q", want, r.Habits)
			}
			profile := r.Profile(time.Date(2026, 11, 22, 0, 0, 0, 0, time.UTC))
			for _, text := range append(c.profile, "settle:\n  futures: {window: ", "  spot: {window: ") {
				if !strings.Contains(profile, text) {
					t.Errorf("want %q in the profile", text)
				}
			}
			wantNothingLeft(t, control(t, venue, http.MethodGet, "/control/v1/orders", ""))
			if t.Failed() {
				for _, step := range r.Steps {
					t.Logf("%-4s %s: %s %s", step.Outcome, step.Name, step.What, step.Hint)
				}
			}
			t.Logf("\n%s", profile)
		}))
	}
}

// TestProbeFindsPositionsMissingFromList probes a venue whose list omits the position in some reads:
// while it is open, and when it is due to be closed.
func TestProbeFindsPositionsMissingFromList(t *testing.T) {
	t.Parallel()
	for _, order := range []int{2, 3} { // the stop, and the partial sale
		t.Run(fmt.Sprintf("after order %d", order), virtual(func(t *testing.T) {
			var mu sync.Mutex // guards both below
			placed, empty := 0, 12
			venue := serve(t, setup{between: func(next http.Handler) http.Handler {
				return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
					mu.Lock()
					if r.Method == http.MethodPost && r.URL.Path == "/fhapi/v1/order" && strings.Contains(string(peek(t, r)), "botdprobe-x") {
						placed++
					}
					hidden := r.URL.Path == "/fhapi/v1/positions/open" && placed >= order && empty > 0
					if hidden {
						empty--
					}
					mu.Unlock()
					if hidden {
						_, _ = w.Write([]byte("[]"))
						return
					}
					next.ServeHTTP(w, r)
				})
			}})
			r := probed(t, Config{BaseURL: venue.URL, Key: "key", Trade: true, Symbol: "BTC-USDT", Rounds: 1, MaxAge: time.Second, MaxWait: 15 * time.Second})
			if !slices.Equal(r.Habits, []string{habitEmpty}) || r.Failed() > 0 || !r.History {
				t.Errorf("want %s and nothing else, have %q, %+v", habitEmpty, r.Habits, r.Steps)
			}
			wantNothingLeft(t, control(t, venue, http.MethodGet, "/control/v1/orders", ""))
		}))
	}
}

// TestProbeClosesOnlyItsOwnPositions lets single answers hide the account's holdings: the list of
// positions before and during trading, and the wallet. Foreign positions and holdings must stay.
func TestProbeClosesOnlyItsOwnPositions(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, path string
		answer     string
		from, to   int // reads of the path that get this answer
	}{
		{"positions hidden at first", "/fhapi/v1/positions/open", "[]", 0, 3},
		{"positions hidden for long", "/fhapi/v1/positions/open", "[]", 0, 12},
		{"an empty wallet at first", "/hapi/v1/spot/wallet", "[]", 1, 2},
		{"an empty wallet at the end", "/hapi/v1/spot/wallet", "[]", 3, 4},
		{"a wallet that fails", "/hapi/v1/spot/wallet", "", 3, 4},
	} {
		t.Run(c.name, virtual(func(t *testing.T) {
			var mu sync.Mutex // guards reads
			reads, begun := 0, false
			venue := serve(t, setup{between: func(next http.Handler) http.Handler {
				return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
					mu.Lock()
					hidden := begun && r.URL.Path == c.path && reads >= c.from && reads < c.to
					if begun && r.URL.Path == c.path {
						reads++
					}
					mu.Unlock()
					switch {
					case hidden && c.answer == "":
						w.WriteHeader(http.StatusBadRequest)
						_, _ = w.Write([]byte(`{"code":-1000,"msg":"not now"}`))
					case hidden:
						_, _ = w.Write([]byte(c.answer))
					default:
						next.ServeHTTP(w, r)
					}
				})
			}})
			order(t, venue, "key", exchange.NewOrder{Market: exchange.Futures, Side: exchange.Buy, Type: exchange.MarketOrder}, "0", "0.5")
			mu.Lock()
			begun = true
			mu.Unlock()
			r := probed(t, Config{BaseURL: venue.URL, Key: "key", Trade: true, Symbol: "BTC-USDT", Rounds: 1, MaxAge: time.Second, MaxWait: 4 * time.Second})
			held := heldAfter(t, control(t, venue, http.MethodGet, "/control/v1/orders", ""))
			if held["futures"] < 0.5 || held["futures"] > 0.51 || held["spot"] < -1e-9 {
				t.Errorf("want the 0.5 of futures and every coin of the start left, have %v of what was traded: %+v", held, r.Steps)
			}
			if held["spot"] > 0.0003 && r.Failed() == 0 {
				t.Errorf("want a report that something is left, have %v, %+v", held, r.Steps)
			}
		}))
	}
}

// peek reads a request's body without consuming it.
func peek(t *testing.T, r *http.Request) []byte {
	t.Helper()
	body, err := io.ReadAll(r.Body)
	if err != nil {
		t.Error(err)
	}
	r.Body = io.NopCloser(bytes.NewReader(body))
	return body
}

// wantNothingLeft expects the exchange's own state to have only ended orders, and positions below the
// smallest order.
func wantNothingLeft(t *testing.T, text []byte) {
	t.Helper()
	var state struct {
		Orders []struct{ Market, Status string }
		Fills  []struct{}
	}
	if err := json.Unmarshal(wire.WithoutMark(text), &state); err != nil {
		t.Fatal(err)
	}
	for _, order := range state.Orders {
		if !slices.Contains([]string{"FILLED", "CANCELED", "REJECTED"}, order.Status) {
			t.Errorf("want every order ended, have %+v", order)
		}
	}
	if held := heldAfter(t, text); held["futures"] > 1e-9 || held["futures"] < -1e-9 || held["spot"] < 0 || held["spot"] > 0.0001 || len(state.Fills) < 4 {
		t.Errorf("want fills on both markets and nothing left, have %v of %d fills", held, len(state.Fills))
	}
}

// heldAfter returns the sums of the fills in the exchange's own state on each market.
func heldAfter(t *testing.T, text []byte) map[string]float64 {
	t.Helper()
	var state struct {
		Fills []struct {
			Market, Side string
			Quantity     json.Number `json:"qty"`
		}
	}
	if err := json.Unmarshal(wire.WithoutMark(text), &state); err != nil {
		t.Fatal(err)
	}
	held := map[string]float64{}
	for _, fill := range state.Fills {
		quantity, err := fill.Quantity.Float64()
		if err != nil {
			t.Fatal(err)
		}
		if fill.Side == "SELL" {
			quantity = -quantity
		}
		held[fill.Market] += quantity
	}
	return held
}

// TestAnOrderIsFilledInPartWhereTheBestLevelIsSmall lets another account quote a small level.
func TestAnOrderIsFilledInPartWhereTheBestLevelIsSmall(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		venue := serve(t, setup{})
		quote := func(market exchange.Market, quantity string) {
			order(t, venue, "other", exchange.NewOrder{Market: market, Side: exchange.Sell, Type: exchange.Limit}, "50000", quantity)
		}
		config := Config{BaseURL: venue.URL, Key: "key", Trade: true, Symbol: "BTC-USDT", Rounds: 1, MaxAge: time.Second, MaxWait: 5 * time.Second}
		config.Progress = func(step Step) { // the level exists when the exercise reaches it
			switch step.Name {
			case "futures_stop":
				quote(exchange.Futures, "0.001")
			case "spot_stop":
				quote(exchange.Spot, "0.0002")
			}
		}
		r := probed(t, config)
		for _, name := range []string{"futures_partial", "spot_partial"} {
			if step := r.step(t, name); step.Outcome != OK || !strings.Contains(step.What, "in part") {
				t.Errorf("want a part fill, have %+v", step)
			}
		}
		if !r.Partial || r.Failed() > 0 || len(r.Habits) > 0 {
			t.Errorf("want a part fill and nothing odd, have %q, %+v", r.Habits, r.Steps)
		}
	})
}

// TestProbeSkipsExistingPosition probes an account with another trader.
func TestProbeSkipsExistingPosition(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		venue := serve(t, setup{})
		config := Config{BaseURL: venue.URL, Key: "key", Secret: []byte(secret), Trade: true, Symbol: "BTC-USDT", Rounds: 1, MaxAge: time.Second}
		order(t, venue, "key", exchange.NewOrder{Market: exchange.Futures, Side: exchange.Buy, Type: exchange.MarketOrder}, "0", "0.001")
		r := probed(t, config)
		if step := r.step(t, "futures_fill"); step.Outcome != Skip || !strings.Contains(step.What, "left alone") {
			t.Errorf("want it skipped, have %+v", step)
		}
		if have := string(control(t, venue, http.MethodGet, "/control/v1/orders", "")); strings.Count(
			have,
			`"market":"futures","symbol":"BTC-USDT","order_id"`,
		) != 1 {
			t.Errorf("want the position untouched, have %s", have)
		}
	})
}

// order places an order of BTC-USDT for an account.
func order(t *testing.T, venue *httptest.Server, account string, o exchange.NewOrder, price, quantity string) {
	t.Helper()
	client, err := rest.New(rest.Config{BaseURL: venue.URL, Key: account, Secret: []byte(secret), Transport: transport(t)})
	if err == nil {
		err = errors.Join(client.SyncClock(t.Context()), client.RefreshSymbols(t.Context()))
	}
	if err != nil {
		t.Fatal(err)
	}
	symbol, _ := client.Symbols().Symbol(exchange.SymbolKey{Market: o.Market, Name: "BTC-USDT"})
	if o.Price, err = symbol.Price(decimal.RequireFromString(price)); err != nil {
		t.Fatal(err)
	}
	if o.Quantity, err = symbol.Quantity(decimal.RequireFromString(quantity)); err != nil {
		t.Fatal(err)
	}
	o.Symbol, o.ClientOrderID = symbol.Name, "test"
	operation := exchange.FuturesPlace
	if o.Market == exchange.Spot {
		operation = exchange.SpotPlace
	}
	if _, err := client.Do(t.Context(), exchange.Request{Operation: operation, Order: o}); err != nil {
		t.Fatal(err)
	}
}

// TestSpentBudgetEndsProbeAndClosesPositions limits the number of requests.
func TestSpentBudgetEndsProbeAndClosesPositions(t *testing.T) {
	t.Parallel()
	for _, requests := range []int{60, 200, 260} {
		t.Run(fmt.Sprint(requests), virtual(func(t *testing.T) {
			venue := serve(t, setup{})
			r := probed(
				t,
				Config{BaseURL: venue.URL, Key: "key", Trade: true, Symbol: "BTC-USDT", Rounds: 1, MaxAge: time.Second, Requests: requests},
			)
			text := string(control(t, venue, http.MethodGet, "/control/v1/orders", ""))
			if strings.Contains(text, `"OPEN"`) || strings.Contains(text, `"NEW"`) || r.Requests > requests+40 {
				t.Errorf("want nothing open after %d requests, have %s", r.Requests, text)
			}
		}))
	}
}
