package chaos

import (
	"math/rand/v2"
	"net/http"
)

// Fault is one fault of the simulated exchange's control interface.
type Fault struct {
	Match       string  `json:"match"` // method and path
	Kind        string  `json:"kind"`
	Status      int     `json:"status,omitempty"`
	DelayMS     int64   `json:"delay_ms,omitempty"`
	Probability float64 `json:"probability"`
	Seed        uint64  `json:"seed"`
}

// Placements and reads that a daemon uses.
var (
	placements = []string{futuresPlacement, spotPlacement}
	reads      = []string{
		"GET /fhapi/v1/order", "POST /fhapi/v1/order/open", "POST /fhapi/v1/order/cancel", "GET /fhapi/v1/leverage", "POST /fhapi/v1/leverage",
		"GET /fhapi/v1/margin/account", "POST /fhapi/v1/positions/open", "GET /fhapi/v1/positions/history",
		"GET /hapi/v1/spot/order/open", "POST /hapi/v1/spot/cancel", "GET /hapi/v1/spot/order/history", "GET /hapi/v1/spot/order/trades",
		"GET /hapi/v1/spot/wallet",
	}
)

const (
	futuresPlacement = "POST /fhapi/v1/order"
	spotPlacement    = "POST /hapi/v1/spot/order"
)

// Harsh returns the faults of an exchange on its worst day: for each call used in trading
// it drops a quarter of the answers and a tenth of the requests, truncates answers,
// answers 503 and 429, and delays every fifth answer.
func Harsh(seed uint64) []Fault {
	dice := rand.New(rand.NewPCG(seed, 2))
	var all []Fault
	add := func(f Fault) {
		f.Seed = dice.Uint64()
		all = append(all, f)
	}
	for _, path := range append(append([]string{}, placements...), reads...) {
		add(Fault{Match: path, Kind: "drop_response", Probability: 0.25})
		add(Fault{Match: path, Kind: "drop_request", Probability: 0.10})
		add(Fault{Match: path, Kind: "truncate", Probability: 0.05})
		add(Fault{Match: path, Kind: "status", Status: http.StatusServiceUnavailable, Probability: 0.05})
		add(Fault{Match: path, Kind: "status", Status: http.StatusTooManyRequests, Probability: 0.02})
		add(Fault{Match: path, Kind: "delay", DelayMS: 400, Probability: 0.20})
	}
	return all
}
