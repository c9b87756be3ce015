package incident

import (
	"maps"
	"slices"
)

// policy is how an incident of a kind is treated.
type policy struct {
	severity    Severity
	afterMS     int64  // the state must last so long
	escalatesMS int64  // a warning becomes critical after that; 0 for never
	runbook     string // the section of docs/operations.md
}

const (
	minute = 60_000
	hour   = 60 * minute
)

// Bounds of the dangers that need a person though the engine continues, for alerts too.
const (
	NearLiquidation   = 0.05       // of the price, to the liquidation
	LowDiskBytes      = 256 << 20  // free, where the data are
	UnsettledAfterMS  = minute     // since an uncertain order was sent
	UnfinishedAfterMS = 2 * minute // since a halt left orders or positions
)

// policies are those of the declared states. A state that is not listed is a warning at once, and critical
// after an hour.
var policies = map[string]policy{
	"unprotected":   {Critical, 0, 0, "BotdUnprotectedPosition"},
	"blind":         {Critical, 0, 0, "BotdReconcileStale"},
	"contradicted":  {Critical, 0, 0, "BotdDiscrepancyUnresolved"},
	"quarantined":   {Critical, 0, 0, "BotdDiscrepancyUnresolved"},
	"standing_down": {Critical, 0, 0, "BotdTwoLeaders"}, // the lease: another botd trades, or did
	"journal":       {Critical, 0, 0, "BotdStoreSlow"},
	"disk":          {Critical, 0, 0, "BotdDiskLow"},
	"liquidation":   {Critical, 0, 0, "BotdNearLiquidation"},
	"unfinished":    {Critical, UnfinishedAfterMS, 0, "BotdHaltUnfinished"},
	"unsettled":     {Critical, UnsettledAfterMS, 0, "BotdOrderUnsettled"},
	"refused":       {Critical, 0, 0, "BotdIntentRefused"},
	"lane":          {Critical, 0, 0, "BotdTradingHalted"},
	"waiting":       {Critical, minute, 0, "BotdReconcileStale"},
	"failed":        {Warning, 0, 4 * hour, "BotdStrategyFailed"},
	"hung":          {Warning, 0, hour, "BotdStrategyHung"},
	"stale":         {Warning, minute, hour, "BotdMarketDataStale"}, // by then it is known whether anything can be read
	"breaker":       {Warning, 0, hour, "BotdTradingHalted"},
	"foreign":       {Warning, minute, 0, "BotdTradingHalted"},
	"limit":         {Warning, 0, 0, "BotdTradingHalted"}, // as configured
	"halted":        {Warning, 0, 0, "BotdTradingHalted"}, // a person's will
	"removal":       {Warning, 2 * minute, 0, "BotdConfigReloadFailed"},
	"adopted":       {Warning, 5 * minute, 0, "BotdDiscrepancyUnresolved"}, // it ends by itself
	"clock":         {Warning, minute, hour, "BotdClockSkew"},
	"rate_limited":  {Warning, minute, hour, "BotdRateLimited"},
	"ledger":        {Warning, 0, 0, "BotdLedgerDifference"},
}

// consequences are kinds that follow from others: while one of the others is declared, or its incident is open, they open
// no incident.
var consequences = map[string][]string{
	"stale":      {"blind"},
	"breaker":    {"blind", "rate_limited", "refused", "unsettled"},
	"unsettled":  {"blind", "rate_limited"},
	"unfinished": {"blind", "refused", "unsettled"},
	"clock":      {"blind"}, // where it cannot be read either
}

// Kinds returns the kinds of incidents whose treatment is set, in order.
func Kinds() []string { return slices.Sorted(maps.Keys(policies)) }

func policyOf(kind string) policy {
	if p, known := policies[kind]; known {
		return p
	}
	return policy{Warning, 0, hour, "BotdTradingHalted"}
}

// waitOf returns the time between the last message and the next reminder: for critical incidents 15 minutes, an
// hour, then every four hours; for others four hours, then each day.
func waitOf(one *Incident) int64 {
	waits := []int64{4 * hour, 24 * hour}
	if one.Severity == Critical {
		waits = []int64{15 * minute, hour, 4 * hour}
	}
	return waits[min(one.Reminders, len(waits)-1)]
}

// Runbook returns the incident's section of docs/operations.md.
func (i *Incident) Runbook() string { return policyOf(i.Kind).runbook }
