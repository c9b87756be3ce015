package view

import (
	"encoding/json"
	"math"
	"time"

	"botd/exchange"
	"botd/reconcile/account"
	"botd/reconcile/placement"
	"botd/reconcile/record"
	"botd/runtime/engine"
	"botd/runtime/ops"
	"botd/runtime/profit"
)

// JournalHead is the journal's newest record. A copy of its hash elsewhere proves later that no
// record up to it was changed.
type JournalHead struct {
	Records int64     `json:"records"`
	Hash    string    `json:"hash"`
	At      time.Time `json:"at"`
	Keyed   bool      `json:"keyed"` // whether the chain is authenticated by the key of journal_key_file
}

// LaneUse is the last use of the kill switch's lane, while the engine did not answer in time.
type LaneUse struct {
	Since       time.Time        `json:"since"` // the time of the first halt
	RequestedBy string           `json:"requested_by" was:"by"`
	Level       record.HaltLevel `json:"level"`
	Cause       string           `json:"cause"`                   // why the engine was not waited for
	Orders      int              `json:"orders"`                  // the number of orders that were sent
	Active      bool             `json:"active"`                  // whether the engine has not taken over yet
	DoneAfterMS int64            `json:"done_after_ms,omitempty"` // the time until nothing was left to cancel or close
	TookMS      int64            `json:"took_ms,omitempty"`       // the time until the engine had taken over
}

// Status is everything that an overview shows.
type Status struct {
	Schema     int              `json:"schema"`
	Version    string           `json:"version"`
	Mode       string           `json:"mode"`
	Instance   string           `json:"instance"`
	Started    time.Time        `json:"started"`
	UptimeS    int64            `json:"uptime_s"`
	Unclean    bool             `json:"unclean_start,omitempty"` // whether the run before this one ended without a clean stop
	Time       time.Time        `json:"time"`                    // the exchange's time
	Ready      bool             `json:"ready"`
	Checks     []ops.Check      `json:"checks"`
	EventID    string           `json:"event_id"`  // the event after which the stream continues this answer
	Equity     *Decimal         `json:"equity"`    // the equity of all markets that are traded; null while unknown
	Uncounted  []Holding        `json:"uncounted"` // holdings of the spot wallet that do not count as equity, because botd did not buy them
	Futures    Decimal          `json:"futures_equity"`
	Wallet     Decimal          `json:"wallet"`
	Available  Decimal          `json:"available"`
	Unrealized Decimal          `json:"unrealized"`
	MarginUsed Decimal          `json:"margin_used"`
	Today      Day              `json:"today"`
	Halted     record.HaltLevel `json:"halted,omitempty"` // the level of the account's halt
	Reason     string           `json:"reason,omitempty" was:"why"`
	Blind      bool             `json:"blind"`
	Degraded   []Degraded       `json:"degraded"`  // the declared states in force
	Incidents  []Incident       `json:"incidents"` // the open incidents, newest first
	Open       int              `json:"open_orders"`
	Unsettled  int              `json:"unsettled"`
	OldestMS   int64            `json:"unsettled_since_ms,omitempty"`
	Positions  int              `json:"positions"`
	Nearest    *Liquidation     `json:"nearest_liquidation"`
	Reconcile  ReconcileSummary `json:"reconcile"`
	Journal    *JournalHead     `json:"journal_head"`                                     // null without a journal
	LaneUse    *LaneUse         `json:"out_of_band_halt" was:"kill_switch_beside_engine"` // the last halt without the engine; null for none since the start
	Strategies []Strategy       `json:"strategies"`
}

// Day is the account's result since midnight UTC, and its drawdown.
type Day struct {
	Start         *time.Time `json:"start"` // null while unknown
	StartEquity   Decimal    `json:"start_equity"`
	Change        *Decimal   `json:"change"`       // null while the equity is unknown
	ChangeRatio   *float64   `json:"change_ratio"` // null while the equity is unknown
	Peak          Decimal    `json:"peak"`
	DrawdownRatio *float64   `json:"drawdown_ratio"` // a share from 0 to 1; null while the equity is unknown
}

// Liquidation is the nearest price at which a position is liquidated.
type Liquidation struct {
	Symbol   string  `json:"symbol"`
	Price    Decimal `json:"price"`
	Distance float64 `json:"distance_ratio"`
}

// ReconcileSummary is the result of the last rounds.
type ReconcileSummary struct {
	LastMS      int64 `json:"last_ms"` // the end of the last complete round
	Failed      int   `json:"failed"`  // the number of rounds in a row that failed
	Differences int   `json:"differences"`
}

// Degraded is one declared state that blocks openings.
type Degraded struct {
	State         string     `json:"state"` // blind, breaker, halted, limit, quarantined, contradicted, unprotected, foreign, stale, ...
	Scope         string     `json:"scope"` // account | market | strategy | symbol
	Strategy      string     `json:"strategy,omitempty"`
	Market        string     `json:"market,omitempty"`
	Symbol        string     `json:"symbol,omitempty"`
	Cause         string     `json:"cause"`
	Since         time.Time  `json:"since"`
	Until         *time.Time `json:"until,omitempty"` // when it clears automatically
	Remedy        string     `json:"remedy" was:"way_out"`
	Blind         []string   `json:"blind,omitempty"`     // what a halt cannot read or act on, one line each
	ExitsAccepted bool       `json:"under_way,omitempty"` // whether the exchange has accepted all orders that close the rest of a halt
	Doing         string     `json:"doing,omitempty"`     // the orders and positions that a halt still has to cancel or close, and the cause of the delay
}

// DegradedOf writes the declared states in force.
func DegradedOf(all []engine.Degraded) []Degraded {
	out := []Degraded{}
	for i := range all {
		d := &all[i]
		one := Degraded{State: d.State, Cause: d.Cause, Since: time.UnixMilli(d.SinceMS).UTC(), Until: moment(d.UntilMS), Remedy: d.Remedy, Doing: d.Remaining,
			Blind:         d.Blind,
			ExitsAccepted: d.ExitsAccepted && d.Remaining != ""}
		one.Scope, one.Strategy, one.Market, one.Symbol = scopeText(d.Scope)
		out = append(out, one)
	}
	return out
}

// Status returns the newest status.
func (b *Board) Status() Status {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.statusOf()
}

func (b *Board) statusOf() Status {
	s := &b.status
	out := Status{Schema: 1, Mode: b.mode, Instance: b.instance, Started: b.began.UTC(), UptimeS: int64(time.Since(b.began).Seconds()), Unclean: b.unclean,
		Time: time.UnixMilli(s.NowMS).UTC(), Ready: true, Checks: b.checks(), Equity: equityOf(s), Uncounted: uncounted(s),
		Futures: s.Equity.String(), Wallet: s.Account.WalletBalance.String(), Available: s.Account.AvailableBalance.String(),
		Unrealized: s.Account.UnrealizedPNL.String(), MarginUsed: s.Account.MarginUsed.String(),
		Today:  dayOf(s.Day, s.Total, s.TotalKnown),
		Halted: s.Halt.Level, Reason: s.Halt.Reason, Blind: s.Blind, Degraded: DegradedOf(s.Degraded), Incidents: b.openIncidents(),
		Open:    len(s.Live),
		Nearest: nearest(s), Reconcile: ReconcileSummary{LastMS: s.SoundMS, Failed: s.Failed}, Strategies: []Strategy{}}
	for _, check := range out.Checks {
		out.Ready = out.Ready && check.OK
	}
	for i := range s.Live {
		if s.Live[i].State() == placement.Working {
			continue
		}
		out.Unsettled++
		if out.OldestMS == 0 || s.Live[i].SentMS() < out.OldestMS {
			out.OldestMS = s.Live[i].SentMS()
		}
	}
	made := profit.Of(s)
	for i := range s.Symbols {
		out.Positions += count(unlisted(&s.Symbols[i]))
	}
	for i := range s.Strategies {
		t := &s.Strategies[i]
		out.Positions += count(t.Position != 0)
		out.Reconcile.Differences += count(t.State == "quarantined" || t.State == "contradicted")
		out.Strategies = append(out.Strategies, strategyOf(s, t, made[t.Name]))
	}
	return out
}

// equityOf returns the equity of all traded markets; nil while it is unknown.
func equityOf(s *engine.Status) *Decimal {
	if !s.TotalKnown {
		return nil
	}
	return new(s.Total.String())
}

// dayOf compares equity with the day's start. While the equity or the day's start is unknown, the result is too.
func dayOf(day account.Day, equity exchange.Amount, known bool) Day {
	d := Day{Start: moment(day.StartMS), StartEquity: day.Equity.String(), Peak: day.Peak.String()}
	if day.StartMS == 0 || !known {
		return d
	}
	change := equity.Sub(day.Equity)
	d.Change, d.ChangeRatio, d.DrawdownRatio = new(change.String()), new(0.0), new(0.0)
	if day.Equity.Sign() > 0 {
		*d.ChangeRatio = RoundRatio(change.Float() / day.Equity.Float())
	}
	if day.Peak.Sign() > 0 {
		*d.DrawdownRatio = RoundRatio(max(0, day.Peak.Sub(equity).Float()/day.Peak.Float()))
	}
	return d
}

// RoundRatio rounds a ratio to a millionth: more would be noise.
func RoundRatio(ratio float64) float64 {
	const millionth = 1e6
	return math.Round(ratio*millionth) / millionth
}

// nearest returns the liquidation that is nearest to the last price.
func nearest(s *engine.Status) *Liquidation {
	var found *Liquidation
	for i := range s.Strategies {
		t := &s.Strategies[i]
		last := t.Symbol.PriceFloat(t.Last)
		if t.Position == 0 || t.LiqPrice.IsZero() || last <= 0 {
			continue
		}
		distance := RoundRatio(max(last-t.LiqPrice.Float(), t.LiqPrice.Float()-last) / last)
		if found == nil || distance < found.Distance {
			found = &Liquidation{t.Symbol.Name, t.LiqPrice.String(), distance}
		}
	}
	return found
}

// publishStatus publishes the changes since the last publication.
func (b *Board) publishStatus() {
	if b.publishTo == nil {
		return
	}
	status := b.statusOf()
	for i := range status.Strategies {
		b.publishChanged("strategy", "strategy "+status.Strategies[i].Name, &status.Strategies[i])
	}
	summary := status // time and uptime always change; they are not news
	summary.Strategies, summary.UptimeS, summary.Time, summary.EventID = nil, 0, time.Time{}, ""
	summary.Reconcile.LastMS = 0
	if b.changed("status", &summary) {
		status.Strategies, status.Version = []Strategy{}, ""
		b.publish("status", &status)
	}
}

// publishChanged publishes a document if it differs from the last one of its name.
func (b *Board) publishChanged(topic, name string, content any) {
	if b.changed(name, content) {
		b.publish(topic, content)
	}
}

func (b *Board) changed(name string, content any) bool {
	text, err := json.Marshal(content)
	if err != nil {
		panic("view: " + name + ": " + err.Error()) // a type of this package that does not marshal to JSON
	}
	if b.published[name] == string(text) {
		return false
	}
	b.published[name] = string(text)
	return true
}

func count(yes bool) int {
	if yes {
		return 1
	}
	return 0
}
