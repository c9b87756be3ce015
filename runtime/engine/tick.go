package engine

import (
	"cmp"
	"slices"
	"sort"

	"botd/exchange"
	"botd/exchange/polling"
	"botd/reconcile/record"
	"botd/strategy"
)

// tick calls strategies: View to Plan.
type tick struct{ *base }

// market reads candles, prices, the symbols' rules and funding rates.
type market struct {
	*base
	limits  *limits
	tick    *tick
	series  []*series                    // sorted by key and interval
	due     []*series                    // scratch of poll
	feeding int                          // the one that the driver fed last
	strict  map[exchange.SymbolKey]int64 // when a symbol's current, stricter rules were first read
}

// poll requests the due candles and, each minute, the symbols' rules. Requests of one priority leave in order, so the series whose candles a strategy
// decides on come first, and among these the shorter intervals, whose next close is nearer.
func (m *market) poll() {
	m.due = m.due[:0]
	for _, s := range m.series {
		if s.pollMS <= m.nowMS && !s.asking {
			m.due = append(m.due, s)
		}
	}
	if len(m.due) > 1 {
		slices.SortFunc(m.due, comparePolls)
	}
	for _, s := range m.due {
		m.pollSeries(s)
	}
	if m.rulesMS <= m.nowMS {
		m.rulesMS = m.nowMS + polling.RulesMS
		m.pollRules()
	}
}

// comparePolls orders two series that are due.
func comparePolls(a, b *series) int {
	if decides := a.decides(); decides != b.decides() {
		if decides {
			return -1
		}
		return 1
	}
	return cmp.Or(cmp.Compare(a.interval, b.interval), a.key.Compare(b.key))
}

// pollSeries requests the candles closed since the newest stored one, or those for the warm-up.
func (m *market) pollSeries(s *series) {
	s.asking, s.pollMS = true, never
	from := s.interval.OpenOf(m.nowMS) - int64(s.warmup+1)*int64(s.interval)
	if s.end > 0 {
		from = s.candles.OpenMS[s.end-1] + int64(s.interval)
	}
	request := exchange.Request{
		Operation: polling.Of(s.key.Market).Candles,
		Symbol:    s.key.Name,
		Interval:  s.interval,
		StartMS:   max(0, from),
		Limit:     exchange.FuturesCandlesPage,
	}
	if s.key.Market == exchange.Spot {
		request.EndMS, request.Limit = m.nowMS, exchange.SpotCandlesPage
	}
	m.ask(pendingCall{kind: callCandles, series: s}, PriorityMarket, request)
}

// applyPolled applies a poll's answer: the new closed candles.
func (m *market) applyPolled(s *series, event *EventAnswer) {
	s.asking = false
	if event.Err != nil || event.Answer.Candles == nil {
		s.pollMS = m.nowMS + pollBackoffMS
		s.failed(m.nowMS, event.Err)
		m.note("", s.symbol, NoteFetchFailed{What: "candles", Err: event.Err})
		return
	}
	s.faultMS, s.fault = 0, ""
	arrived, full := m.appendClosed(s, event.Answer.Candles)
	next := s.interval.OpenOf(m.nowMS-m.config.CloseLagMS) + int64(s.interval) + m.config.CloseLagMS
	if full {
		s.pollMS = m.nowMS // the page was full: there are more candles
		return
	}
	m.watchStalled(s)
	switch {
	case s.stalled:
		s.pollMS = m.nowMS + pollBackoffMS
	case s.end > 0 && s.candles.CloseMS(s.end-1)+int64(s.interval)+m.config.CloseLagMS <= m.nowMS:
		s.pollMS = m.nowMS + pollAgainMS
	default:
		s.pollMS = next
	}
	if arrived > 0 {
		m.caughtUp(s, arrived)
	}
	s.begun = true
}

// appendClosed appends the new closed candles and reports whether the page was full.
func (m *market) appendClosed(s *series, answer *exchange.Candles) (arrived int, full bool) {
	polled := &exchange.Candles{Interval: s.interval}
	if state := s.state(); state != nil {
		s.price, s.priceAtMS = state.Last(), state.LastMS()
	}
	for i := range answer.Len() {
		candle := answer.At(i)
		closed := candle.OpenMS+int64(s.interval)+m.config.CloseLagMS <= m.nowMS
		if !closed || s.end > 0 && candle.OpenMS <= s.candles.OpenMS[s.end-1] {
			continue
		}
		if s.end > 0 {
			if missing := (candle.OpenMS-s.candles.OpenMS[s.end-1])/int64(s.interval) - 1; missing > 0 {
				m.note("", s.symbol, NoteGap{int(missing)})
			}
		}
		s.trim()
		s.candles.Append(candle)
		polled.Append(candle)
		s.end++
		m.applyCandlePrice(s)
		m.follow(s)
		arrived++
	}
	if arrived > 0 && !m.config.Quiet {
		m.note("", s.symbol, NoteCandles{polled})
	}
	limit := exchange.FuturesCandlesPage
	if s.key.Market == exchange.Spot {
		limit = exchange.SpotCandlesPage
	}
	return arrived, answer.Len() >= limit
}

// caughtUp ends a poll's catch-up: only the last of the plans made meanwhile takes effect; exits stay,
// and entries older than one interval lapse.
func (m *market) caughtUp(s *series, arrived int) {
	nominal := s.candles.CloseMS(s.end - 1)
	if arrived > 1 && s.begun {
		m.note("", s.symbol, NoteMissed{arrived - 1, "candles arrived late; only the last one is decided on"})
	}
	if m.config.Rehearse {
		m.tick.catchUp(s)
	}
	for _, leg := range s.legs {
		if m.config.Offload {
			leg.question.candlesSince += arrived
			m.tick.inquire(leg)
			continue
		}
		if !leg.decidesByCandle() {
			continue
		}
		before := leg.state.Plan().Target()
		if leg.failure.why == "" {
			leg.schedule.lastMS = nominal
			m.tick.decided(leg)
		}
		m.tick.lapse(leg, before, arrived, nominal)
	}
	for _, leg := range s.readers {
		m.tick.inquireRead(leg) // it may have been waiting for these
	}
}

// scheduled runs a tick that is due by the schedule. Missed ticks are counted and skipped, never
// replayed.
func (t *tick) scheduled(leg *leg) {
	nominal, missed := leg.schedule.nextMS, 0
	for next := leg.config.Schedule.Next(nominal); next <= t.nowMS; next = leg.config.Schedule.Next(next) {
		nominal = next
		missed++
		if missed > 100_000 {
			nominal = t.nowMS
			break
		}
	}
	leg.schedule.nextMS = leg.config.Schedule.Next(nominal)
	if missed > 0 {
		t.note(leg.config.Name, leg.config.Symbol, NoteMissed{missed, "botd was stopped, busy or without candles meanwhile"})
	}
	if leg.symbol.Last() > 0 && leg.schedule.seen >= leg.config.Strategy.Warmup() {
		t.run(leg, nominal)
	}
}

// inquire calls a strategy unless it is still busy or has nothing to do. Before the account has been
// read, a decision would assume that there is no position, although one may exist from before the start:
// then a round that reads the account is scheduled instead.
func (t *tick) inquire(leg *leg) {
	q := &leg.question
	if !leg.symbol.Read() {
		t.requestRoundSoon()
		return
	}
	if q.id != 0 || q.retryMS != never || leg.failure.why != "" || leg.config.Removed || t.stopped || t.closing != record.LevelNone {
		return
	}
	task := t.task(leg)
	if task.From == task.To && task.AtMS == 0 {
		return
	}
	t.nextAsk++
	q.id, q.dueMS = t.nextAsk, t.nowMS+leg.deadlineMS()+int64(task.To-task.From)*candleDeadlineMS
	if q.fresh {
		q.dueMS += strategy.StartMS(leg.config.Strategy)
	}
	q.fresh = false
	t.out.Asks = append(t.out.Asks, Ask{ID: q.id, Name: leg.config.Name, Strategy: leg.config.Strategy, Task: task})
}

// task returns the next task of a strategy.
func (t *tick) task(leg *leg) strategy.Task {
	q, s := &leg.question, leg.series
	from, warmup := 0, leg.config.Strategy.Warmup()
	if q.givenMS > 0 {
		from = sort.Search(s.end, func(i int) bool { return s.candles.OpenMS[i] > q.givenMS })
	}
	to := max(from, min(leg.reached(), from+candlesPerRead))
	task := strategy.Task{Candles: *s.candles.Slice(0, s.end), From: from, To: to, Each: to, Fresh: q.fresh, Target: leg.decision.candleTarget,
		Price: s.price, PriceMS: s.priceAtMS}
	leg.view.Others = leg.othersNow()
	sound := leg.lacking() == nil
	if leg.config.Schedule == nil && sound {
		after := sort.Search(to, func(i int) bool { return s.candles.OpenMS[i] > q.beforeStartMS })
		task.Each = min(to, max(from, after, from+warmup-leg.schedule.seen-1))
	}
	if leg.schedule.seen += to - from; to > 0 {
		q.givenMS = s.candles.OpenMS[to-1]
	}
	task.Before = leg.view.Snapshot()
	t.refreshView(leg, t.nowMS)
	if to == s.end && leg.symbol.Last() > 0 && leg.schedule.seen >= warmup && sound {
		task.AtMS, q.atMS = q.atMS, 0
		leg.schedule.lastMS = max(leg.schedule.lastMS, task.AtMS)
	}
	if task.Each < to {
		leg.schedule.lastMS = s.candles.CloseMS(to - 1)
	}
	task.View, q.events = leg.view.Snapshot(), leg.viewSource.events
	return task
}

// receiveDecision applies a strategy's result. A decision based on candles is superseded if newer ones
// have arrived: the next answer follows at once. A halt does not change a plan, only which of its orders
// may be sent; while botd stops, no plan changes.
func (t *tick) receiveDecision(event *EventDecision) {
	leg := t.legOfAsk(event.AskID)
	if leg == nil {
		return // the strategy has been replaced or removed meanwhile
	}
	q, result := &leg.question, &event.Result
	late := q.dueMS == never
	q.id, q.dueMS, q.lastAnswered = 0, never, event.AskID
	switch {
	case t.stopped || t.closing != record.LevelNone:
		return
	case result.Lost != "":
		t.restart(leg, result.Lost)
		return
	case result.Failure != "":
		t.fail(leg, result.Failure)
		return
	}
	t.answersAgain(leg)
	if result.TargetMS != 0 {
		leg.decision.candleTarget, leg.decision.candleTargetMS = result.Plan.Target, result.TargetMS
	}
	reached := leg.reached()
	superseded := leg.config.Schedule == nil && reached > 0 && q.givenMS < leg.series.candles.OpenMS[reached-1]
	switch {
	case !result.Decided || superseded:
	case late:
		q.atMS = t.nowMS // its inputs were too old
	default:
		q.conditions, leg.plan, leg.viewSource.events = result.Conditions, result.Plan, q.events
		t.applyDecision(leg)
	}
	t.inquire(leg)
}

// applyDecision puts a decision in force unless it is too old to enter.
func (t *tick) applyDecision(leg *leg) {
	before, arrived := leg.state.Plan().Target(), leg.question.candlesSince
	leg.question.candlesSince = 0
	t.decided(leg)
	if leg.config.Schedule == nil {
		t.lapse(leg, before, arrived, leg.schedule.lastMS)
	}
}

// decided applies a strategy's decision. A plan that changes nothing ends here.
func (t *tick) decided(leg *leg) {
	if t.config.Rehearse {
		return
	}
	if leg.inForce.outdated && (leg.question.lastAnswered > leg.inForce.newestAsk || !t.config.Offload) {
		leg.inForce.outdated, t.roundMS = false, t.nowMS
	}
	t.putInForce(leg, true)
}

// putInForce applies the new plan and its memory. decided is true if the strategy decided it.
func (t *tick) putInForce(leg *leg, decided bool) {
	covered := leg.state.Plan().Covers(&leg.plan)
	why := leg.plan.WordsOutOfBounds()
	if why == "" && !covered {
		why = leg.plan.OutOfBounds(leg.config.Symbol, leg.symbol.Last())
	}
	memory, changed := leg.state.Memory().With(leg.plan.Remembered())
	if why == "" && changed {
		why = memory.OutOfBounds()
	}
	if why != "" {
		t.fail(leg, why) // a plan out of bounds is not journalled, because every later start would fail on it
		return
	}
	t.remember(leg, memory, changed, decided)
	if decided && !t.config.Quiet {
		t.note(leg.config.Name, leg.config.Symbol, NoteTick{leg.plan.Reason})
	}
	if decided {
		t.sendNotices(leg)
	}
	if !covered {
		t.adopt(leg)
	}
	if decided { // an exit that follows the price sets no target, and that is not a decision to close
		t.reenter(leg)
	}
}

// remember journals a strategy's memory and, if it was called, the number of events it has
// received, in one record.
func (t *tick) remember(leg *leg, memory strategy.Memory, changed, decided bool) {
	seen := int64(0)
	if decided {
		seen = leg.viewSource.events
	}
	if changed || decided && leg.state.PendingEvents() > 0 {
		t.record(record.Record{Strategy: leg.config.Name, Body: record.Memory{Entries: memory.Entries(), Events: seen}})
	}
}

// adopt puts the new plan in force, journals it, and requests a round.
func (t *tick) adopt(leg *leg) {
	merged := leg.state.Plan().Clone()
	merged.Merge(&leg.plan)
	latch := leg.state.Latch()
	t.record(record.Record{Strategy: leg.config.Name, Symbol: leg.symbol.Key(), Body: record.Plan{Plan: merged}})
	planned := t.emitted + int64(len(t.unwritten))
	t.note(leg.config.Name, leg.config.Symbol, NoteDecision{merged, leg.plan.Reason, leg.symbol.Last(), leg.symbol.Position()})
	t.reportLatch(leg, latch)
	t.roundMS, leg.inForce.atMS, leg.inForce.sequence = t.nowMS, t.nowMS, planned
}

// lapse latches an entry that was decided more than one candle ago, if several candles have arrived at
// once.
func (t *tick) lapse(leg *leg, before strategy.Target, arrived int, nominalMS int64) {
	now := leg.state.Plan().Target()
	sign := now.Sign()
	if arrived > 1 && sign != 0 && before != now && leg.decision.candleTargetMS < nominalMS && leg.state.Latch() != sign && leg.symbol.Known() == 0 {
		t.record(record.Record{Strategy: leg.config.Name, Body: record.Latch{Side: sign}})
		t.note(leg.config.Name, leg.config.Symbol, NoteLatch{Side: sign, Reason: "the entry was decided more than one candle ago and lapses"})
	}
}

func (t *tick) reportLatch(leg *leg, before int) {
	if leg.state.Latch() != before {
		t.note(leg.config.Name, leg.config.Symbol, NoteLatch{Side: leg.state.Latch(), Ended: leg.state.Latch() == 0})
	}
}

// fail stops a strategy.
func (t *tick) fail(leg *leg, why string) {
	why = strategy.Clip(why, strategy.MaxCause)
	leg.failure.why, leg.failure.atMS, leg.schedule.nextMS = why, t.nowMS, never
	leg.question.hung, leg.question.retryMS = "", never
	t.note(leg.config.Name, leg.config.Symbol, NoteStrategyFailed{why})
}
