package engine

import (
	"cmp"
	"fmt"
	"slices"

	"botd/exchange"
	"botd/reconcile"
	"botd/reconcile/account"
	"botd/reconcile/ledger"
	"botd/reconcile/record"
	"botd/risk"
	"botd/strategy"
)

// Status is a summary for people and metrics. It shares nothing with the engine.
type Status struct {
	NowMS      int64
	Equity     exchange.Amount // of the futures account
	Total      exchange.Amount // of all traded markets; zero while unknown
	TotalKnown bool
	Day        account.Day // since midnight UTC
	Account    exchange.MarginAccount
	AccountMS  int64
	Halt       account.Halt   // the account's halt
	Halts      []account.Halt // all halts in force
	Blind      bool
	SoundMS    int64 // end of the last complete round
	Failed     int   // consecutive failed rounds
	JournalErr error
	DiskLow    string // why nothing opens: the journal's disk is nearly full, or its files are lost; empty otherwise
	Degraded   []Degraded
	Strategies []StrategyStatus
	Symbols    []SymbolStatus
	Balances   []exchange.Balance // spot wallet, as last fetched
	Live       []account.Placement
	Limits     []risk.Utilization // utilization of every limit
	Ledger     []ledger.Balance   // balances of the account's money; empty if it is not booked
}

// SymbolStatus is the exchange's state of one symbol, with the state that the journal explains.
type SymbolStatus struct {
	Key        exchange.SymbolKey
	Rules      *exchange.Symbol // nil if unknown
	Owner      string
	Position   exchange.Quantity // as reported by the exchange, without the ignored part
	Unshown    exchange.Quantity // the part of botd's position that its fills explain and that the list, which is not trusted, does not show
	Ignored    exchange.Quantity // foreign part of the exchange's position
	Known      exchange.Quantity // by the journal: adopted plus signed fills
	Residual   exchange.Quantity // unexplained difference between the two
	Baseline   exchange.Quantity // spot: the wallet's balance before botd's purchases
	EntryPrice exchange.Amount
	LiqPrice   exchange.Amount
	Leverage   int
	Last, Mark exchange.Price
	SinceMS    int64 // of the position
	Read       bool  // since the start
	Settled    bool

	Quarantine   string
	QuarantineMS int64
	Foreign      []exchange.Order // open foreign orders
}

// StrategyStatus is one strategy's part of the Status.
type StrategyStatus struct {
	Name               string
	Kind               string
	Symbol             *exchange.Symbol
	Interval           exchange.Interval
	State              string // running, warming_up, halted, quarantined, unprotected, contradicted, refused, latched, failed, hung
	StateReason        string // of the state
	PlanReason         string // of the plan in force
	Target             exchange.Quantity
	Position           exchange.Quantity
	Booked             exchange.Amount // spot: the ledger's holding of the base asset; it follows Position with the ledger's next reading
	EntryPrice         exchange.Amount
	LiqPrice           exchange.Amount
	Last               exchange.Price
	LastMS             int64 // of the price
	CandleMS           int64 // close of the newest candle
	TickMS             int64 // nominal time of the last tick
	NextMS             int64 // next scheduled tick, or the next candle's poll; 0 if there is none
	Settled            bool
	Plan               strategy.Plan // in force; a copy
	Memory             strategy.Memory
	Latch              int             // latched side of the target
	Spent              bool            // all orders of its plan have filled, and there is no position
	Realized           exchange.Amount // since the strategy began, including fees and funding; on spot only of positions before the current one
	tripProfit         exchange.Amount // spot: profit of the current position, the sum of its cash flow and its value
	Own                exchange.Amount // equity attributed to the strategy; zero before a limit first watches it
	Unpriced           bool            // Own lacks the value of a position that has no price, or has not been read since the start
	Peak               exchange.Amount // highest journalled equity; zero if no limit watches it
	Protected          bool            // a stop accepted by the exchange covers the position
	PeerStop           string          // client order id of the other botd's stop that does; empty if botd's own do
	UnprotectedSinceMS int64           // since when its position has lacked its stop; 0 if it has one
	UnprotectedMS      int64           // total time that its positions lacked their stops, since the start
}

// Unrealized returns the position's profit at the last price. Spot reports no entry price: there it
// is the profit of the current position, including partial exits.
func (s *StrategyStatus) Unrealized() exchange.Amount {
	if s.Symbol != nil && s.Symbol.Market == exchange.Spot {
		return s.tripProfit
	}
	if s.Position == 0 || s.EntryPrice.IsZero() || s.Last == 0 {
		return exchange.Amount{}
	}
	return s.Symbol.Notional(s.Last, s.Position).Sub(s.Symbol.Cost(s.EntryPrice, s.Position))
}

// reporter describes the engine between events.
type reporter struct {
	*base
	readHealth *readHealth
	protection *protection
	limits     *limits
	permission *permission
	halts      *halts
	market     *market
	backoffs   *backoffs
	rejections *rejections
}

// Status summarizes the engine between events.
func (r *reporter) Status() Status {
	status := Status{NowMS: r.nowMS, Equity: r.equity(exchange.Futures), Account: r.tracker.Account(), AccountMS: r.tracker.AccountMS(),
		Halt: r.tracker.Halted(), Blind: r.readHealth.accountOrMarketBlind(), SoundMS: r.readHealth.soundMS,
		Failed: r.readHealth.failed, JournalErr: r.journalErr, DiskLow: r.permission.low}
	status.Ledger = slices.Collect(r.tracker.Ledger().Balances())
	status.Degraded, status.Limits, status.Day = r.Degraded(), r.Limits(), r.tracker.Today()
	if total, known := r.limits.displayedEquity(); known {
		status.Total, status.TotalKnown = total, true
	}
	status.Halts = r.tracker.Halts()
	status.Balances = slices.Collect(r.tracker.Balances())
	for t := range r.tracker.Symbols() {
		status.Symbols = append(status.Symbols, symbolStatus(t))
	}
	for p := range r.tracker.Live() {
		status.Live = append(status.Live, *p)
	}
	for _, leg := range r.legs {
		status.Strategies = append(status.Strategies, r.strategyStatus(leg))
	}
	return status
}

func symbolStatus(t *reconcile.SymbolState) SymbolStatus {
	residual, _ := t.Residual()
	return SymbolStatus{
		Residual:     residual,
		Key:          t.Key(),
		Rules:        t.Rules(),
		Owner:        t.Owner(),
		Position:     t.Position(),
		Unshown:      t.TrustedPosition() - t.Position(),
		Ignored:      t.Ignored(),
		Known:        t.Known(),
		Baseline:     t.Baseline(),
		EntryPrice:   t.EntryPrice(),
		LiqPrice:     t.LiqPrice(),
		Leverage:     t.Leverage(),
		Last:         t.Last(),
		Mark:         t.Mark(),
		SinceMS:      t.SinceMS(),
		Read:         t.Read(),
		Settled:      t.Settled(),
		Quarantine:   t.Quarantine(),
		QuarantineMS: t.QuarantineMS(),
		Foreign:      t.Foreign(),
	}
}

func (r *reporter) strategyStatus(leg *leg) StrategyStatus {
	s := StrategyStatus{
		Name:       leg.config.Name,
		Kind:       leg.config.Kind,
		Symbol:     leg.config.Symbol,
		Interval:   leg.config.Interval,
		PlanReason: leg.state.Plan().Reason(),
		Target:     leg.target(),
		Position:   leg.symbol.TrustedPosition(),
		EntryPrice: leg.symbol.EntryPrice(),
		LiqPrice:   leg.symbol.LiqPrice(),
		Last:       leg.symbol.Last(),
		LastMS:     leg.symbol.LastMS(),
		TickMS:     leg.schedule.lastMS,
		NextMS:     min(leg.schedule.nextMS, leg.series.pollMS),
		Settled:    leg.symbol.Settled(),
	}
	if s.NextMS == never { // its candle is being read
		s.NextMS = leg.nextTick(r.nowMS)
	}
	s.Booked, s.Plan, s.Memory, s.Latch = r.tracker.Ledger().Held(leg.config.Symbol.Key()), *leg.state.Plan().Clone(), leg.state.Memory(), leg.state.Latch()
	s.Unpriced = r.unpriced(leg)
	watch := r.tracker.Watch(leg.config.Name)
	if watch.Known() {
		s.Realized, s.Own, s.Peak = watch.Result().Result, r.strategyEquity(leg), watch.Day().Peak
		if leg.symbol.Key().Market == exchange.Spot && watch.Result().Position != 0 && leg.symbol.Position() != 0 {
			s.Realized = watch.Result().Trip
			s.tripProfit = s.Own.Sub(watch.Result().Base).Sub(watch.Result().Trip)
		}
	}
	if leg.series.end > 0 {
		s.CandleMS = leg.series.candles.CloseMS(leg.series.end - 1)
	}
	s.Protected, s.UnprotectedMS, s.PeerStop = r.protection.hasStop(leg), leg.symbol.UnprotectedMS(), r.protection.peerStop(leg)
	if since := leg.symbol.UnprotectedSinceMS(); since != 0 {
		s.UnprotectedSinceMS = since
		s.UnprotectedMS += r.nowMS - since
	}
	s.State, s.StateReason, s.Spent = r.strategyState(leg)
	switch foreign := r.tracker.ForeignOpening(leg.symbol); {
	case s.StateReason != "":
	case leg.config.Absent:
		s.StateReason = "its file is missing: it decides nothing, its protection stays; after a reload, on_remove: " + cmp.Or(leg.state.OnRemove(), "none")
	case leg.config.Removed:
		s.StateReason = "it is no longer configured; on_remove: " + cmp.Or(leg.state.OnRemove(), "none")
	case foreign != nil:
		s.StateReason = foreignText(r.tracker, leg.symbol, foreign)
	}
	return s
}

// strategyState returns a strategy's state, the reason, and whether all orders of its plan are spent.
func (r *reporter) strategyState(leg *leg) (state, why string, spent bool) {
	halt := r.tracker.HaltOn(leg.config.Name, leg.symbol.Key())
	switch {
	case leg.failure.why != "":
		return "failed", leg.failure.why, false
	case leg.question.hung != "":
		return "hung", leg.question.hung, false
	case leg.symbol.Quarantine() != "":
		return "quarantined", leg.symbol.Quarantine(), false
	case r.protection.declared(leg):
		return "unprotected", r.protection.cause(leg), false
	case leg.symbol.Contradicted() != "":
		return "contradicted", leg.symbol.Contradicted(), false
	case halt.Level != record.LevelNone:
		return "halted", halt.Scope.String() + ": " + halt.Reason, false
	case r.backoffs.declared(leg.config.Name) != "":
		return "refused", r.backoffs.declared(leg.config.Name), false
	case leg.state.Latch() != 0:
		return "latched", leg.latchRemedy(), false
	}
	return leg.progress()
}

// OpenLeft lists what stays open on the exchange, one line each.
func (r *reporter) OpenLeft() []string {
	var lines []string
	for symbol := range r.tracker.Symbols() {
		if position := symbol.TrustedPosition(); position != 0 && symbol.Rules() != nil {
			line := fmt.Sprintf("position %s %s", symbol.Key(), symbol.Rules().QuantityDecimal(position))
			if !symbol.EntryPrice().IsZero() { // spot reports no entry price
				line += " at " + symbol.EntryPrice().String()
			}
			lines = append(lines, line)
		}
	}
	for p := range r.tracker.Live() {
		what := fmt.Sprintf("order %s %s %s %s %s", p.ClientOrderID(), p.State(), p.Symbol(), p.Order().Side, p.Order().Type)
		if rules := r.symbolOf(p.Symbol()); rules != nil {
			what += measures(p, rules)
		}
		lines = append(lines, what)
	}
	return lines
}

// measures returns the prices of an order and its unfilled quantity.
func measures(p *account.Placement, rules *exchange.Symbol) (text string) {
	if p.Order().StopPrice != 0 {
		text += " stop " + rules.PriceDecimal(p.Order().StopPrice).String()
	}
	if p.Order().Price != 0 {
		text += " price " + rules.PriceDecimal(p.Order().Price).String()
	}
	if p.Order().Quantity != 0 {
		text += " quantity " + rules.QuantityDecimal(p.Remaining()).String()
	}
	return text
}

// Limits returns the utilization of every limit.
func (r *reporter) Limits() []risk.Utilization {
	total, known := r.limits.displayedEquity()
	facts := risk.Account{NowMS: r.nowMS, Tracker: r.tracker, Equity: total, Known: known}
	for _, market := range [...]exchange.Market{exchange.Futures, exchange.Spot} {
		if r.trades(market) {
			facts.Markets = append(facts.Markets, risk.MarketFacts{Market: market, Equity: r.equity(market)})
		}
	}
	for _, leg := range r.legs {
		facts.Strategies = append(facts.Strategies, risk.StrategyFacts{Name: leg.config.Name, State: leg.symbol, Limits: leg.config.Limits,
			Own: r.strategyEquity(leg)})
	}
	all := r.gate.Utilization(&facts)
	for i := range all {
		if s := r.setLimit(all[i].Strategy, all[i].Rule); s != nil {
			set := *s
			all[i].Set = &set
		}
	}
	return all
}
