package ops

import (
	"math"
	"slices"
	"strconv"
	"time"

	"botd/exchange"
	"botd/reconcile/placement"
	"botd/runtime/engine"
)

// maxDecisions limits the number of placements whose decision price is remembered.
const maxDecisions = 10_000

// decisions holds the last price at which each intent was approved, by its strategy and purpose, and by
// its client order id once it is placed. It belongs to the goroutine that delivers the notes.
type decisions map[string]exchange.Price

func (d decisions) approved(strategy string, fact *engine.NoteApproved) {
	d.put(strategy+" "+fact.Intent.Purpose.String(), fact.Intent.Last)
}

func (d decisions) placed(strategy string, fact *engine.NotePlaced) {
	if last, found := d[strategy+" "+fact.Purpose.String()]; found {
		d.put(fact.ClientOrderID, last)
	}
}

func (d decisions) put(key string, price exchange.Price) {
	if _, known := d[key]; known || len(d) < maxDecisions {
		d[key] = price
	}
}

func (d decisions) take(clientOrderID string) exchange.Price {
	price := d[clientOrderID]
	delete(d, clientOrderID)
	return price
}

// Request counts one attempt of a request to the exchange.
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

// Clock sets the offset to the exchange's clock, and its maximum error.
func (m *Metrics) Clock(offset, bound time.Duration) {
	m.clockOffset.WithLabelValues().Set(offset.Seconds())
	m.clockBound.WithLabelValues().Set(bound.Seconds())
}

// ClockJumped counts that the local clock was set, or the machine slept.
func (m *Metrics) ClockJumped() { m.clockJumps.WithLabelValues().Inc() }

// Unclean sets whether the previous run ended without a clean stop.
func (m *Metrics) Unclean(unclean bool) { m.unclean.WithLabelValues().Set(oneIf(unclean)) }

// Commit counts one journal commit.
func (m *Metrics) Commit(took time.Duration, err error) {
	m.commitSeconds.WithLabelValues().Observe(took.Seconds())
	if err != nil {
		m.storeErrors.WithLabelValues("append").Inc()
	}
}

// Note counts one fact of the engine. One goroutine delivers them all.
func (m *Metrics) Note(n *engine.Note) {
	strategy, market := m.known.strategy(n.Strategy), other
	if n.Symbol != nil {
		market = m.known.market(n.Symbol.Market.String())
	}
	switch fact := n.Fact.(type) {
	case engine.NoteGap:
		m.gaps.WithLabelValues(market).Add(float64(max(0, fact.Missing)))
	case engine.NoteTick:
		m.cycles.WithLabelValues(strategy, "ok").Inc()
	case engine.NoteMissed:
		m.cycles.WithLabelValues(strategy, "missed").Add(float64(max(0, fact.Count)))
	case engine.NoteStrategyFailed:
		m.cycles.WithLabelValues(strategy, "failed").Inc()
	case engine.NoteHung:
		if !fact.Ended {
			m.cycles.WithLabelValues(strategy, "hung").Inc()
		}
	case engine.NoteStale:
		m.discrepancyKinds.WithLabelValues("all", "stale").Add(float64(max(0, fact.Count)))
	case engine.NoteFound:
		m.discrepancyKinds.WithLabelValues(market, "found").Inc()
	case engine.NoteIgnored:
		m.discrepancyKinds.WithLabelValues(market, "ignored").Inc()
	case engine.NoteAdopted:
		m.discrepancyKinds.WithLabelValues(market, "adopted").Inc()
	case engine.NoteUnexplained:
		m.discrepancyKinds.WithLabelValues(fact.Market.String(), "unexplained").Inc()
	case engine.NoteQuarantine:
		if !fact.Ended {
			m.discrepancyKinds.WithLabelValues(market, "quarantine").Inc()
		}
	case engine.NoteContradicted:
		if !fact.Ended {
			m.discrepancyKinds.WithLabelValues(market, "contradicted").Inc()
		}
	case engine.NoteHalt:
		m.kill("kill_switch", fact.Ended)
	case engine.NoteBreaker:
		m.kill("breaker", fact.Ended)
	case engine.NoteLimit:
		m.kill("limit", fact.Ended)
	case engine.NoteRound:
		m.round(n.AtMS, &fact)
	default:
		m.order(n, market, strategy)
	}
}

// order counts a fact of an intent, or of the order that it became.
func (m *Metrics) order(n *engine.Note, market, strategy string) {
	switch fact := n.Fact.(type) {
	case engine.NoteApproved:
		m.intents.WithLabelValues(strategy, fact.Intent.Purpose.String(), "approved").Inc()
		m.decided.approved(n.Strategy, &fact)
	case engine.NoteRejection:
		m.intents.WithLabelValues(strategy, fact.Intent.Purpose.String(), "refused").Inc()
		m.refusals.WithLabelValues(m.known.rule(fact.Rejection.Rule)).Inc()
	case engine.NotePlaced:
		m.submitted.WithLabelValues(market, strategy, fact.Order.Type.String()).Inc()
		m.decided.placed(n.Strategy, &fact)
	case engine.NoteAcknowledged:
		m.ackSeconds.WithLabelValues(market).Observe(seconds(fact.DurationMS))
	case engine.NoteFill:
		m.fill(n.Symbol, &fact, market, strategy)
	case engine.NoteRefused:
		m.closed.WithLabelValues(market, strategy, oneOf(closedStates, placement.Refused.String())).Inc()
		m.decided.take(fact.ClientOrderID)
	case engine.NoteSettled:
		m.settled(n.Symbol, &fact, market, strategy)
	}
}

// LaneUsed counts a use of the kill switch's lane, and measures its duration.
func (m *Metrics) LaneUsed(took time.Duration) {
	m.outOfBandHalts.WithLabelValues().Inc()
	m.oldOutOfBandHalts.WithLabelValues().Inc()
	m.outOfBandSeconds.WithLabelValues().Set(took.Seconds())
	m.oldOutOfBandSeconds.WithLabelValues().Set(took.Seconds())
}

// kill counts a cause that stopped openings; over marks the end of the cause.
func (m *Metrics) kill(what string, over bool) {
	if !over {
		m.kills.WithLabelValues(what).Inc()
	}
}

func (m *Metrics) round(atMS int64, fact *engine.NoteRound) {
	result := "failed"
	if fact.Complete {
		result = "ok"
		m.roundSuccess.WithLabelValues("all").Set(seconds(atMS))
	}
	m.rounds.WithLabelValues("all", result).Inc()
	m.roundSeconds.WithLabelValues("all").Observe(seconds(fact.DurationMS))
}

// settled counts an order's end. The duration is measured only for a market order, which has ended when
// it is first fetched; the time for which a limit order or a stop rests shows nothing about the exchange.
func (m *Metrics) settled(symbol *exchange.Symbol, fact *engine.NoteSettled, market, strategy string) {
	m.closed.WithLabelValues(market, strategy, oneOf(closedStates, fact.State.String())).Inc()
	decided := m.decided.take(fact.ClientOrderID)
	if fact.Order.Type != exchange.MarketOrder || fact.State != placement.Filled {
		return
	}
	m.settleSeconds.WithLabelValues(market).Observe(seconds(fact.DurationMS))
	if price := fact.Price.Float(); price > 0 && decided > 0 && symbol != nil {
		expected := symbol.PriceFloat(decided)
		m.slippage.WithLabelValues(market).Observe(float64((price - expected) / expected * float64(fact.Order.Side.Sign())))
	}
}

// fill counts a fill, valued at its price if the exchange reports one.
func (m *Metrics) fill(symbol *exchange.Symbol, fact *engine.NoteFill, market, strategy string) {
	m.fills.WithLabelValues(market, strategy, fact.Order.Side.String()).Inc()
	if symbol == nil {
		return
	}
	value := symbol.Notional(fact.Last, fact.Quantity).Float()
	if price := fact.Price.Float(); price > 0 {
		value = float64(price * symbol.QuantityFloat(fact.Quantity))
	}
	m.fillNotional.WithLabelValues(market, strategy).Add(max(0, value))
}

func oneOf(set []string, value string) string {
	if slices.Contains(set, value) {
		return value
	}
	return other
}

func seconds(ms int64) float64 { return float64(ms) / 1000 }

// Measure starts measuring a cycle or a check; the function it returns ends the measurement.
func (m *Metrics) Measure(what engine.Measured, strategy string) (done func()) {
	began := time.Now()
	histogram := m.checkSeconds.WithLabelValues()
	if what == engine.MeasuredDecision {
		histogram = m.cycleSeconds.WithLabelValues(m.known.strategy(strategy))
	}
	return func() { histogram.Observe(time.Since(began).Seconds()) }
}

// Leads reports that this process trades. Its lease, the lock of the data directory, has no end.
func (m *Metrics) Leads() {
	m.leader.WithLabelValues().Set(1)
	m.leaseEnd.WithLabelValues().Set(math.Inf(1))
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
		handler = other // not a route: the requested path must not become a label
	}
	m.httpRequests.WithLabelValues(handler, strconv.Itoa(code)).Inc()
	m.httpSeconds.WithLabelValues(handler).Observe(took.Seconds())
}

// Notified counts notices of a channel. The channels are the configured ones.
func (m *Metrics) Notified(channel, result string, count int) {
	m.notifications.WithLabelValues(channel, result).Add(float64(count))
}

// Heartbeat counts requests to the dead-man's service.
func (m *Metrics) Heartbeat(result string, count int) {
	m.heartbeats.WithLabelValues(result).Add(float64(count))
}

// Signaled counts external signals. The results are a closed set of package signals.
func (m *Metrics) Signaled(result string, count int) {
	m.signals.WithLabelValues(result).Add(float64(count))
}

// Commanded counts messages from Telegram. The results are a closed set of package telegram.
func (m *Metrics) Commanded(result string, count int) {
	m.telegram.WithLabelValues(result).Add(float64(count))
}
