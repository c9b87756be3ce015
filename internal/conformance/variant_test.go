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
	every   int // of the cases: each way of writing sees some, all together see all
	differs func(met *atomic.Int64) difference
	says    string // what is different by intent, which the cases know
}

var (
	foreignWords = map[exchange.Market]map[string]exchange.OrderStatus{exchange.Spot: {"EXECUTED": exchange.StatusFilled}}
	null         = &wire.Profile{NullLists: true}
	words        = &wire.Profile{StatusWords: foreignWords}
)

// ways are the variants that write the same in another way.
var ways = []oneOf{
	{names: "float-noise", every: 6}, {names: "extra-fields", every: 6}, {names: "strings-for-numbers", every: 6}, {names: "list-envelopes-off", every: 6},
	{names: "list-envelopes-on", every: 6}, {names: "byte-order-mark", every: 6}, {names: "error-words", every: 6},
	{names: "null-lists", profile: null, every: 6}, {names: "foreign-status-words", profile: words, every: 6},
}

// others are the variants that do something else, and what the cases find there in place of what they say.
var others = []oneOf{
	{names: "history-without-client-id", every: 1, differs: withoutIDs(exchange.SpotOrderHistory),
		says: "no client order id in the spot order history"},
	{names: "open-without-client-id", every: 1, differs: withoutIDs(exchange.FuturesOpenOrders, exchange.SpotOpenOrders),
		says: "no client order id in the open lists"},
	{names: "refuse-but-execute", every: 1, differs: fifthRefused, says: "the fifth placement is refused with 400; what follows is not compared"},
	{names: "duplicate-delivery", every: 1, differs: fifthTwice, says: "the fifth placement answers as ever; what follows is not compared"},
	{names: "stale-positions", every: 1, differs: oldPositions, says: "the list of open positions answers; what it holds is not compared"},
	{names: "empty-positions", every: 1, differs: emptyPositions, says: "the list of open positions is empty in the first 3 s of a minute"},
}

// withoutIDs has the lists hold no client order ids.
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

// fifth counts the placements that are accepted, and says whether a step is the fifth.
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

// unlike runs a step with other wants. Where the case goes on with what the step would show, it ends.
func (r *runner) unlike(s *step, wants []want) error {
	other := *s
	if other.wants = wants; s.label != "" {
		return errors.Join(r.ask(&other), errEnds)
	}
	return r.ask(&other)
}

// oldPositions asks without comparing.
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

// TestTheClientUnderstandsEveryVariant runs the cases through the client on a server of each variant. Where
// the variant only writes in another legal way, one by one and all together, what the client reads is the
// same; where it does something else, it differs in what it says, and in nothing beside.
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
	together := oneOf{names: ways[0].names, profile: &wire.Profile{NullLists: true, StatusWords: foreignWords}, every: 1}
	for _, way := range ways[1:] {
		together.names += "," + way.names
	}
	for _, v := range append(all, together) {
		t.Run(v.names, func(t *testing.T) {
			t.Parallel()
			ran := v.run(t, cases)
			if ran < 30 {
				t.Errorf("want 30 cases at least, have %d", ran)
			}
		})
	}
}

// run runs the cases, and returns how many.
func (v *oneOf) run(t *testing.T, cases []Case) (ran int) {
	var met atomic.Int64
	for i := range cases {
		if cases[i].Wired() || i%v.every != 0 || v.differs != nil && cases[i].long() { // the server's own bytes are another matter
			continue
		}
		ran++
		var differs difference
		if v.differs != nil {
			differs = v.differs(&met)
		}
		if err := run(&cases[i], ServedAs(strings.Split(v.names, ","), v.profile), differs); err != nil {
			t.Errorf("%s: %v", cases[i].String(), err)
		}
	}
	if v.differs != nil {
		t.Logf("%d cases, different in %d places: %s", ran, met.Load(), v.says)
		if met.Load() == 0 {
			t.Error("want the difference met, have it nowhere")
		}
	}
	return ran
}
