package conformance

import (
	"errors"
	"net/http"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"botd/exchange"
	"botd/exchange/sim/server"
	"botd/exchange/wire"
)

// oneOf is a variant that the cases run on.
type oneOf struct {
	names   string
	profile *wire.Profile
	differs func(met *atomic.Int64) difference
	note    string // an intended difference, which the cases know

	together bool // all ways of encoding together
}

var (
	foreignWords = map[exchange.Market]map[string]exchange.OrderStatus{exchange.Spot: {"EXECUTED": exchange.StatusFilled}}
	null         = &wire.Profile{NullLists: true}
	words        = &wire.Profile{StatusWords: foreignWords}
)

// open opens a world on the variant.
func (v *oneOf) open(w World) (Venue, error) { return serve(w, strings.Split(v.names, ","), v.profile) }

// ways are the variants that encode the same answers differently.
var ways = []oneOf{
	{names: "float-noise"}, {names: "extra-fields"}, {names: "strings-for-numbers"}, {names: "list-envelopes-off"},
	{names: "list-envelopes-on"}, {names: "byte-order-mark"}, {names: "error-words"},
	{names: "null-lists", profile: null}, {names: "foreign-status-words", profile: words},
}

// others are the variants that behave differently, with what the cases find instead.
var others = []oneOf{
	{names: "history-without-client-id", differs: withoutIDs(exchange.SpotOrderHistory),
		note: "no client order id in the spot order history"},
	{names: "open-without-client-id", differs: withoutIDs(exchange.FuturesOpenOrders, exchange.SpotOpenOrders),
		note: "no client order id in the open lists"},
	{names: "refuse-but-execute", differs: fifthRefused, note: "the fifth placement is refused with 400; what follows is not compared"},
	{names: "duplicate-delivery", differs: fifthTwice, note: "the fifth placement answers as ever; what follows is not compared"},
	{names: "stale-positions", differs: oldPositions, note: "the list of open positions answers; what it holds is not compared"},
	{names: "empty-positions", differs: emptyPositions, note: "the list of open positions is empty in the first 3 s of a minute"},
}

// withoutIDs omits the client order ids from the lists.
func withoutIDs(lists ...exchange.Operation) func(*atomic.Int64) difference {
	return func(met *atomic.Int64) difference {
		return func(r *runner, s *step) (bool, error) {
			if !slices.Contains(lists, s.operation()) {
				return false, nil
			}
			other := *s
			other.wants = slices.Clone(s.wants)
			for i := range other.wants {
				w := &other.wants[i]
				if name := w.path[len(w.path)-1]; name == "clientOrderId" || name == "client_order_id" {
					w.value = `""`
					met.Add(1)
				}
			}
			return true, r.ask(&other)
		}
	}
}

// fifth counts the accepted placements, and reports whether a step is the fifth.
func fifth() func(s *step) bool {
	placements := 0
	return func(s *step) bool {
		if !s.operation().Places() || s.outcome.status >= http.StatusMultipleChoices || s.outcome.kind != "" {
			return false
		}
		placements++
		return placements == 5
	}
}

func fifthRefused(met *atomic.Int64) difference {
	isFifth := fifth()
	return func(r *runner, s *step) (bool, error) {
		if !isFifth(s) {
			return false, nil
		}
		met.Add(1)
		refused := *s
		refused.outcome, refused.wants = outcome{status: http.StatusBadRequest}, nil
		return true, errors.Join(r.ask(&refused), errEnds)
	}
}

func fifthTwice(met *atomic.Int64) difference {
	isFifth := fifth()
	return func(r *runner, s *step) (bool, error) {
		if !isFifth(s) {
			return false, nil
		}
		met.Add(1)
		return true, errors.Join(r.ask(s), errEnds)
	}
}

// unlike runs a step with other expectations. If the rest of the case depends on the step's usual result, the
// case ends.
func (r *runner) unlike(s *step, wants []want) error {
	other := *s
	if other.wants = wants; s.label != "" {
		return errors.Join(r.ask(&other), errEnds)
	}
	return r.ask(&other)
}

// oldPositions sends the requests without comparing the answers.
func oldPositions(met *atomic.Int64) difference {
	return func(r *runner, s *step) (bool, error) {
		if s.operation() != exchange.FuturesOpenPositions || s.outcome.status >= http.StatusMultipleChoices {
			return false, nil
		}
		met.Add(1)
		return true, r.unlike(s, nil)
	}
}

func emptyPositions(met *atomic.Int64) difference {
	return func(r *runner, s *step) (bool, error) {
		v, served := r.venue.(*served)
		if s.operation() != exchange.FuturesOpenPositions || s.outcome.status >= http.StatusMultipleChoices || !served ||
			v.now().UnixMilli()%int64(exchange.Minute1) >= 3_000 {
			return false, nil
		}
		met.Add(1)
		return true, r.unlike(s, []want{{path: []string{"len"}, operator: '=', value: "0"}})
	}
}

// TestTheClientUnderstandsEveryVariant runs the cases through the client on a server of each variant. If the
// variant only encodes differently, alone and combined with all others, the client reads the same. If it
// behaves differently, only its documented effect differs.
func TestTheClientUnderstandsEveryVariant(t *testing.T) {
	t.Parallel()
	cases, err := Cases()
	if err != nil {
		t.Fatal(err)
	}
	all := slices.Concat(ways, others)
	for _, variant := range server.Variants() {
		if !slices.ContainsFunc(all, func(v oneOf) bool { return v.names == variant.Name }) {
			t.Errorf("no case runs on variant %s", variant.Name)
		}
	}
	together := oneOf{names: ways[0].names, profile: &wire.Profile{NullLists: true, StatusWords: foreignWords}, together: true}
	for _, way := range ways[1:] {
		together.names += "," + way.names
	}
	for _, v := range append(all, together) {
		t.Run(v.names, func(t *testing.T) {
			t.Parallel()
			ran := v.run(t, cases)
			if ran < 250 {
				t.Errorf("want 250 cases at least, have %d", ran)
			}
		})
	}
}

// run runs the cases, and returns how many.
func (v *oneOf) run(t *testing.T, cases []Case) (ran int) {
	var met atomic.Int64
	for i := range cases {
		// The server's own bytes have separate tests, and cases with hundreds of requests run only with all ways
		// combined.
		if cases[i].Wired() || cases[i].long() && !v.together {
			continue
		}
		ran++
		var differs difference
		if v.differs != nil {
			differs = v.differs(&met)
		}
		if err := run(&cases[i], v.open, differs); err != nil {
			t.Errorf("%s: %v", cases[i].String(), err)
		}
	}
	if v.differs != nil {
		t.Logf("%d cases, different in %d places: %s", ran, met.Load(), v.note)
		if met.Load() == 0 {
			t.Error("want the difference met, have it nowhere")
		}
	}
	return ran
}

// A case that repeats its steps must use no operation that is missing from the others, which run on each variant.
func TestSkippedCasesUseNoUniqueOperation(t *testing.T) {
	t.Parallel()
	cases, err := Cases()
	if err != nil {
		t.Fatal(err)
	}
	asked := map[exchange.Operation]bool{}
	for _, long := range []bool{false, true} {
		for i := range cases {
			if cases[i].Wired() || cases[i].long() != long {
				continue
			}
			for j := range cases[i].steps {
				operation := cases[i].steps[j].operation()
				if !long {
					asked[operation] = true
				} else if !asked[operation] {
					t.Errorf("%s: no other case asks %s", cases[i].String(), operation)
				}
			}
		}
	}
}
