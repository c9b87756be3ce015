package probe

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/shopspring/decimal"

	"botd/exchange"
	"botd/exchange/rest"
)

// rewriter changes the answers of one path, once an order of a type has been placed.
type rewriter struct {
	path   string
	after  string // a text in the body of a placement; empty for from the start
	from   int    // the first placement with that text that begins it; 0 is the first
	change func(status int, body string, n int) (int, string)

	begun bool
	count int
}

func (w *rewriter) between(next http.Handler) http.Handler {
	return http.HandlerFunc(func(out http.ResponseWriter, r *http.Request) {
		body := ""
		if r.Method == http.MethodPost {
			read := new(bytes.Buffer)
			_, _ = read.ReadFrom(r.Body)
			body = read.String()
			r.Body = readCloser{strings.NewReader(body)}
		}
		recorded := httptest.NewRecorder()
		next.ServeHTTP(recorded, r)
		status, text := recorded.Code, recorded.Body.String()
		if w.after == "" || strings.Contains(body, "botdprobe-x") && strings.Contains(body, w.after) {
			if w.from--; w.from < 0 {
				w.begun = true
			}
		}
		if w.begun && r.URL.Path == w.path {
			status, text = w.change(status, text, w.count)
			w.count++
		}
		out.Header().Set("Content-Type", "application/json")
		out.WriteHeader(status)
		_, _ = out.Write([]byte(text))
	})
}

type readCloser struct{ *strings.Reader }

func (readCloser) Close() error { return nil }

// always answers with a text.
func always(status int, text string) func(int, string, int) (int, string) {
	return func(int, string, int) (int, string) { return status, text }
}

const (
	futuresOrder, futuresOpen, futuresPositions = "/fhapi/v1/order", "/fhapi/v1/order/open", "/fhapi/v1/positions/open"
	spotOpen, spotTrades, spotWallet            = "/hapi/v1/spot/order/open", "/hapi/v1/spot/order/trades", "/hapi/v1/spot/wallet"
)

// TestFailedExerciseReportsItsStepAndClosesEverything hides one thing at a time from the exercise. The step names what did not
// appear within the configured wait, and what was bought is sold again.
func TestFailedExerciseReportsItsStepAndClosesEverything(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name   string
		faulty rewriter
		step   string
		words  string
	}{
		{"the stop is never listed", rewriter{path: futuresOpen, after: "STOP_MARKET", change: always(200, "[]")},
			"futures_stop", "after 5s the stop is not in the open list"},
		{"the spot stop is never listed", rewriter{path: spotOpen, after: "STOP_LIMIT", change: always(200, "[]")},
			"spot_stop", "after 5s the stop is not in the open list"},
		{"the order is never filled", rewriter{path: futuresOrder, after: `"MARKET"`, change: func(status int, body string, _ int) (int, string) {
			return status, strings.ReplaceAll(strings.ReplaceAll(body, `"filled":0.002`, `"filled":0`), `"filled":"0.002"`, `"filled":"0"`)
		}}, "futures_fill", "is not shown as filled"},
		{"no position is ever shown", rewriter{path: futuresPositions, after: `"BUY"`, change: func(status int, body string, n int) (int, string) {
			if n < 40 {
				return status, "[]"
			}
			return status, body
		}}, "futures_fill", "after 5s no list of positions shows it"},
		{"no trade is ever listed", rewriter{path: spotTrades, after: `"BUY"`, change: always(200, "[]")},
			"spot_fill", "after 5s the list of trades does not show it"},
	} {
		t.Run(c.name, virtual(func(t *testing.T) {
			faulty := c.faulty
			venue := serve(t, setup{between: faulty.between})
			r := probed(t, trading(venue))
			if step := r.step(t, c.step); step.Outcome != Fail || !strings.Contains(step.What, c.words) {
				t.Errorf("want %s to fail with %q, have %+v", c.step, c.words, step)
			}
			wantNothingOpen(t, venue)
		}))
	}
}

// wantNothingOpen expects the exchange's own state to have no open order and no position.
func wantNothingOpen(t *testing.T, venue *httptest.Server) {
	t.Helper()
	text := control(t, venue, http.MethodGet, "/control/v1/orders", "")
	for _, status := range []string{`"OPEN"`, `"NEW"`, `"CREATED"`} {
		if strings.Contains(string(text), status) {
			t.Errorf("want no order left, have %s", text)
		}
	}
	if held := heldAfter(t, text); held["futures"] > 1e-9 || held["futures"] < -1e-9 || held["spot"] > 0.0001 || held["spot"] < -1e-9 {
		t.Errorf("want no position left, have %v", held)
	}
}

// TestPositionsOfASymbolAreSummedWithTheirSides covers lists of positions. A position that disappears and returns shows a list that
// omits it.
func TestPositionsOfASymbolAreSummedWithTheirSides(t *testing.T) {
	t.Parallel()
	const row = `{"symbol":"%s","side":"%s","remainingQty":"%s","id":1}`
	list := func(rows ...string) string { return "[" + strings.Join(rows, ",") + "]" }
	long, short := fmt.Sprintf(row, "BTC-USDT", "LONG", "0.003"), fmt.Sprintf(row, "BTC-USDT", "SHORT", "0.001")
	other := fmt.Sprintf(row, "ETH-USDT", "LONG", "5")
	for _, c := range []struct {
		lists []string
		held  []float64
		empty bool
	}{
		{[]string{list()}, []float64{0}, false},
		{[]string{list(long, other)}, []float64{0.003}, false},
		{[]string{list(other, short)}, []float64{-0.001}, false},
		{[]string{list(long, short)}, []float64{0.002}, false},
		{[]string{list(short, long)}, []float64{0.002}, false},
		{[]string{list(), list(long), list(long)}, []float64{0, 0.003, 0.003}, false},
		{[]string{list(long), list(), list()}, []float64{0.003, 0, 0}, false},
		{[]string{list(long), list(), list(long)}, []float64{0.003, 0, 0.003}, true},
	} {
		t.Run(strings.Join(c.lists, " "), virtual(func(t *testing.T) {
			caller, _ := callerOf(t, Config{Key: "key", Secret: []byte(secret)}, func(w http.ResponseWriter, _ *http.Request, n int) {
				_, _ = w.Write([]byte(c.lists[n-1]))
			})
			e := exerciseOf(t, exchange.Futures)
			e.caller = caller
			symbol := *spotBitcoin(t)
			symbol.Market = exchange.Futures
			e.symbol, caller.symbols = &symbol, rest.NewSymbolTable(&symbol)
			for i, want := range c.held {
				if have, err := e.position(t.Context()); err != nil || have < want-1e-12 || have > want+1e-12 {
					t.Errorf("list %d: want %v, have %v, %v", i, want, have, err)
				}
			}
			if caller.habits.seen[habitEmpty] != c.empty {
				t.Errorf("want a list that omits it %v, have %v", c.empty, caller.habits.names())
			}
		}))
	}
}

// TestThePriceOfTheSmallestLevelIsNamed quotes levels of 4, 2 and 3 units in turn. Two units and the smallest order cost
// 100,070.01 USDT, more than is spent: 10 times 5 USDT, or three of the smallest orders.
func TestThePriceOfTheSmallestLevelIsNamed(t *testing.T) {
	t.Parallel()
	t.Run("spot and futures", virtual(func(t *testing.T) {
		venue := serve(t, setup{between: func(next http.Handler) http.Handler {
			reads := 0
			return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if r.URL.Path != "/fapi/v1/depth" {
					next.ServeHTTP(w, r)
					return
				}
				reads++
				fmt.Fprintf(w, `{"lastUpdateId":%d,"bids":[["50000","9"]],"asks":[["50010","%d"]]}`, reads, []int{4, 2, 3}[reads%3])
			})
		}})
		r := probed(t, trading(venue))
		// 2.001 units at 50010 are 100070.01 USDT. Three orders of 0.001 at 50010 are 150.03 USDT.
		want := "the best level of the book was never small enough in 20 reads: 100070.01 USDT at least, more than the 150.03 USDT that are spent here; " +
			"no order was filled in part"
		if step := r.step(t, "futures_partial"); step.Outcome != Skip || step.What != want {
			t.Errorf("want %q, have %+v", want, step)
		}
		wantNothingOpen(t, venue)
	}))
}

// TestClientIDsAreUniqueAndNamed lists the client order ids of a probe's orders.
func TestClientIDsAreUniqueAndNamed(t *testing.T) {
	t.Parallel()
	t.Run("of both markets", virtual(func(t *testing.T) {
		venue := serve(t, setup{})
		probed(t, trading(venue))
		var state struct {
			Orders []struct {
				Market string
				ID     string `json:"client_order_id"`
				SpotID string `json:"clientOrderId"`
			}
		}
		if err := json.Unmarshal(control(t, venue, http.MethodGet, "/control/v1/orders", ""), &state); err != nil {
			t.Fatal(err)
		}
		seen := map[string]bool{}
		for _, order := range state.Orders {
			if !strings.HasPrefix(order.ID+order.SpotID, "botdprobe-") || seen[order.ID+order.SpotID] {
				t.Errorf("want ids of the probe, each once, have %+v", state.Orders)
			}
			seen[order.ID+order.SpotID] = true
		}
		if len(state.Orders) < 8 {
			t.Errorf("want the orders of both markets, have %+v", state.Orders)
		}
	}))
}

// TestABudgetThatEndsWithinAnExerciseLeavesNothingOpen spends it after each step of an exercise.
func TestABudgetThatEndsWithinAnExerciseLeavesNothingOpen(t *testing.T) {
	t.Parallel()
	counts := map[string]int{}
	t.Run("counted", func(t *testing.T) {
		virtual := func(t *testing.T) {
			requests := 0
			venue := serve(t, setup{between: func(next http.Handler) http.Handler {
				return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { requests++; next.ServeHTTP(w, r) })
			}})
			config := trading(venue)
			config.Progress = func(step Step) { counts[step.Name] = requests }
			probed(t, config)
		}
		synctest.Test(t, virtual)
	})
	for _, after := range []string{"trade", "futures_fill", "futures_stop", "spot", "spot_fill", "spot_stop"} {
		t.Run(after, virtual(func(t *testing.T) {
			venue := serve(t, setup{})
			config := trading(venue)
			config.Requests = counts[after] + 3
			probed(t, config)
			wantNothingOpen(t, venue)
		}))
	}
}

// TestAVenueThatFailsWhileTheWindowIsMeasuredLeavesItUnmeasured fails the reads after the signature was accepted.
func TestAVenueThatFailsWhileTheWindowIsMeasuredLeavesItUnmeasured(t *testing.T) {
	t.Parallel()
	for from, name := range map[int]string{3: "the past", 5: "the future"} {
		t.Run(name, virtual(func(t *testing.T) {
			reads := 0
			venue := serve(t, setup{between: func(next http.Handler) http.Handler {
				return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
					if strings.HasPrefix(r.URL.Path, "/fhapi/") {
						if reads++; reads > from {
							w.WriteHeader(http.StatusServiceUnavailable)
							return
						}
					}
					next.ServeHTTP(w, r)
				})
			}})
			r := probed(t, Config{BaseURL: venue.URL, Key: "key", MaxAge: 2 * time.Second})
			if step := r.step(t, "window"); step.Outcome != Fail || !strings.Contains(step.What, "the venue answered: ") || r.Window != nil ||
				step.Hint != "try again later; without a measurement, use 60s" {
				t.Errorf("want it to fail, have %+v, %+v", step, r.Window)
			}
			if r.Settings.Has("window") || r.Settings.WindowMS != 60_000 {
				t.Errorf("want a cautious window, have %+v", r.Settings)
			}
		}))
	}
}

// TestAWalletThatShowsNoPurchaseEndsTheExercise answers with the wallet of the start. The purchase was shown as filled, so the probe reports
// that it may still be held.
func TestAWalletThatShowsNoPurchaseEndsTheExercise(t *testing.T) {
	t.Parallel()
	t.Run("forever", virtual(func(t *testing.T) {
		first := ""
		faulty := rewriter{path: spotWallet, change: func(status int, body string, _ int) (int, string) {
			if first == "" {
				first = body
			}
			return status, first
		}}
		venue := serve(t, setup{between: faulty.between})
		r := probed(t, trading(venue))
		if step := r.step(t, "spot_fill"); step.Outcome != Fail || !strings.Contains(step.What, "after 5s the wallet does not show it") {
			t.Errorf("want the purchase missed, have %+v", step)
		}
		if step := r.step(t, "spot_close"); step.Outcome != Fail || step.Hint != "sell it manually" ||
			!strings.Contains(step.What, "of the purchase may still be held: the wallet does not show it") {
			t.Errorf("want it reported as held, have %+v", step)
		}
	}))
}

// TestTheSmallestOfTheLevelsIsNamed quotes a level of 2 units once among levels of 4: at first, and later.
func TestTheSmallestOfTheLevelsIsNamed(t *testing.T) {
	t.Parallel()
	for _, at := range []int{1, 2, 20} {
		t.Run(fmt.Sprint(at), virtual(func(t *testing.T) {
			caller, times := callerOf(t, Config{gap: time.Millisecond}, func(w http.ResponseWriter, _ *http.Request, n int) {
				fmt.Fprintf(w, `{"lastUpdateId":%d,"bids":[["50000","9"]],"asks":[["50010","%d"]]}`, n, map[bool]int{true: 2, false: 4}[n == at])
			})
			e := exerciseOf(t, exchange.Spot)
			e.caller, e.config = caller, Config{glance: 50 * time.Millisecond, Progress: func(Step) {}}
			caller.symbols = rest.NewSymbolTable(e.symbol)
			quantity, err := e.affordable(t.Context())
			const words = "the best level of the book was never small enough in 20 reads: 100070.01 USDT at least, " +
				"more than the 150.03 USDT that are spent here"
			if steps := e.report.Steps; err != nil || quantity != 0 || len(steps) != 1 || !strings.HasPrefix(steps[0].What, words) {
				t.Errorf("want %q, have %d, %v, %+v", words, quantity, err, steps)
			}
			if reads := milliseconds(times()); len(reads) != 20 || reads[1]-reads[0] != 51 {
				t.Errorf("want 20 reads in their intervals, have %v", reads)
			}
		}))
	}
}

// TestAPollEndsWithItsContextOrItsWait covers a condition that never holds.
func TestAPollEndsWithItsContextOrItsWait(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		e := exerciseOf(t, exchange.Futures)
		e.config.MaxWait = 5 * time.Second
		never := func() (bool, error) { return false, nil }
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if took, err := e.poll(ctx, time.Now(), "x", never); !errors.Is(err, context.DeadlineExceeded) || took != 0 {
			t.Errorf("want it interrupted, have %s, %v", took, err)
		}
		began := time.Now()
		_, err := e.poll(t.Context(), began, "it is not there", never)
		if waited := time.Since(began); err == nil || err.Error() != "after 5s it is not there" || waited < 5*time.Second ||
			waited > 5*time.Second+slowestPoll {
			t.Errorf("want it ended after its wait, have %s, %v", waited, err)
		}
		failed := errors.New("no answer")
		if _, err := e.poll(t.Context(), began, "x", func() (bool, error) { return true, failed }); !errors.Is(err, failed) {
			t.Errorf("want the failure, have %v", err)
		}
		since := time.Now().Add(-time.Minute)
		if took, err := e.poll(t.Context(), since, "x", func() (bool, error) { return time.Since(since) >= 61*time.Second, nil }); err != nil ||
			took < 61*time.Second || took > 61*time.Second+slowestPoll {
			t.Errorf("want the time since then, have %s, %v", took, err)
		}
	})
}

// TestAWalletThatOmitsAPartialPurchaseIsReported lets the wallet show the first purchase, and not what an order was filled in part.
func TestAWalletThatOmitsAPartialPurchaseIsReported(t *testing.T) {
	t.Parallel()
	t.Run("of 0.0002", virtual(func(t *testing.T) {
		balance := regexp.MustCompile(`"asset":"BTC","balance":"([0-9.]+)"`)
		faulty := rewriter{path: spotWallet, after: `"BUY"`, from: 2, change: func(status int, body string, _ int) (int, string) {
			less := decimal.RequireFromString(balance.FindStringSubmatch(body)[1]).Sub(decimal.RequireFromString("0.0002"))
			return status, balance.ReplaceAllLiteralString(body, `"asset":"BTC","balance":"`+less.String()+`"`)
		}}
		venue := serve(t, setup{between: faulty.between})
		config := trading(venue)
		config.Progress = func(step Step) {
			if step.Name == "spot_stop" {
				spotLevel(t, venue)
			}
		}
		r := probed(t, config)
		if step := r.step(t, "spot_partial"); step.Outcome != OK || !strings.Contains(step.What, "filled 0.0002 in part") {
			t.Fatalf("want it filled in part, have %+v", step)
		}
		if step := r.step(t, "spot_close"); step.Outcome != Fail || step.Hint != "sell it manually" ||
			!strings.Contains(step.What, " BTC of the purchase may still be held: the wallet does not show it") {
			t.Errorf("want the part reported as held, have %+v", step)
		}
	}))
}

// TestAnOldRowOfTheHistoryDoesNotShowTheEndOfAPosition lets the history list a position that ended a minute before the probe's, and nothing else.
func TestAnOldRowOfTheHistoryDoesNotShowTheEndOfAPosition(t *testing.T) {
	t.Parallel()
	t.Run("of the same symbol", virtual(func(t *testing.T) {
		faulty := rewriter{path: "/fhapi/v1/positions/history", after: `"BUY"`, change: always(200,
			fmt.Sprintf(`[{"id":1,"symbol":"BTC-USDT","side":"LONG","updatedAt":%d}]`, nowMS()/1000-60))}
		venue := serve(t, setup{between: faulty.between})
		r := probed(t, trading(venue))
		if step := r.step(t, "futures_close"); step.Outcome != Fail || r.History || !strings.Contains(step.What, "positions/history does not show its end") {
			t.Errorf("want the end not shown, have %+v", step)
		}
		wantNothingOpen(t, venue)
	}))
}
