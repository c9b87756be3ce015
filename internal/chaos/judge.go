package chaos

import (
	"cmp"
	"context"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/shopspring/decimal"

	"botd/internal/oracle"
	"botd/reconcile/journal"
	"botd/reconcile/record"
)

// Report is the result of a trial.
type Report struct {
	Schema      int      `json:"schema"`
	OK          bool     `json:"ok"`
	Problems    []string `json:"problems"` // empty if all is well
	ElapsedS    float64  `json:"elapsed_s"`
	Kills       int      `json:"kills"`                   // number of kills at random moments
	PointKills  int      `json:"point_kills"`             // at named points
	Missed      []string `json:"missed_points,omitempty"` // never reached
	InFlight    int      `json:"kills_in_flight"`         // random kills right after a placement left
	Pauses      int      `json:"pauses"`                  // suspended for longer than a placement's time to live
	Starts      int      `json:"starts"`
	GaveUp      int      `json:"gave_up"`     // starts given up because the exchange did not answer
	BeforeSafe  int      `json:"before_safe"` // kills before the first complete round
	SafeP50S    float64  `json:"safe_p50_s"`  // from a start to its first complete round
	SafeP99S    float64  `json:"safe_p99_s"`
	Sent        int      `json:"sent"`     // placements whose bytes left the daemon
	Accepted    int      `json:"accepted"` // by the exchange
	Lost        int      `json:"lost"`     // answers that were lost or truncated
	Unavailable int      `json:"unavailable"`
	Late        int      `json:"late_refused"`                   // refused for a timestamp that a pause made late
	Repeats     int      `json:"repeats_refused"`                // repeated exits and stops that the exchange already had
	Lied        int      `json:"refused_and_executed,omitempty"` // on an exchange that does so
	Doubled     int      `json:"executed_twice,omitempty"`       // on an exchange that executes orders twice
	Resolved    int      `json:"resolved,omitempty"`             // quarantines that the habits of the exchange caused, ended by a person's decision
	Fills       int      `json:"fills"`
	Records     int      `json:"journal_records"`
	Uncertain   int      `json:"unknown"`    // placements that were uncertain for a while
	Goroutines  int      `json:"goroutines"` // of the daemon at the end
	Held        []Held   `json:"held"`

	safe []time.Duration
}

// maxGoroutines bounds the goroutines of a daemon with a few strategies: workers, writer,
// loop, servers, connections, database.
const maxGoroutines = 120

// Held compares a target with the position on the exchange.
type Held struct {
	Market string `json:"market"`
	Symbol string `json:"symbol"`
	Target string `json:"target"`
	Held   string `json:"held"`
	Stops  int    `json:"stops"`
}

func (r *Report) problem(format string, values ...any) {
	r.Problems = append(r.Problems, fmt.Sprintf(format, values...))
}

// judge stops the daemon and compares exchange, proxy and journal.
func (t *trial) judge(ctx context.Context) error {
	if took, ok := t.daemon.safeAfter(); ok {
		t.report.safe = append(t.report.safe, took)
	}
	last, err := t.daemon.takes(ctx)
	if err != nil {
		return err
	}
	t.report.Goroutines = last.Goroutines
	if t.report.Goroutines > maxGoroutines {
		t.report.problem("goroutines: want %d at most, have %d: some never end", maxGoroutines, t.report.Goroutines)
	}
	code, err := t.daemon.stop()
	if err != nil {
		return err
	}
	if code != 0 {
		t.report.problem("a clean stop: want exit code 0, have %d: %s", code, t.daemon.lastLines())
	}
	if err := t.judgeLog(); err != nil {
		return err
	}
	state, err := t.venue.state(ctx)
	if err != nil {
		return err
	}
	if t.Flatten {
		t.judgeFlat(state)
	} else {
		t.judgeHoldings(state)
	}
	if err := t.judgeExposure(state); err != nil {
		return err
	}
	records, err := t.replay(ctx)
	if err != nil {
		return err
	}
	sent, unread := t.proxy.seen()
	t.judgeSending(state, sent, unread, records)
	t.report.OK = len(t.report.Problems) == 0
	return nil
}

// judgeLog searches the log for panics and data races.
func (t *trial) judgeLog() error {
	text, err := os.ReadFile(filepath.Join(t.Directory, "daemon.log"))
	if err != nil {
		return err
	}
	for line := range strings.Lines(string(text)) {
		if strings.Contains(line, "DATA RACE") || strings.HasPrefix(line, "panic:") || strings.HasPrefix(line, "fatal error:") {
			t.report.problem("the daemon's log: %s", strings.TrimSpace(line))
		}
	}
	return nil
}

// adopted returns how far an adopted position may exceed its target: the wallet balance is already net of a
// fee that the target's fills deduct again.
func (t *trial) adopted(w *Target) decimal.Decimal {
	if t.report.Resolved == 0 || w.Market != "spot" {
		return decimal.Zero
	}
	return w.Quantity.Mul(decimal.New(1, -3))
}

func (t *trial) judgeHoldings(state *accountState) {
	t.report.Fills = len(state.Fills)
	for i := range t.Targets {
		w := &t.Targets[i]
		held := Held{w.Market, w.Symbol, w.signed().String(), state.position(w).String(), state.stops(w)}
		t.report.Held = append(t.report.Held, held)
		if missing := w.Quantity.Sub(state.position(w).Abs()); missing.Add(t.adopted(w)).Sign() < 0 || missing.GreaterThan(w.Slack) ||
			state.position(w).Sign() != w.signed().Sign() {
			t.report.problem("%s %s: want exactly %s (less %s at most), have %s", w.Market, w.Symbol, held.Target, w.Slack, held.Held)
		}
		if w.Stop && held.Stops != 1 {
			t.report.problem("%s %s: want one stop on the exchange, have %d", w.Market, w.Symbol, held.Stops)
		}
	}
}

// judgeExposure lets the oracle judge the exchange's orders and fills: the exposure never exceeds the target.
func (t *trial) judgeExposure(state *accountState) error {
	limits := map[oracle.Symbol]oracle.Limits{}
	for i := range t.Targets {
		w := &t.Targets[i]
		limit := oracle.Limits{Position: w.Quantity.Add(t.adopted(w)).Shift(oracle.LogDecimals).IntPart()}
		if t.Habits.answersFalsely() {
			limit.Placement = limit.Position / int64(w.Slices)
		}
		limits[oracle.Symbol{Spot: w.Market == "spot", Name: w.Symbol}] = limit
	}
	o, err := oracle.Read(state.log, accountKey, func(id string) bool { return strings.HasPrefix(id, "bchaos-") }, limits)
	if err != nil {
		return err
	}
	for _, v := range o.Violations() {
		t.report.problem("the oracle: %s", v)
	}
	return nil
}

// replay reads the journal as a start does, which verifies its chain.
func (t *trial) replay(ctx context.Context) (records []record.Record, err error) {
	path := filepath.Join(t.Directory, "data", "live", "journal.db")
	if _, err := os.Stat(path); err != nil {
		return nil, err
	}
	store, err := journal.Read(ctx, path)
	if err != nil {
		return nil, err
	}
	defer store.Close()
	if err := store.Replay(ctx, func(r *record.Record) error { records = append(records, *r); return nil }); err != nil {
		t.report.problem("the journal: %v", err)
	}
	t.report.Records = len(records)
	return records, nil
}

// journalled returns the ids of all placements in the journal, and counts the uncertain ones: the answer was
// lost, or the daemon died before it arrived.
func (r *Report) journalled(records []record.Record) map[string]bool {
	ids, unanswered := map[string]bool{}, map[string]bool{}
	epoch := int64(0)
	for i := range records {
		id := records[i].ClientOrderID
		switch body := records[i].Body.(type) {
		case record.Sending:
			if ids[id] {
				r.problem("%s is in the journal twice", id)
			}
			ids[id], unanswered[id] = true, true
			continue
		case record.Uncertain:
			r.Uncertain++
		case record.Boot:
			if body.Epoch <= epoch {
				r.problem("epoch %d after %d", body.Epoch, epoch)
			}
			epoch = body.Epoch
			r.Uncertain += len(unanswered)
			clear(unanswered)
		}
		delete(unanswered, id)
	}
	return ids
}

// judgeSending compares the placements sent with the journal and the exchange.
func (t *trial) judgeSending(state *accountState, sent []placement, unread []string, records []record.Record) {
	r := t.report
	for _, body := range unread {
		r.problem("a placement without a client order id: %s", body)
	}
	journalled := r.journalled(records)
	seen, accepted := map[string]bool{}, map[string]int{}
	for i := range state.Orders {
		accepted[cmp.Or(state.Orders[i].ClientOrderID, state.Orders[i].SpotID)]++
	}
	for i := range sent {
		p := &sent[i]
		r.Sent++
		if seen[p.clientID] {
			r.problem("%s left the daemon twice", p.clientID)
		}
		if seen[p.clientID] = true; !journalled[p.clientID] {
			r.problem("%s left the daemon without a durable record", p.clientID)
		}
		switch {
		case p.status == 0:
			r.Lost++
		case p.status == http.StatusServiceUnavailable || p.status == http.StatusTooManyRequests:
			r.Unavailable++
		case p.status == http.StatusUnauthorized && p.late:
			r.Late++ // refused by the window, on which the proof of absence relies
		case p.status/100 == 4 && p.reduces:
			r.Repeats++
		case p.status/100 == 4 && accepted[p.clientID] > 0 && t.Habits.has(refusesAndExecutes):
			r.Lied++
		case p.status/100 == 4:
			r.problem("refused by the exchange with %d: %s", p.status, p.body)
		}
	}
	r.Accepted = len(state.Orders)
	for id, times := range accepted {
		switch {
		case times > 1 && t.Habits.has(executesTwice):
			r.Doubled++
		case times > 1:
			r.problem("%s is on the exchange twice", id)
		}
		if !journalled[id] && strings.HasPrefix(id, "bchaos-") {
			r.problem("%s is on the exchange and not in the journal", id)
		}
	}
}
