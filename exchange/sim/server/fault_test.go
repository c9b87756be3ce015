package server

import (
	"net/http/httptest"
	"testing"
)

const placePath = "POST /fhapi/v1/order"

func TestFaultEndsByCountOrDeletion(t *testing.T) {
	t.Parallel()
	var f faults
	addFault(t, &f, Fault{Match: placePath, Kind: DropRequest, Count: new(2)})
	wantKinds(t, &f, DropRequest, DropRequest, "", "")
	addFault(t, &f, Fault{Match: placePath, Kind: Status, Status: 503})
	wantKinds(t, &f, Status, Status, Status)
	f.clear()
	wantKinds(t, &f, "", "")
}

func TestAFaultMatchesMethodAndExactPathWithoutQuery(t *testing.T) {
	t.Parallel()
	var f faults
	addFault(t, &f, Fault{Match: "GET /fhapi/v1/order", Kind: DropRequest})
	for _, c := range []struct {
		method, target string
		want           FaultKind
	}{
		{"GET", "/fhapi/v1/order?order_id=3", DropRequest},
		{"GET", "/fhapi/v1/order", DropRequest},
		{"POST", "/fhapi/v1/order", ""},
		{"GET", "/fhapi/v1/order/open", ""},
		{"GET", "/fhapi/v1/order/", ""},
	} {
		if have := f.inject(httptest.NewRequest(c.method, c.target, nil)).kind; have != c.want {
			t.Errorf("%s %s: want %q, have %q", c.method, c.target, c.want, have)
		}
	}
}

func TestTrailingStarMatchesAnySuffix(t *testing.T) {
	t.Parallel()
	for match, want := range map[string][]bool{ // of the three requests below
		"*": {true, true, true}, "GET /fhapi/*": {true, false, false}, "GET /fapi/v1/ticker/*": {false, true, false},
		"GET /fapi/v1/ticker/BTC*": {false, true, false}, "POST /fhapi/v1/order*": {false, false, true}, "GET /fhapi/v1/order": {true, false, false},
	} {
		var f faults
		addFault(t, &f, Fault{Match: match, Kind: DropRequest})
		for i, request := range [][2]string{{"GET", "/fhapi/v1/order?order_id=3"}, {"GET", "/fapi/v1/ticker/BTC-USDT"}, {"POST", "/fhapi/v1/order/cancel"}} {
			if have := f.inject(httptest.NewRequest(request[0], request[1], nil)).kind == DropRequest; have != want[i] {
				t.Errorf("%q on %v: want %v, have %v", match, request, want[i], have)
			}
		}
	}
}

func TestTheSameSeedGivesTheSamePattern(t *testing.T) {
	t.Parallel()
	pattern := func(seed uint64, others bool) (text string, hits int) {
		var f faults
		if others {
			addFault(t, &f, Fault{Match: placePath, Kind: Delay, DelayMS: 1, Probability: new(0.5), Seed: 99})
		}
		addFault(t, &f, Fault{Match: placePath, Kind: DropResponse, Probability: new(0.3), Seed: seed})
		for range 1000 {
			if f.inject(httptest.NewRequest("POST", "/fhapi/v1/order", nil)).kind == DropResponse {
				text, hits = text+"x", hits+1
			} else {
				text += "."
			}
		}
		return text, hits
	}
	first, hits := pattern(7, false)
	if hits < 250 || hits > 350 {
		t.Errorf("probability 0.3 of 1000: want about 300, have %d", hits)
	}
	if again, _ := pattern(7, false); again != first {
		t.Error("seed 7 twice: want the same pattern, have another")
	}
	if other, _ := pattern(7, true); other != first {
		t.Error("seed 7 beside another fault: want the same pattern, have another")
	}
	if other, _ := pattern(8, false); other == first {
		t.Error("seed 8: want another pattern, have that of seed 7")
	}
}

func TestDelayAndHideCombineWithAFaultOfTheAnswer(t *testing.T) {
	t.Parallel()
	var f faults
	addFault(t, &f, Fault{Match: placePath, Kind: Delay, DelayMS: 10})
	addFault(t, &f, Fault{Match: placePath, Kind: Hide, DelayMS: 500, Count: new(1)})
	addFault(t, &f, Fault{Match: placePath, Kind: DropResponse, Count: new(1)})
	addFault(t, &f, Fault{Match: placePath, Kind: Truncate, Count: new(1)})
	for i, want := range []effect{
		{delayMS: 10, kind: DropResponse, hideMS: 500},
		{delayMS: 10, kind: Truncate},
		{delayMS: 10},
	} {
		if have := f.inject(httptest.NewRequest("POST", "/fhapi/v1/order", nil)); have != want {
			t.Errorf("request %d: want %+v, have %+v", i+1, want, have)
		}
	}
}

// faultSymbols are the symbols in the tests' matches.
var faultSymbols = symbolTable{bitcoin: {}}

func TestAnInvalidFaultIsRefused(t *testing.T) {
	t.Parallel()
	for _, fault := range []Fault{
		{Match: placePath, Kind: "explode"},
		{Match: placePath},
		{Match: "", Kind: DropRequest},
		{Match: "/fhapi/v1/order", Kind: DropRequest},
		{Match: "post /fhapi/v1/order", Kind: DropRequest},
		{Match: "GET /fhapi/v1/order?order_id=1", Kind: DropRequest},
		{Match: "GET /nowhere", Kind: DropRequest},
		{Match: "DELETE /fhapi/v1/order", Kind: DropRequest},
		{Match: "GET /fapi/v1/ticker/A/B", Kind: DropRequest},
		{Match: "GET /nowhere*", Kind: DropRequest},
		{Match: "POST /fapi/*", Kind: DropRequest},
		{Match: "GET /fapi/*/time", Kind: DropRequest},
		{Match: "GET /control/v1/orders", Kind: DropRequest},
		{Match: placePath, Kind: Delay},
		{Match: placePath, Kind: Hide, DelayMS: -1},
		{Match: placePath, Kind: Delay, DelayMS: maxDelayMS + 1},
		{Match: placePath, Kind: Status},
		{Match: placePath, Kind: Status, Status: 99},
		{Match: placePath, Kind: Status, Status: 600},
		{Match: placePath, Kind: DropRequest, Count: new(0)},
		{Match: placePath, Kind: DropRequest, Probability: new(1.1)},
		{Match: placePath, Kind: DropRequest, Probability: new(-0.1)},
	} {
		if err := fault.check(faultSymbols); err == nil {
			t.Errorf("%+v: want an error, have none", fault)
		}
	}
}

func TestAFaultIsTakenUpToItsBounds(t *testing.T) {
	t.Parallel()
	for _, fault := range []Fault{
		{Match: placePath, Kind: Delay, DelayMS: 1},
		{Match: placePath, Kind: Hide, DelayMS: maxDelayMS},
		{Match: "POST /hapi/v1/spot/order", Kind: Hide, DelayMS: 1},
		{Match: "*", Kind: Hide, DelayMS: 1},
		{Match: placePath, Kind: Status, Status: 200},
		{Match: placePath, Kind: Status, Status: 599},
		{Match: placePath, Kind: DropRequest, Count: new(1)},
		{Match: placePath, Kind: DropRequest, Probability: new(0.0)},
		{Match: placePath, Kind: DropRequest, Probability: new(1.0)},
		{Match: "GET /fapi/v1/ticker/BTC-USDT", Kind: Empty},
	} {
		if err := fault.check(faultSymbols); err != nil {
			t.Errorf("%+v: want it taken, have %v", fault, err)
		}
	}
	for _, fault := range []Fault{
		{Match: placePath, Kind: Status, Status: 199}, {Match: placePath, Kind: Delay, DelayMS: 0}, {Match: placePath, Kind: Truncate, Count: new(-1)},
		{Match: " /fhapi/v1/order", Kind: DropRequest}, {Match: "POST fhapi/v1/order", Kind: DropRequest}, {Match: "GET /fapi/v1/ti me*", Kind: DropRequest},
		{Match: "GET /fapi/v1/time?x*", Kind: DropRequest}, {Match: "GET/fapi/v1/time", Kind: DropRequest}, {Match: "Get /fapi/*", Kind: DropRequest},
		{Match: "GET /api/v1/spot/public/ticker/BTC-USDT", Kind: DropRequest}, // the only symbol here is a futures symbol
		{Match: "POST /fhapi/v1/order/cancel", Kind: Hide, DelayMS: 5},
	} {
		if err := fault.check(faultSymbols); err == nil {
			t.Errorf("%+v: want an error, have none", fault)
		}
	}
}

func TestAThousandFaultsAreInForceAtMost(t *testing.T) {
	t.Parallel()
	var f faults
	for range maxFaults {
		addFault(t, &f, Fault{Match: placePath, Kind: DropRequest, Count: new(1)})
	}
	if err := f.add(Fault{Match: placePath, Kind: DropRequest}); err == nil || len(f.list()) != 1_000 {
		t.Errorf("want the 1001st refused, have %d and %v", len(f.list()), err)
	}
	wantKinds(t, &f, DropRequest) // the oldest is used up, so another one fits
	addFault(t, &f, Fault{Match: placePath, Kind: Truncate})
}

func addFault(t *testing.T, f *faults, fault Fault) {
	t.Helper()
	if err := fault.check(faultSymbols); err != nil {
		t.Fatal(err)
	}
	if err := f.add(fault); err != nil {
		t.Fatal(err)
	}
}

// wantKinds sends placements one after the other.
func wantKinds(t *testing.T, f *faults, kinds ...FaultKind) {
	t.Helper()
	for i, want := range kinds {
		if have := f.inject(httptest.NewRequest("POST", "/fhapi/v1/order", nil)).kind; have != want {
			t.Errorf("request %d: want %q, have %q", i+1, want, have)
		}
	}
}
