package server

import (
	"fmt"
	"math/rand/v2"
	"net/http"
	"slices"
	"strings"
	"sync"

	"botd/exchange"
	"botd/exchange/wire"
)

// Bounds of a fault.
const (
	maxFaults  = 1000
	maxDelayMS = 24 * 60 * 60 * 1000
)

// FaultKind is a kind of fault (docs/exchange.md, The control interface).
type FaultKind string

// The kinds of fault.
const (
	DropRequest  FaultKind = "drop_request"  // closes the connection without executing
	DropResponse FaultKind = "drop_response" // executes and closes without an answer
	Delay        FaultKind = "delay"         // waits before anything else
	Status       FaultKind = "status"        // answers a status without executing
	Truncate     FaultKind = "truncate"      // executes and sends half of the answer
	Hide         FaultKind = "hide"          // executes, but list and GET omit the order for a while
	Empty        FaultKind = "empty"         // answers 200 with an empty list, without executing
)

var faultKinds = []FaultKind{DropRequest, DropResponse, Delay, Status, Truncate, Hide, Empty}

// Fault is a scheduled fault.
type Fault struct {
	Match       string    `json:"match"` // method and path without query; a trailing * matches any rest
	Kind        FaultKind `json:"kind"`
	Status      int       `json:"status,omitempty"`
	DelayMS     int64     `json:"delay_ms,omitempty"`
	Count       *int      `json:"count,omitempty"`       // number of uses; unlimited if not set
	Probability *float64  `json:"probability,omitempty"` // of each matching request; 1 if not set
	Seed        uint64    `json:"seed,omitempty"`
}

// check returns an error for an invalid fault.
func (f *Fault) check(symbols symbolTable) error {
	if err := checkMatch(f.Match, symbols); err != nil {
		return err
	}
	if f.Kind == Hide && !f.matchesPlacement() {
		return fmt.Errorf("match %q places no order that kind %s could leave out", f.Match, f.Kind)
	}
	if !slices.Contains(faultKinds, f.Kind) {
		return fmt.Errorf("kind %q is unknown (known: %v)", f.Kind, faultKinds)
	}
	if (f.Kind == Delay || f.Kind == Hide) && (f.DelayMS < 1 || f.DelayMS > maxDelayMS) {
		return fmt.Errorf("delay_ms %d of kind %s is not 1 to %d", f.DelayMS, f.Kind, maxDelayMS)
	}
	if f.Kind == Status && (f.Status < 200 || f.Status > 599) {
		return fmt.Errorf("status %d is not 200 to 599", f.Status)
	}
	if f.Count != nil && *f.Count < 1 {
		return fmt.Errorf("count %d is below 1", *f.Count)
	}
	if f.Probability != nil && !(*f.Probability >= 0 && *f.Probability <= 1) {
		return fmt.Errorf("probability %v is not 0 to 1", *f.Probability)
	}
	return nil
}

// matchesPlacement reports whether the fault matches a placement on either market.
func (f *Fault) matchesPlacement() bool {
	return slices.ContainsFunc([]exchange.Operation{exchange.FuturesPlace, exchange.SpotPlace}, func(place exchange.Operation) bool {
		route := wire.RouteOf(place)
		return f.matches(route.Method + " " + route.Path)
	})
}

// checkMatch returns an error for a match that no request of the interface can satisfy.
func checkMatch(match string, symbols symbolTable) error {
	if match == "*" {
		return nil
	}
	method, path, found := strings.Cut(match, " ")
	prefix, open := strings.CutSuffix(path, "*")
	if !found || method == "" || method != strings.ToUpper(method) || !strings.HasPrefix(path, "/") || strings.ContainsAny(prefix, " ?*") {
		return fmt.Errorf("match %q is not a method and a path without query, such as \"POST /fhapi/v1/order\"; a trailing * matches any rest", match)
	}
	if open {
		if !wire.MatchesAny(method, prefix, symbols.begins) {
			return fmt.Errorf("match %q can never match: the interface has no such path with %s, or the exchange no such symbol", match, method)
		}
		return nil
	}
	operation, name, known, allowed := wire.Match(method, path)
	switch {
	case operation != 0 && name != "" && symbols[exchange.SymbolKey{Market: operation.Market(), Name: name}] == nil:
		return fmt.Errorf("match %q can never match: the exchange has no %s symbol %s", match, operation.Market(), name)
	case operation != 0:
		return nil
	case known:
		return fmt.Errorf("match %q can never match: path %s has %s", match, path, strings.Join(allowed, ", "))
	}
	return fmt.Errorf("match %q can never match: the interface has no path %s", match, path)
}

// matches reports whether the fault matches a request, given as method and path.
func (f *Fault) matches(request string) bool {
	prefix, open := strings.CutSuffix(f.Match, "*")
	return f.Match == request || open && strings.HasPrefix(request, prefix)
}

// faults are the active faults, oldest first.
type faults struct {
	mu     sync.Mutex // guards active
	active []*activeFault
}

type activeFault struct {
	Fault
	left int // -1 is unlimited
	dice *rand.Rand
}

// add activates a checked fault.
func (f *faults) add(fault Fault) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if len(f.active) >= maxFaults {
		return fmt.Errorf("%d faults are active, the maximum", len(f.active))
	}
	one := &activeFault{Fault: fault, left: -1, dice: rand.New(rand.NewPCG(fault.Seed, 0))}
	if fault.Count != nil {
		one.left = *fault.Count
	}
	f.active = append(f.active, one)
	return nil
}

// clear ends all faults.
func (f *faults) clear() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.active = nil
}

// list returns the active faults with their remaining counts.
func (f *faults) list() []Fault {
	f.mu.Lock()
	defer f.mu.Unlock()
	list := make([]Fault, 0, len(f.active))
	for _, one := range f.active {
		fault := one.Fault
		if one.left >= 0 {
			fault.Count = new(one.left)
		}
		list = append(list, fault)
	}
	return list
}

// effect is the combined effect of the faults on one request.
type effect struct {
	delayMS int64     // before anything else
	kind    FaultKind // one of the four kinds that change the answer; empty for none
	status  int
	hideMS  int64
}

// inject determines the effect on a request. Every matching fault draws its random number each
// time, so that one fault's pattern does not depend on another's. Of the faults that change the
// answer, the oldest wins; the others keep their count.
func (f *faults) inject(r *http.Request) effect {
	f.mu.Lock()
	defer f.mu.Unlock()
	var h effect
	if len(f.active) == 0 {
		return h
	}
	match := r.Method + " " + r.URL.Path
	for _, one := range f.active {
		if !one.matches(match) {
			continue
		}
		hit := one.Probability == nil || one.dice.Float64() < *one.Probability
		if hit && one.left != 0 && h.add(&one.Fault) && one.left > 0 {
			one.left--
		}
	}
	f.active = slices.DeleteFunc(f.active, func(one *activeFault) bool { return one.left == 0 })
	return h
}

// name returns the effect's name in the journal of requests.
func (h *effect) name() string {
	switch {
	case h.kind != "":
		return string(h.kind)
	case h.hideMS > 0:
		return string(Hide)
	case h.delayMS > 0:
		return string(Delay)
	}
	return ""
}

// add reports whether the fault took part.
func (h *effect) add(fault *Fault) bool {
	switch fault.Kind {
	case Delay:
		h.delayMS += fault.DelayMS
		return true
	case Hide:
		h.hideMS = max(h.hideMS, fault.DelayMS)
		return true
	}
	if h.kind != "" {
		return false
	}
	h.kind, h.status = fault.Kind, fault.Status
	return true
}
