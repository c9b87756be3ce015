package ops

import (
	"slices"
	"strconv"
	"strings"
	"sync"

	"botd/exchange"
	"botd/reconcile/placement"
	"botd/risk"
	"botd/runtime/incident"
)

// Limits of the labels that come from the configuration.
const (
	maxStrategies = 64
	maxSymbols    = 100
	other         = "other" // a value outside its closed set
)

// Closed sets of label values.
var (
	streamReasons  = []string{"client", "slow", "shutdown", other}
	levels         = []string{"debug", "info", "warn", "error"}
	outcomes       = []string{"ok", "refusal", "uncertain", "unavailable", "malformed", "rate_limited", other}
	strategyStates = []string{"running", "warming_up", "halted", "quarantined", "contradicted", "unprotected", "refused", "latched", "failed",
		"hung"}
	cycleResults = []string{"ok", "missed", "failed", "hung"}
	closedStates = []string{"filled", "canceled", "rejected", "refused", "absent", "expired"}
	haltReasons  = []string{
		"kill_switch",
		"strategy_halted",
		"symbol_halted",
		"blind",
		"market_blind",
		"symbol_blind",
		"breaker",
		"standing_down",
		"limit",
		"strategy_limit",
		"quarantined",
		"contradicted",
		"adopted",
		"foreign",
		"failed",
		"hung",
		"journal",
		"disk",
		"stale",
		"waiting",
		"unprotected",
		"refused",
	}
	incidentKinds = incident.Kinds()
	orderTypes    = []exchange.OrderType{exchange.MarketOrder, exchange.Limit, exchange.StopLimit, exchange.StopMarket,
		exchange.TakeProfitLimit, exchange.TakeProfitMarket}
	purposes = []placement.Purpose{placement.Entry, placement.Exit, placement.Order, placement.ExitOrder, placement.StopLoss,
		placement.TakeProfit, placement.Cancel, placement.Leverage}
	knownCodes = []int{exchange.CodeInvalidSignature, exchange.CodeInvalidTimestamp, exchange.CodeUnknownKey, exchange.CodeNotPermitted,
		exchange.CodeSpotInvalidSymbol, exchange.CodeFuturesInvalidSymbol}
	marketReads = map[exchange.Operation]string{
		exchange.FuturesCandles: "candle", exchange.SpotCandles: "candle", exchange.FuturesTicker: "ticker", exchange.SpotTicker: "ticker"}
)

// closed holds the configured strategies and symbols: only these become labels.
type closed struct {
	mu         sync.Mutex // guards all below
	strategies map[string]bool
	symbols    map[string]bool
	markets    map[string]bool
	rules      []string
}

func newClosed() *closed {
	return &closed{strategies: map[string]bool{}, symbols: map[string]bool{}, markets: map[string]bool{}, rules: risk.Rules()}
}

func (c *closed) strategy(name string) string { return c.in(c.strategies, name) }

func (c *closed) symbol(name string) string { return c.in(c.symbols, name) }

func (c *closed) market(name string) string { return c.in(c.markets, name) }

// asset returns the label of an asset: its name if it belongs to a configured symbol.
func (c *closed) asset(name string) string {
	c.mu.Lock()
	defer c.mu.Unlock()
	for symbol := range c.symbols {
		if base, quote, _ := strings.Cut(symbol, "-"); base == name || quote == name {
			return name
		}
	}
	return other
}

func (c *closed) in(set map[string]bool, name string) string {
	c.mu.Lock()
	defer c.mu.Unlock()
	if set[name] {
		return name
	}
	return other
}

func (c *closed) rule(name string) string {
	if slices.Contains(c.rules, name) {
		return name
	}
	return other
}

func code(number int) string {
	if slices.Contains(knownCodes, number) {
		return strconv.Itoa(number)
	}
	return other
}

// add adds a name to a set, and reports whether it is new.
func (c *closed) add(set map[string]bool, name string, most int) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if set[name] || len(set) == most {
		return false
	}
	set[name] = true
	return true
}

// Expect registers the labels of a configured strategy and its symbol and starts their series at zero,
// so that a first increase is visible. Other values count as "other". Status registers the strategies
// and symbols that it shows.
func (m *Metrics) Expect(strategy string, symbol *exchange.Symbol) {
	market := symbol.Market.String()
	m.known.add(m.known.symbols, symbol.Name, maxSymbols)
	if m.known.add(m.known.markets, market, 2) {
		m.expectMarket(symbol.Market)
	}
	if !m.known.add(m.known.strategies, strategy, maxStrategies) {
		return
	}
	for _, state := range strategyStates {
		m.strategyState.WithLabelValues(strategy, state)
	}
	m.cycleSeconds.WithLabelValues(strategy)
	m.strategyEquity.WithLabelValues(strategy)
	m.strategyOpen.WithLabelValues(strategy)
	m.strategyDrawdown.WithLabelValues(strategy)
	for _, result := range cycleResults {
		m.cycles.WithLabelValues(strategy, result)
	}
	for _, purpose := range purposes {
		m.intents.WithLabelValues(strategy, purpose.String(), "approved")
		m.intents.WithLabelValues(strategy, purpose.String(), "refused")
	}
	for _, kind := range orderTypes {
		m.submitted.WithLabelValues(market, strategy, kind.String())
	}
	for _, state := range closedStates {
		m.closed.WithLabelValues(market, strategy, state)
	}
	m.fills.WithLabelValues(market, strategy, exchange.Buy.String())
	m.fills.WithLabelValues(market, strategy, exchange.Sell.String())
	m.fillNotional.WithLabelValues(market, strategy)
	m.open.WithLabelValues(market, strategy)
}

func (m *Metrics) expectMarket(market exchange.Market) {
	name := market.String()
	for _, operation := range exchange.Operations() {
		if operation.Market() != market {
			continue
		}
		for _, outcome := range outcomes {
			m.requests.WithLabelValues(name, operation.String(), outcome)
		}
		if kind, polled := marketReads[operation]; polled {
			m.polls.WithLabelValues(name, kind, "ok")
			m.polls.WithLabelValues(name, kind, "failed")
		}
	}
	for _, number := range append([]int{0}, knownCodes...) {
		m.errorCodes.WithLabelValues(name, code(number))
	}
	m.backoff.WithLabelValues(name, "budget")
	m.throttle.WithLabelValues(name, "budget")
	m.gaps.WithLabelValues(name)
	m.candleLag.WithLabelValues(name)
	m.ackSeconds.WithLabelValues(name)
	m.settleSeconds.WithLabelValues(name)
	m.slippage.WithLabelValues(name)
	m.discrepancyKinds.WithLabelValues(name, "quarantine")
	m.discrepancyKinds.WithLabelValues(name, "contradicted")
	m.discrepancyKinds.WithLabelValues(name, "found")
	m.discrepancyKinds.WithLabelValues(name, "adopted")
	m.discrepancyKinds.WithLabelValues(name, "ignored")
	m.discrepancyKinds.WithLabelValues(name, "unexplained")
}
