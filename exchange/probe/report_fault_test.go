package probe

import (
	"bytes"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"botd/exchange"
	"botd/exchange/wire"
)

// broken is a venue that serves everything until a step of the probe has ended, and then fails some requests of one operation.
type broken struct {
	after       string // name of the step
	operation   string // method and path
	from, until int    // of the probe's requests of the operation since then, numbered from 0
	fault       func(w http.ResponseWriter, r *http.Request, next http.Handler)
	meanwhile   func(t *testing.T, venue *httptest.Server) // once, after the step; nil for nothing

	mu     sync.Mutex // guards both below
	active bool
	count  int
}

func (b *broken) serve(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		b.mu.Lock()
		failing := false
		if method, path, _ := strings.Cut(b.operation, " "); b.active && r.Method == method && r.URL.Path == path && r.Header.Get(wire.HeaderKey) != "other" {
			failing = b.from <= b.count && b.count < b.until
			b.count++
		}
		b.mu.Unlock()
		if failing {
			b.fault(w, r, next)
			return
		}
		next.ServeHTTP(w, r)
	})
}

// of returns the probing of a broken venue.
func (b *broken) of(config Config) probing {
	return probing{setup{between: b.serve}, config, func(t *testing.T, venue *httptest.Server, config *Config) {
		config.Progress = func(step Step) {
			if step.Name != b.after || b.active {
				return
			}
			if b.meanwhile != nil {
				b.meanwhile(t, venue)
			}
			b.mu.Lock()
			b.active = true
			b.mu.Unlock()
		}
	}}
}

// refuses answers with a status, and an error of the venue.
func refuses(status int) func(http.ResponseWriter, *http.Request, http.Handler) {
	return func(w http.ResponseWriter, _ *http.Request, _ http.Handler) {
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(status)
		_, _ = io.WriteString(w, `{"code":-1000,"error":"not now"}`)
	}
}

// body answers with a text.
func body(text string) func(http.ResponseWriter, *http.Request, http.Handler) {
	return func(w http.ResponseWriter, _ *http.Request, _ http.Handler) {
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, text)
	}
}

// executes handles a request, and then refuses it.
func executes(w http.ResponseWriter, r *http.Request, next http.Handler) {
	next.ServeHTTP(httptest.NewRecorder(), r)
	refuses(http.StatusBadRequest)(w, r, next)
}

// old answers with the answer before it, if there was one.
func old() func(http.ResponseWriter, *http.Request, http.Handler) {
	var first *httptest.ResponseRecorder
	return func(w http.ResponseWriter, r *http.Request, next http.Handler) {
		if first == nil {
			first = httptest.NewRecorder()
			next.ServeHTTP(first, r)
		}
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(first.Code)
		_, _ = w.Write(first.Body.Bytes())
	}
}

// twice handles a request twice.
func twice(w http.ResponseWriter, r *http.Request, next http.Handler) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return
	}
	again := r.Clone(r.Context())
	again.Body, r.Body = io.NopCloser(bytes.NewReader(body)), io.NopCloser(bytes.NewReader(body))
	next.ServeHTTP(w, r)
	next.ServeHTTP(httptest.NewRecorder(), again)
}

// breaksOff ends an answer in its middle.
func breaksOff(w http.ResponseWriter, _ *http.Request, _ http.Handler) {
	w.Header().Set("Content-Length", "100")
	_, _ = io.WriteString(w, "{")
}

// hangsUp closes the connection without an answer.
func hangsUp(w http.ResponseWriter, _ *http.Request, _ http.Handler) {
	if connection, _, err := w.(http.Hijacker).Hijack(); err == nil {
		connection.Close()
	}
}

// replaces answers with a changed text.
func replaces(old, new string) func(http.ResponseWriter, *http.Request, http.Handler) {
	return func(w http.ResponseWriter, r *http.Request, next http.Handler) {
		answer := httptest.NewRecorder()
		next.ServeHTTP(answer, r)
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(answer.Code)
		_, _ = io.WriteString(w, strings.ReplaceAll(answer.Body.String(), old, new))
	}
}

// futuresLevel and spotLevel offer a little at the best price, so that an order for more is filled in part.
func futuresLevel(t *testing.T, venue *httptest.Server) {
	t.Helper()
	order(t, venue, "other", exchange.NewOrder{Market: exchange.Futures, Side: exchange.Sell, Type: exchange.Limit}, "50000", "0.001")
}

func spotLevel(t *testing.T, venue *httptest.Server) {
	t.Helper()
	order(t, venue, "other", exchange.NewOrder{Market: exchange.Spot, Side: exchange.Sell, Type: exchange.Limit}, "50000", "0.0002")
}

// falls lowers a market's price before a request.
func falls(market string) func(http.ResponseWriter, *http.Request, http.Handler) {
	return func(w http.ResponseWriter, r *http.Request, next http.Handler) {
		text := `{"market":"` + market + `","symbol":"BTC-USDT","price":"30000"}`
		next.ServeHTTP(httptest.NewRecorder(), httptest.NewRequestWithContext(r.Context(), http.MethodPost, "/control/v1/price", strings.NewReader(text)))
		next.ServeHTTP(w, r)
	}
}

const (
	ever         = 1 << 30
	placeFutures = "POST /fhapi/v1/order"
	placeSpot    = "POST /hapi/v1/spot/order"
)

func TestTheReportsOfRefusedFuturesOrders(t *testing.T) {
	t.Parallel()
	for name, b := range map[string]*broken{
		"futures fill refused":       {after: "spot", operation: placeFutures, until: 1, fault: refuses(400)},
		"futures fill unauthorized":  {after: "spot", operation: placeFutures, until: 1, fault: refuses(401)},
		"futures fill executed":      {after: "spot", operation: placeFutures, until: 1, fault: executes},
		"futures stop refused":       {after: "futures_fill", operation: placeFutures, until: 1, fault: refuses(400)},
		"futures stop executed":      {after: "futures_fill", operation: placeFutures, until: 1, fault: executes},
		"futures stop lost":          {after: "futures_fill", operation: placeFutures, until: 1, fault: hangsUp},
		"futures part refused":       {after: "futures_stop", operation: placeFutures, until: 1, fault: refuses(400), meanwhile: futuresLevel},
		"futures part unauthorized":  {after: "futures_stop", operation: placeFutures, until: 1, fault: refuses(401), meanwhile: futuresLevel},
		"futures reduction refused":  {after: "futures_partial", operation: placeFutures, until: 1, fault: refuses(400)},
		"futures reduction executed": {after: "futures_partial", operation: placeFutures, until: 1, fault: executes},
		"futures fill twice":         {after: "spot", operation: placeFutures, until: 1, fault: twice},
		"futures part whole": {after: "futures_stop", operation: "GET /fhapi/v1/order", until: ever, meanwhile: futuresLevel,
			fault: replaces(`"filled":"0.001"`, `"filled":"0.002"`)},
		"futures part grows": {after: "futures_stop", operation: "GET /fhapi/v1/order", until: 1, meanwhile: futuresLevel,
			fault: replaces(`"filled":"0.001"`, `"filled":"0.0005"`)},
		"futures fill unread":          {after: "spot", operation: "GET /fhapi/v1/order", until: ever, fault: refuses(401)},
		"futures reduction unread":     {after: "futures_partial", operation: "GET /fhapi/v1/order", until: ever, fault: refuses(500)},
		"futures close refused":        {after: "futures_reduce", operation: placeFutures, until: 1, fault: refuses(400)},
		"futures close always refused": {after: "futures_reduce", operation: placeFutures, until: ever, fault: refuses(400)},
	} {
		brokenReport(t, name, b)
	}
}

func TestTheReportsOfRefusedSpotOrders(t *testing.T) {
	t.Parallel()
	for name, b := range map[string]*broken{
		"spot fill refused":      {after: "futures_close", operation: placeSpot, until: 1, fault: refuses(400)},
		"spot fill executed":     {after: "futures_close", operation: placeSpot, until: 1, fault: executes},
		"spot stop refused":      {after: "spot_fill", operation: placeSpot, until: 1, fault: refuses(400)},
		"spot stop twice":        {after: "spot_fill", operation: placeSpot, until: 1, fault: twice},
		"spot fill twice":        {after: "futures_close", operation: placeSpot, until: 1, fault: twice},
		"spot part refused":      {after: "spot_stop", operation: placeSpot, until: 1, fault: refuses(400), meanwhile: spotLevel},
		"spot part unauthorized": {after: "spot_stop", operation: placeSpot, until: 1, fault: refuses(401), meanwhile: spotLevel},
		"spot part grows": {after: "spot_stop", operation: "GET /hapi/v1/spot/order/open", until: 1, meanwhile: spotLevel,
			fault: replaces(`"0.0002"`, `"0.0001"`)},
		"spot sale refused":        {after: "spot_partial", operation: placeSpot, until: 1, fault: refuses(400)},
		"spot sale executed":       {after: "spot_partial", operation: placeSpot, until: 1, fault: executes},
		"spot sale always refused": {after: "spot_partial", operation: placeSpot, until: ever, fault: refuses(400)},
	} {
		brokenReport(t, name, b)
	}
}

func TestTheReportsOfOrdersFarFromThePrice(t *testing.T) {
	t.Parallel()
	for name, b := range map[string]*broken{
		"futures order filled":         {after: "window", operation: "GET /fhapi/v1/order", from: 1, until: 2, fault: falls("futures")},
		"spot order filled":            {after: "trade", operation: "GET /hapi/v1/spot/order/open", until: 1, fault: falls("spot")},
		"futures order twice":          {after: "window", operation: placeFutures, until: 1, fault: twice},
		"spot order twice":             {after: "trade", operation: placeSpot, until: 1, fault: twice},
		"futures order gone":           {after: "window", operation: "GET /fhapi/v1/order", from: 2, until: 6, fault: refuses(404)},
		"futures order forbidden":      {after: "window", operation: "GET /fhapi/v1/order", from: 2, until: ever, fault: refuses(403)},
		"futures order unreadable":     {after: "window", operation: "GET /fhapi/v1/order", from: 2, until: ever, fault: refuses(500)},
		"futures list unreadable":      {after: "window", operation: "POST /fhapi/v1/order/open", from: 3, until: ever, fault: refuses(500)},
		"futures order not canceled":   {after: "window", operation: "POST /fhapi/v1/order/cancel", until: ever, fault: refuses(400)},
		"futures order canceled later": {after: "window", operation: "POST /fhapi/v1/order/cancel", until: 2, fault: refuses(400)},
		"spot order not canceled":      {after: "window", operation: "POST /hapi/v1/spot/cancel", until: ever, fault: refuses(400)},
		"spot list unreadable":         {after: "trade", operation: "GET /hapi/v1/spot/order/open", until: ever, fault: refuses(500)},
		"spot history unreadable":      {after: "trade", operation: "GET /hapi/v1/spot/order/history", until: ever, fault: body("[]")},
		"spot wallet unreadable":       {after: "window", operation: "GET /hapi/v1/spot/wallet", until: ever, fault: refuses(500)},
		"no bids":                      {after: "window", operation: "GET /fapi/v1/depth", until: 1, fault: body(`{"bids":[],"asks":[["50000","1"]]}`)},
	} {
		brokenReport(t, name, b)
	}
}

func TestTheReportsOfReadsThatFail(t *testing.T) {
	t.Parallel()
	for name, b := range map[string]*broken{
		"one side of a book":         {after: "futures_stop", operation: "GET /fapi/v1/depth", until: 1, fault: body(`{"bids":[["50000","1"]],"asks":[]}`)},
		"a book of another":          {after: "futures_close", operation: "GET /api/v1/spot/public/books", until: 1, fault: refuses(404)},
		"no history":                 {after: "futures_reduce", operation: "GET /fhapi/v1/positions/history", until: ever, fault: body("[]")},
		"no trades":                  {after: "futures_close", operation: "GET /hapi/v1/spot/order/trades", until: ever, fault: body("[]")},
		"trades that fail":           {after: "futures_close", operation: "GET /hapi/v1/spot/order/trades", until: ever, fault: refuses(500)},
		"a wallet that always fails": {after: "spot_partial", operation: "GET /hapi/v1/spot/wallet", until: ever, fault: refuses(404)},
		"an old wallet":              {after: "spot_partial", operation: "GET /hapi/v1/spot/wallet", until: 4, fault: old()},
		"an old wallet early":        {after: "futures_close", operation: "GET /hapi/v1/spot/wallet", until: 4, fault: old()},
		"an empty wallet":            {after: "futures_close", operation: "GET /hapi/v1/spot/wallet", until: 1, fault: body("[]")},
		"old positions":              {after: "spot", operation: "POST /fhapi/v1/positions/open", until: 4, fault: old()},
		"old positions later":        {after: "futures_partial", operation: "POST /fhapi/v1/positions/open", until: 4, fault: old()},
		"old positions last":         {after: "futures_reduce", operation: "POST /fhapi/v1/positions/open", until: 4, fault: old()},
		"an old order":               {after: "spot", operation: "GET /fhapi/v1/order", until: 4, fault: body("{}")},
		"an old history":             {after: "trade", operation: "GET /hapi/v1/spot/order/history", until: 4, fault: body("[]")},
		"old trades":                 {after: "futures_close", operation: "GET /hapi/v1/spot/order/trades", until: 3, fault: body("[]")},
		"a wallet that fails":        {after: "spot_partial", operation: "GET /hapi/v1/spot/wallet", until: 1, fault: refuses(404)},
		"positions that fail":        {after: "spot", operation: "POST /fhapi/v1/positions/open", until: 1, fault: refuses(404)},
		"positions fail later":       {after: "futures_partial", operation: "POST /fhapi/v1/positions/open", until: 4, fault: refuses(404)},
		"no sight of a stop":         {after: "futures_fill", operation: "POST /fhapi/v1/order/open", until: ever, fault: body("[]")},
	} {
		brokenReport(t, name, b)
	}
}

// TestTheReportsOfVariants probes venues with the habits of botd exchange --variant.
func TestTheReportsOfVariants(t *testing.T) {
	t.Parallel()
	for name, variants := range map[string][]string{
		"refuses and executes": {habitRefuses}, "executes twice": {habitTwice}, "stale positions": {habitStalePositions + "=3s"},
		"without client ids": {habitHistoryIDs, habitOpenIDs}, "other spellings": {habitNoise, habitWords, habitExtra, habitStrings, habitNull},
		"other shapes": {habitEnvelopes, habitMark, habitErrorWords},
	} {
		t.Run(name, func(t *testing.T) {
			changedReport(t, "habits/"+name, probing{setup{variant: strings.Join(variants, ",")}, oneRound(), nil})
		})
	}
}

// TestTheReportsOfOddVenues covers lists and signatures that differ from the interface's.
func TestTheReportsOfOddVenues(t *testing.T) {
	t.Parallel()
	only := func(config Config) Config { config.Trade = false; return config }
	for name, p := range map[string]probing{
		"no stops on spot": (&broken{after: "reach", operation: "GET /api/v1/spot/public/pairs", until: ever,
			fault: replaces("STOP_LIMIT,", "")}).of(oneRound()),
		"half an answer":      (&broken{after: "reach", operation: "GET /fapi/v1/ticker", until: ever, fault: breaksOff}).of(only(oneRound())),
		"no candles":          (&broken{after: "reach", operation: "GET /fapi/v1/candle", until: ever, fault: body("[]")}).of(only(oneRound())),
		"no limits on time":   {setup{}, Config{Key: "key", MaxAge: 3 * time.Second}, nil},
		"no time":             (&broken{after: "spot_candles", operation: "GET /fapi/v1/time", until: ever, fault: refuses(500)}).of(only(oneRound())),
		"time now and then":   (&broken{after: "spot_candles", operation: "GET /fapi/v1/time", from: 1, until: 3, fault: refuses(500)}).of(only(oneRound())),
		"bodies not accepted": (&broken{after: "clock", operation: "POST /fhapi/v1/positions/open", until: ever, fault: refuses(401)}).of(only(oneRound())),
		"a text unserved":     (&broken{after: "clock", operation: "POST /fhapi/v1/positions/open", until: ever, fault: refuses(404)}).of(only(oneRound())),
		"nothing served":      (&broken{after: "clock", operation: "GET /fhapi/v1/margin/account", until: ever, fault: refuses(404)}).of(only(oneRound())),
	} {
		p.config.Tries = 12
		t.Run(name, func(t *testing.T) { changedReport(t, "odd/"+name, p) })
	}
}

// oneRound is the configuration of a short probe with orders that fill.
func oneRound() Config {
	return Config{Key: "key", Trade: true, Symbol: "BTC-USDT", Rounds: 1, MaxAge: 20 * time.Second, MaxWait: 3 * time.Second}
}

func brokenReport(t *testing.T, name string, b *broken) {
	t.Helper()
	t.Run(name, func(t *testing.T) { changedReport(t, "broken/"+name, b.of(oneRound())) })
}

// changedReport compares with a golden file the lines of a report that differ from the one of a sound venue: those it lacks, and those that are new.
func changedReport(t *testing.T, name string, p probing) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("testdata", "reports", "one_round.txt"))
	if err != nil {
		t.Fatal(err)
	}
	reported(t, name, p, func(have string) string {
		var changed strings.Builder
		sound, lines := strings.Split(string(text), "\n"), strings.Split(have, "\n")
		for _, c := range []struct {
			sign        string
			these, lack []string
		}{{"-", sound, lines}, {"+", lines, sound}} {
			if !p.config.Trade && c.sign == "-" {
				continue // its orders
			}
			for _, line := range c.these {
				if !slices.Contains(c.lack, line) {
					changed.WriteString(c.sign + " " + line + "\n")
				}
			}
		}
		return changed.String()
	})
}
