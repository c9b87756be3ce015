package probe

import (
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"botd/exchange/wire"
)

// TestASignatureIsProvenByReadsWithoutWithAQueryAndWithABody lists the signed requests of a search at venues that do not serve some of its reads: the
// next of the same kind is sent, and a report names the kind that proves nothing.
func TestASignatureIsProvenByReadsWithoutWithAQueryAndWithABody(t *testing.T) {
	t.Parallel()
	const (
		account, wallet, leverages = "GET /fhapi/v1/margin/account", "GET /hapi/v1/spot/wallet", "GET /fhapi/v1/leverage"
		positions, orders          = "GET /fhapi/v1/positions/history?limit=1", "GET /hapi/v1/spot/order/history?limit=1"
		trades                     = "GET /hapi/v1/spot/order/trades?limit=1"
		open, openOrders           = "POST /fhapi/v1/positions/open", "POST /fhapi/v1/order/open"
	)
	for _, c := range []struct {
		name     string
		unserved []string // beginnings of requests
		want     []string
		words    string // of the step, after the refusals; the step fails if it begins with "the venue"
	}{
		{"all are served", nil, []string{account, positions, open}, "accepted after 0 refusals"},
		{"no futures account", []string{account}, []string{account, wallet, positions, open}, "accepted after 0 refusals"},
		{"neither account", []string{account, wallet}, []string{account, wallet, leverages, positions, open}, "accepted after 0 refusals"},
		{"no positions", []string{"GET /fhapi/v1/positions", "POST /fhapi/v1/positions"}, []string{account, positions, orders, open, openOrders},
			"accepted after 0 refusals"},
		{"no query but of trades", []string{"GET /fhapi/v1/positions", "GET /hapi/v1/spot/order/history"}, []string{account, positions, orders, trades, open},
			"accepted after 0 refusals"},
		{"no query", []string{"GET /fhapi/v1/positions", "GET /hapi/v1/spot/order"}, []string{account, positions, orders, trades, open},
			"accepted after 0 refusals; no read with a query is served, so that part is not proven"},
		{"no body", []string{"POST"}, []string{account, positions, open, openOrders},
			"accepted after 0 refusals; no read with a body is served, so that part is not proven"},
		{"nothing without a query", []string{account, wallet, leverages}, []string{account, wallet, leverages}, "the venue answered: "},
	} {
		t.Run(c.name, virtual(func(t *testing.T) {
			var have []string
			venue := serve(t, setup{between: func(next http.Handler) http.Handler {
				return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
					request := r.Method + " " + r.URL.RequestURI()
					if r.Header.Get(wire.HeaderKey) == "" {
						next.ServeHTTP(w, r)
						return
					}
					have = append(have, request)
					if slices.ContainsFunc(c.unserved, func(one string) bool { return strings.HasPrefix(request, one) }) {
						http.NotFound(w, r)
						return
					}
					next.ServeHTTP(w, r)
				})
			}})
			searched := 0 // requests of the search
			r := probed(t, Config{BaseURL: venue.URL, Key: "key", MaxAge: time.Second, Progress: func(step Step) {
				if step.Name == "signature" {
					searched = len(have)
				}
			}})
			step := r.step(t, "signature")
			if fails := strings.HasPrefix(c.words, "the venue"); !slices.Equal(have[:searched], c.want) || !strings.Contains(step.What, c.words) ||
				(step.Outcome == Fail) != fails || !fails && !strings.HasSuffix(step.What, c.words) {
				t.Errorf("want %q, and %q, have %q, %+v", c.want, c.words, have[:searched], step)
			}
		}))
	}
}
