package server

import (
	"fmt"
	"math/rand/v2"
	"net/http"
	"slices"
	"strings"
	"sync"
)

// Bounds of a fault.
const (
	maxFaults  = 1000
	maxDelayMS = 24 * 60 * 60 * 1000
)

// FaultKind says what goes wrong with a request (decisions.md, the simulated
// exchange as a program).
type FaultKind string

// The kinds of fault.
const (
	DropRequest  FaultKind = "drop_request"  // closes the connection without executing
	DropResponse FaultKind = "drop_response" // executes and closes without an answer
	Delay        FaultKind = "delay"         // waits before anything is looked at
	Status       FaultKind = "status"        // answers a status without executing
	Truncate     FaultKind = "truncate"      // executes and sends half of the answer
	Hide         FaultKind = "hide"          // executes, but list and GET leave the order out for a while
)

var faultKinds = []FaultKind{DropRequest, DropResponse, Delay, Status, Truncate, Hide}

// Fault is one fault that waits for its requests.
type Fault struct {
	Match       string    `json:"match"` // method and exact path without query
	Kind        FaultKind `json:"kind"`
	Status      int       `json:"status,omitempty"`
	DelayMS     int64     `json:"delay_ms,omitempty"`
	Count       *int      `json:"count,omitempty"`       // how often; without it until deleted
	Probability *float64  `json:"probability,omitempty"` // of each matching request; without it 1
	Seed        uint64    `json:"seed,omitempty"`
}

// check returns what is wrong with a fault, or nil.
func (f *Fault) check() error {
	method, path, found := strings.Cut(f.Match, " ")
	if !found || method == "" || method != strings.ToUpper(method) || !strings.HasPrefix(path, "/") || strings.ContainsAny(path, " ?") {
		return fmt.Errorf("match %q is not a method and a path without query, such as \"POST /fhapi/v1/order\"", f.Match)
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

// faults are the faults in force, oldest first.
type faults struct {
	mu    sync.Mutex // guards armed
	armed []*armedFault
}

type armedFault struct {
	Fault
	left int // -1 is without end
	dice *rand.Rand
}

// add puts a checked fault in force.
func (f *faults) add(fault Fault) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if len(f.armed) >= maxFaults {
		return fmt.Errorf("%d faults are in force, no more are taken", len(f.armed))
	}
	armed := &armedFault{Fault: fault, left: -1, dice: rand.New(rand.NewPCG(fault.Seed, 0))}
	if fault.Count != nil {
		armed.left = *fault.Count
	}
	f.armed = append(f.armed, armed)
	return nil
}

// clear ends all faults.
func (f *faults) clear() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.armed = nil
}

// list returns the faults in force with what is left of their counts.
func (f *faults) list() []Fault {
	f.mu.Lock()
	defer f.mu.Unlock()
	list := make([]Fault, 0, len(f.armed))
	for _, armed := range f.armed {
		fault := armed.Fault
		if armed.left >= 0 {
			left := armed.left
			fault.Count = &left
		}
		list = append(list, fault)
	}
	return list
}

// harm is what the faults do to one request.
type harm struct {
	delayMS int64     // before anything else
	kind    FaultKind // one of the four that spoil the answer; empty for none
	status  int
	hideMS  int64
}

// strike draws what happens to a request. Every matching fault throws its dice
// each time, so that one fault's pattern does not depend on another's; of those
// that spoil the answer the oldest wins, and the others keep their count.
func (f *faults) strike(r *http.Request) harm {
	f.mu.Lock()
	defer f.mu.Unlock()
	var h harm
	if len(f.armed) == 0 {
		return h
	}
	match := r.Method + " " + r.URL.Path
	for _, armed := range f.armed {
		if armed.Match != match {
			continue
		}
		hit := armed.Probability == nil || armed.dice.Float64() < *armed.Probability
		if hit && armed.left != 0 && h.add(&armed.Fault) && armed.left > 0 {
			armed.left--
		}
	}
	f.armed = slices.DeleteFunc(f.armed, func(armed *armedFault) bool { return armed.left == 0 })
	return h
}

// add reports whether the fault took part.
func (h *harm) add(fault *Fault) bool {
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
