package daemon

import (
	"fmt"
	"strings"
	"time"

	"botd/exchange"
	"botd/reconcile/account"
	"botd/runtime/engine"
	"botd/runtime/incident"
	"botd/runtime/notify"
)

// covered are the lines of the log whose states are incidents: a person is notified of the incidents instead,
// once per cause.
var covered = map[string]bool{
	"breaker.tripped": true, "breaker.ended": true,
	"exchange.blind": true, "exchange.back": true,
	"intent.refused": true, "intent.accepted": true,
	"journal.failed": true, "journal.low": true, "journal.lost": true, "journal.back": true,
	"ledger.unexplained": true,
	"limit.breached":     true, "limit.ended": true,
	"market.stale": true, "market.fresh": true, "paper.stale": true, "paper.fresh": true,
	"position.unprotected": true, "position.protected": true,
	"strategy.failed": true, "strategy.hung": true, "strategy.answers": true,
	"symbol.contradicted": true, "symbol.confirmed": true, "symbol.foreign": true, "symbol.clear": true,
	"symbol.quarantined": true, "symbol.resolved": true,
	"trading.halted": true,
}

// trackIncidents continues the incidents of the previous run. stop saves them.
func (p *process) trackIncidents() (stop func()) {
	return p.board.TrackIncidents(p.directory, p.heldBack(), p.diskSpace.states, p.reportIncident, p.incidentsUnsaved)
}

func (p *process) incidentsUnsaved(err error) {
	p.console.Warn("incident.save_failed", "incidents %v", err)
}

// heldBack bounds how long the previous run may have held messages back for quiet hours and lost them. It is 0 after a clean
// stop, which sends them.
func (p *process) heldBack() (longest time.Duration) {
	if !p.unclean {
		return 0
	}
	const day = 24 * 60
	for i := range p.config.Notify.Channels {
		c := &p.config.Notify.Channels[i]
		longest = max(longest, time.Duration((c.QuietUntil-c.QuietFrom+day)%day)*time.Minute)
	}
	return longest
}

// reportIncident logs the change of an incident, and notifies people.
func (p *process) reportIncident(report *incident.Report) {
	one := &report.Incident
	console := p.console.Of(one.Scope.Strategy, one.Scope.Symbol)
	name, text := "", incidentText(report)
	switch report.Change {
	case incident.Opened:
		name = "incident.opened"
		console.Warn("incident.opened", "incident  %s", text)
	case incident.Reminded, incident.Returned:
		name = "incident.reminder"
		console.Warn("incident.reminder", "incident  %s", text)
	case incident.Escalated:
		name = "incident.escalated"
		console.Warn("incident.escalated", "incident  %s", text)
	case incident.Closed:
		name = "incident.closed"
		console.Say("incident.closed", "incident  %s", text)
	}
	if p.notifier != nil {
		p.notifier.Notify(notify.Event{At: time.Now(), Severity: severityOf(one), Name: name, Text: "incident " + text,
			Subject: incidentSubject(report), Ended: report.Change == incident.Closed})
	}
}

func severityOf(one *incident.Incident) notify.Severity {
	if one.Severity == incident.Critical {
		return notify.Error
	}
	return notify.Warning
}

// incidentSubject returns the subject of a mail: the state, its scope, and the change.
func incidentSubject(report *incident.Report) string {
	what := map[incident.Change]string{incident.Opened: "", incident.Reminded: " continues", incident.Returned: " is back",
		incident.Escalated: " is critical", incident.Closed: " is over"}
	return kindText(&report.Incident) + what[report.Change]
}

// kindText names an incident's state and scope: UNPROTECTED (futures BTC-USDT).
func kindText(one *incident.Incident) string {
	return strings.ToUpper(strings.ReplaceAll(one.Kind, "_", " ")) + " (" + one.Scope.String() + ")"
}

// incidentText describes the change of an incident, for a person who may not be at a desk.
func incidentText(report *incident.Report) string {
	one := &report.Incident
	of := kindText(one)
	lasted := func(untilMS int64) time.Duration {
		return max(0, time.Duration(untilMS-one.OpenedMS)*time.Millisecond).Round(time.Second)
	}
	do := fmt.Sprintf("%s: %s. Runbook: %s. Remedy: %s", of, one.Cause, one.Runbook(), one.Remedy) // a channel may leave out the end of a long line
	switch report.Change {
	case incident.Closed:
		times := ""
		if one.Times > 1 {
			times = fmt.Sprintf("; it began %d times", one.Times)
		}
		return fmt.Sprintf("%d is over: %s, after %s%s", one.ID, of, lasted(one.ClosedMS), times)
	case incident.Returned:
		return fmt.Sprintf("%d is back, %s: %s", one.ID, one.Severity, do)
	case incident.Reminded:
		return fmt.Sprintf("%d continues after %s, %s: %s", one.ID, lasted(one.RemindedMS), one.Severity, do)
	case incident.Escalated:
		return fmt.Sprintf("%d has become critical after %s: %s", one.ID, lasted(one.EscalatedMS), do)
	}
	return fmt.Sprintf("%d, %s: %s", one.ID, one.Severity, do)
}

// longestGap is how long requests may pass between two pauses of the same cause.
const longestGap = 30 * time.Second

// pauses declare that the exchange limits the rate. A pause of a second ends by itself; consecutive
// pauses count as one.
type pauses struct {
	until func(exchange.Market) time.Time
	warn  func(event, format string, arguments ...any)
	first [2]int64 // of consecutive pauses, by market
	last  [2]time.Time
}

func (p *pauses) states(now time.Time, nowMS int64) (all []engine.Degraded) {
	for i, market := range []exchange.Market{exchange.Futures, exchange.Spot} {
		until := p.until(market)
		if until.After(p.last[i]) {
			if p.first[i] == 0 {
				p.first[i] = nowMS
				p.warn("exchange.limited", "LIMITED   the exchange answers 429 on %s and asks to wait until %s: openings and market data do, "+
					"exits, cancels and the reads that they need do not", market, until.UTC().Format(time.TimeOnly))
			}
			p.last[i] = until
		}
		if now.Sub(p.last[i]) > longestGap {
			p.first[i] = 0
			continue
		}
		all = append(all, engine.Degraded{State: "rate_limited", Scope: account.Scope{Symbol: exchange.SymbolKey{Market: market}}, SinceMS: p.first[i],
			Cause: "the exchange answers 429: too many requests, asked to wait until " + p.last[i].UTC().Format(time.TimeOnly) +
				"; openings and market data do, exits, cancels and the reads that they need do not",
			Remedy: "use fewer symbols or less frequent schedules; check for another program on the same key or address; set exchange.requests_per_second"})
	}
	return all
}
