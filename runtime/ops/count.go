package ops

import (
	"math"
	"strconv"
	"time"

	"botd/exchange"
	"botd/reconcile"
	"botd/runtime/engine"
)

// maxDecisions bounds the placements whose decision price is remembered.
const maxDecisions = 10_000

// decisions holds the last price at which each intent was approved, by its
// strategy and purpose, and once it is placed by its client order id. It belongs
// to the goroutine that gives the notes.
type decisions map[string]exchange.Price

func (d decisions) approved(n *engine.Note) { d.put(n.Strategy+" "+n.Purpose.String(), n.Last) }

func (d decisions) placed(n *engine.Note) {
	if last, found := d[n.Strategy+" "+n.Purpose.String()]; found {
		d.put(n.ClientOrderID, last)
	}
}

func (d decisions) put(key string, price exchange.Price) {
	if _, known := d[key]; known || len(d) < maxDecisions {
		d[key] = price
	}
}

func (d decisions) take(n *engine.Note) exchange.Price {
	price := d[n.ClientOrderID]
	delete(d, n.ClientOrderID)
	return price
}

// Request counts one try of a request to the exchange.
func (m *Metrics) Request(operation exchange.Operation, outcome string, number int, took, waited time.Duration) {
	market := operation.Market().String()
	m.requests.WithLabelValues(market, operation.String(), oneOf(outcomes, outcome)).Inc()
	m.requestSeconds.WithLabelValues(market, operation.String()).Observe(took.Seconds())
	if kind, polled := marketReads[operation]; polled {
		result := "ok"
		if outcome != "ok" {
			result = "failed"
		}
		m.polls.WithLabelValues(market, kind, result).Inc()
	}
	if number != 0 {
		m.errorCodes.WithLabelValues(market, code(number)).Inc()
	}
	if waited > 0 {
		m.throttle.WithLabelValues(market, "budget").Add(waited.Seconds())
	}
}

// Clock sets the offset to the exchange's clock, and how far off that may be.
func (m *Metrics) Clock(offset, bound time.Duration) {
	m.clockOffset.WithLabelValues().Set(offset.Seconds())
	m.clockBound.WithLabelValues().Set(bound.Seconds())
}

// ClockJumped counts that the local clock was set, or the machine slept.
func (m *Metrics) ClockJumped() { m.clockJumps.WithLabelValues().Inc() }

// Unclean says whether the run before this one ended without a clean stop.
func (m *Metrics) Unclean(unclean bool) { m.unclean.WithLabelValues().Set(truth(unclean)) }

// Commit counts one journal commit.
func (m *Metrics) Commit(took time.Duration, err error) {
	m.commitSeconds.WithLabelValues().Observe(took.Seconds())
	if err != nil {
		m.storeErrors.WithLabelValues("append").Inc()
	}
}

// Note counts one fact of the engine. One goroutine gives them all.
func (m *Metrics) Note(n *engine.Note) {
	strategy, market := m.known.strategy(n.Strategy), other
	if n.Symbol != nil {
		market = m.known.market(n.Symbol.Market.String())
	}
	switch n.Kind {
	case engine.NoteGap:
		m.gaps.WithLabelValues(market).Add(float64(max(0, n.Count)))
	case engine.NoteTick:
		m.cycles.WithLabelValues(strategy, "ok").Inc()
	case engine.NoteMissed:
		m.cycles.WithLabelValues(strategy, "missed").Add(float64(max(0, n.Count)))
	case engine.NoteStrategyFailed:
		m.cycles.WithLabelValues(strategy, "failed").Inc()
	case engine.NoteApproved:
		m.intents.WithLabelValues(strategy, n.Purpose.String(), "approved").Inc()
		m.decided.approved(n)
	case engine.NoteRefusal:
		m.intents.WithLabelValues(strategy, n.Purpose.String(), "refused").Inc()
		m.refusals.WithLabelValues(m.known.rule(n.Refusal.Rule)).Inc()
	case engine.NotePlaced:
		m.submitted.WithLabelValues(market, strategy, n.Order.Type.String()).Inc()
		m.decided.placed(n)
	case engine.NoteAcknowledged:
		m.ackSeconds.WithLabelValues(market).Observe(seconds(n.DurationMS))
	case engine.NoteFill:
		m.fill(n, market, strategy)
	case engine.NoteSettled, engine.NoteRefused:
		m.settled(n, market, strategy)
	case engine.NoteStale:
		m.discrepancyKinds.WithLabelValues("all", "stale").Add(float64(max(0, n.Count)))
	case engine.NoteFound:
		m.discrepancyKinds.WithLabelValues(market, "found").Inc()
	case engine.NoteIgnored:
		m.discrepancyKinds.WithLabelValues(market, "ignored").Inc()
	case engine.NoteUnexplained:
		m.discrepancyKinds.WithLabelValues(n.Order.Market.String(), "unexplained").Inc()
	case engine.NoteQuarantine, engine.NoteAdopted:
		m.discrepancy(n, market)
	case engine.NoteHalt:
		if !n.OK {
			m.kills.WithLabelValues("kill_switch").Inc()
		}
	case engine.NoteBreaker:
		if !n.OK {
			m.kills.WithLabelValues("breaker").Inc()
		}
	case engine.NoteLimit:
		if !n.OK {
			m.kills.WithLabelValues("limit").Inc()
		}
	case engine.NoteRound:
		m.round(n)
	}
}

func (m *Metrics) discrepancy(n *engine.Note, market string) {
	switch {
	case n.Kind == engine.NoteAdopted:
		m.discrepancyKinds.WithLabelValues(market, "adopted").Inc()
	case !n.OK: // OK is the end of one
		m.discrepancyKinds.WithLabelValues(market, "quarantine").Inc()
	}
}

func (m *Metrics) round(n *engine.Note) {
	result := "failed"
	if n.OK {
		result = "ok"
		m.roundSuccess.WithLabelValues("all").Set(seconds(n.AtMS))
	}
	m.rounds.WithLabelValues("all", result).Inc()
	m.roundSeconds.WithLabelValues("all").Observe(seconds(n.DurationMS))
}

// settled counts an order's end. Only a market order ends when it is first
// fetched; how long a limit order or a stop rests says nothing of the exchange.
func (m *Metrics) settled(n *engine.Note, market, strategy string) {
	state := n.State
	if n.Kind == engine.NoteRefused {
		state = reconcile.Refused
	}
	m.closed.WithLabelValues(market, strategy, oneOf(closedStates, state.String())).Inc()
	decided := m.decided.take(n)
	if n.Order.Type != exchange.MarketOrder || state != reconcile.Filled {
		return
	}
	m.settleSeconds.WithLabelValues(market).Observe(seconds(n.DurationMS))
	if price := n.Price.Float(); price > 0 && decided > 0 && n.Symbol != nil {
		expected := n.Symbol.PriceFloat(decided)
		m.slippage.WithLabelValues(market).Observe((price - expected) / expected * float64(n.Order.Side.Sign()))
	}
}

// fill counts what was filled, valued at its price where the exchange tells one.
func (m *Metrics) fill(n *engine.Note, market, strategy string) {
	m.fills.WithLabelValues(market, strategy, n.Order.Side.String()).Inc()
	if n.Symbol == nil {
		return
	}
	value := n.Symbol.Notional(n.Last, n.Quantity).Float()
	if price := n.Price.Float(); price > 0 {
		value = price * n.Symbol.QuantityFloat(n.Quantity)
	}
	m.fillNotional.WithLabelValues(market, strategy).Add(max(0, value))
}

func oneOf(set []string, value string) string {
	for _, one := range set {
		if one == value {
			return value
		}
	}
	return other
}

func seconds(ms int64) float64 { return float64(ms) / 1000 }

// Measure begins to measure a cycle or a check; what it returns ends it.
func (m *Metrics) Measure(what engine.Measured, strategy string) (done func()) {
	began := time.Now()
	histogram := m.checkSeconds.WithLabelValues()
	if what == engine.MeasuredCycle {
		histogram = m.cycleSeconds.WithLabelValues(m.known.strategy(strategy))
	}
	return func() { histogram.Observe(time.Since(began).Seconds()) }
}

// Leads tells whether this process trades, and until when unless that is renewed;
// a zero time is without end, as a lock of the data directory is.
func (m *Metrics) Leads(leads bool, until time.Time) {
	m.leader.WithLabelValues().Set(truth(leads))
	end := timestamp(until)
	if leads && until.IsZero() {
		end = math.Inf(1)
	}
	m.leaseEnd.WithLabelValues().Set(end)
}

// StreamClients sets how many event streams are open.
func (m *Metrics) StreamClients(count int) { m.streams.WithLabelValues().Set(float64(count)) }

// StreamEnded counts an event stream that ended.
func (m *Metrics) StreamEnded(reason string) {
	m.streamEnds.WithLabelValues(oneOf(streamReasons, reason)).Inc()
}

// Served counts a request botd answered; handler is the route, empty for none.
func (m *Metrics) Served(handler string, code int, took time.Duration) {
	if handler == "" {
		handler = other // no route, so no label made of what was asked for
	}
	m.httpRequests.WithLabelValues(handler, strconv.Itoa(code)).Inc()
	m.httpSeconds.WithLabelValues(handler).Observe(took.Seconds())
}

// Notified counts notices of a channel. The channels are the configured ones.
func (m *Metrics) Notified(channel, result string, count int) {
	m.notifications.WithLabelValues(channel, result).Add(float64(count))
}

// Signalled counts signals from outside. The results are a closed set of package signals.
func (m *Metrics) Signalled(result string, count int) {
	m.signals.WithLabelValues(result).Add(float64(count))
}

// Commanded counts messages from Telegram. The results are a closed set of package telegram.
func (m *Metrics) Commanded(result string, count int) {
	m.telegram.WithLabelValues(result).Add(float64(count))
}
