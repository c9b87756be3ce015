package telegram

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"math/big"
	"net/http"
	"strings"
	"time"

	"botd/reconcile/record"
	"botd/runtime/api"
	"botd/runtime/api/auth"
	"botd/runtime/view"
)

// help is the reply to anything that is not a command.
const help = `/status: what botd does
/positions: open positions
/pause [STRATEGY]: opens nothing more, at once
/halt LEVEL [STRATEGY]: pause or cancel at once; flatten after a code
/resume [STRATEGY]: lets it trade again, after a code
/confirm CODE`

// Limits of a confirmation.
const (
	confirmWithin = time.Minute
	maxSteps      = 12 // steps shown in a preview
)

// pending is a change that waits for its confirmation code.
type pending struct {
	code     string
	level    record.HaltLevel // level of the halt; none to end a halt
	strategy string
	before   time.Time
}

// order is the processing of one message from a listed user.
type order struct {
	bot    *Bot
	ctx    context.Context
	user   int64
	caller auth.Caller
}

// obey carries out a command and returns the reply; ok is false if nothing was done or shown.
func (o *order) obey(text string) (reply string, ok bool) {
	words := strings.Fields(text)
	if len(words) == 0 || !strings.HasPrefix(words[0], "/") {
		return help, false
	}
	name, _, _ := strings.Cut(strings.ToLower(words[0]), "@")
	rest := words[1:]
	var strategy string
	takeStrategy := func(most int) bool {
		if len(rest) > most {
			return false
		}
		if len(rest) > 0 {
			strategy = rest[0]
		}
		return true
	}
	switch {
	case name == "/status" && len(rest) == 0:
		return o.status()
	case name == "/positions" && len(rest) == 0:
		return o.positions()
	case name == "/pause" && takeStrategy(1):
		return o.change(record.LevelPause, strategy) // at once: stopping must not wait for a confirmation
	case name == "/halt" && len(rest) > 0:
		level, err := record.ParseHaltLevel(strings.ToLower(rest[0]))
		if rest = rest[1:]; err != nil || level == record.LevelNone || !takeStrategy(1) {
			return help, false
		}
		if level == record.LevelFlatten {
			return o.preview(level, strategy)
		}
		return o.change(level, strategy)
	case name == "/resume" && takeStrategy(1):
		return o.preview(record.LevelNone, strategy)
	case name == "/confirm" && len(rest) == 1:
		return o.confirm(rest[0])
	}
	return help, name == "/help" || name == "/start"
}

// call calls the API and decodes its answer, or returns the problem in words.
func (o *order) call(method, path string, body, into any) (problem string) {
	status, answer := o.bot.config.API.Call(o.ctx, o.caller, method, path, body)
	if status >= http.StatusBadRequest {
		var refused struct{ Title, Detail string }
		if json.Unmarshal(answer, &refused) != nil || refused.Detail == "" {
			return fmt.Sprintf("Not done: status %d.", status)
		}
		return "Not done: " + refused.Detail
	}
	if err := json.Unmarshal(answer, into); err != nil {
		return fmt.Sprintf("The answer could not be read (status %d); /status shows the state.", status)
	}
	return ""
}

func (o *order) reason() string { return "requested on Telegram by " + o.caller.From }

// request returns the path and the body of a halt, or, without a level, of a rearm.
func (o *order) request(level record.HaltLevel, strategy string, dryRun bool) (path string, body any) {
	scope, reason := api.HaltScope{Strategy: strategy}, api.ReasonRequest{Reason: o.reason(), DryRun: dryRun}
	if level == record.LevelNone {
		return "/api/v1/risk/rearm", api.RearmRequest{HaltScope: scope, ReasonRequest: reason}
	}
	return "/api/v1/risk/halt", api.HaltRequest{Level: level, HaltScope: scope, ReasonRequest: reason}
}

// change carries out a halt, or ends one.
func (o *order) change(level record.HaltLevel, strategy string) (string, bool) {
	path, body := o.request(level, strategy, false)
	var done api.HaltAnswer
	if problem := o.call(http.MethodPost, path, body, &done); problem != "" {
		o.bot.config.Warn("telegram.refused", fmt.Sprintf("%s: %s %s %s: %s", o.caller.From, path, level, strategy, problem))
		return problem, false
	}
	o.bot.config.Say("telegram.command", fmt.Sprintf("%s (%s): %s", o.caller.From, o.caller.Role, strings.Join(done.Effects, "; ")))
	lines := append([]string{"Done: " + strings.Join(done.Effects, "; ")}, steps("sends", done.Steps)...)
	lines = append(lines, cannot(done.Blind)...)
	for i := range done.StillBlocking {
		lines = append(lines, degraded(&done.StillBlocking[i]))
	}
	return strings.Join(lines, "\n"), true
}

// preview shows the effects of a change, and the code that confirms it.
func (o *order) preview(level record.HaltLevel, strategy string) (string, bool) {
	path, body := o.request(level, strategy, true)
	var would api.HaltAnswer
	if problem := o.call(http.MethodPost, path, body, &would); problem != "" {
		return problem, false
	}
	number, err := rand.Int(rand.Reader, big.NewInt(1_000_000))
	if err != nil {
		return "Not done: no code could be generated.", false
	}
	code := fmt.Sprintf("%06d", number)
	o.bot.mu.Lock()
	o.bot.pending[o.user] = pending{code, level, strategy, time.Now().Add(confirmWithin)}
	o.bot.mu.Unlock()
	lines := append([]string{"Would do: " + strings.Join(would.Effects, "; ")}, steps("would send", would.Steps)...)
	lines = append(lines, cannot(would.Blind)...)
	return strings.Join(append(lines, "Within a minute: /confirm "+code), "\n"), true
}

// confirm carries out the waiting change once, if the code matches. A wrong code discards the change.
func (o *order) confirm(code string) (string, bool) {
	o.bot.mu.Lock()
	waits, found := o.bot.pending[o.user]
	delete(o.bot.pending, o.user)
	o.bot.mu.Unlock()
	switch {
	case !found:
		return "No command waits for a code. Send the command again.", false
	case time.Now().After(waits.before):
		return "Not done: the code has expired after a minute. Send the command again.", false
	case code != waits.code:
		return "Not done: the code is wrong. Send the command again.", false
	}
	return o.change(waits.level, waits.strategy)
}

// cannot lists what a halt cannot read or act on now: the halt stays in force and continues.
func cannot(blind []string) (lines []string) {
	for i, line := range blind {
		if i == maxSteps {
			return append(lines, fmt.Sprintf("and %d more", len(blind)-maxSteps))
		}
		lines = append(lines, "cannot see or close yet: "+line)
	}
	return lines
}

func steps(what string, all []view.HaltStep) (lines []string) {
	for i := range all {
		if i == maxSteps {
			return append(lines, fmt.Sprintf("and %d more", len(all)-maxSteps))
		}
		lines = append(lines, what+": "+all[i].Text)
	}
	return lines
}

func degraded(d *view.Degraded) string {
	of := strings.TrimSpace(d.Strategy + " " + d.Symbol)
	if of == "" {
		of = "account"
	}
	return fmt.Sprintf("%s (%s) since %s UTC: %s. Remedy: %s", strings.ToUpper(d.State), of, d.Since.UTC().Format("2006-01-02 15:04:05"), d.Cause,
		d.Remedy)
}

// equity describes the equity and its change since midnight UTC.
func equity(s *view.Status) string {
	text := "equity unknown"
	if s.Equity != nil {
		text = "equity " + *s.Equity + " USDT"
	}
	if s.Today.Change == nil || s.Today.ChangeRatio == nil {
		return text + ", today unknown"
	}
	return fmt.Sprintf("%s, today %s (%.2f %%)", text, *s.Today.Change, 100**s.Today.ChangeRatio)
}

// status returns a short form of GET /api/v1/status.
func (o *order) status() (string, bool) {
	var s view.Status
	if problem := o.call(http.MethodGet, "/api/v1/status", nil, &s); problem != "" {
		return problem, false
	}
	state := "ready"
	if !s.Ready {
		state = "NOT READY"
		for _, c := range s.Checks {
			if !c.OK {
				state += "; " + c.Name + ": " + c.Detail
			}
		}
	}
	lines := []string{
		fmt.Sprintf("botd %s %s, up %s: %s", s.Instance, s.Mode, time.Duration(s.UptimeS)*time.Second, state),
		fmt.Sprintf("%s, %d orders, %d unsettled, %d positions", equity(&s), s.Open, s.Unsettled, s.Positions),
	}
	for i := range s.Degraded {
		lines = append(lines, degraded(&s.Degraded[i]))
	}
	for i := range s.Strategies {
		r := &s.Strategies[i]
		lines = append(lines, strings.TrimSpace(fmt.Sprintf("%s %s: %s %s, target %s, last %s. %s", r.Name, r.State, r.Position, r.Symbol, r.Target,
			r.Last, r.StateReason)))
	}
	return strings.Join(lines, "\n"), true
}

// positions lists the positions.
func (o *order) positions() (string, bool) {
	var page struct{ Items []view.Position }
	if problem := o.call(http.MethodGet, "/api/v1/positions", nil, &page); problem != "" {
		return problem, false
	}
	if len(page.Items) == 0 {
		return "No open positions.", true
	}
	var lines []string
	for i := range page.Items {
		p := &page.Items[i]
		line := fmt.Sprintf("%s %s %s %s at %s, last %s, unrealized %s", p.Strategy, p.Market, p.Quantity, p.Symbol, p.EntryPrice, p.Last, p.Unrealized)
		if p.Quantity == "" {
			line = fmt.Sprintf("%s %s %s: its quantity and price are unknown", p.Strategy, p.Market, p.Symbol)
			if p.Unread != nil {
				line += ". " + degraded(p.Unread)
			}
		}
		if !p.Protected {
			line += ", no stop on the exchange"
		}
		if p.Quarantine != "" {
			line += ", QUARANTINED: " + p.Quarantine
		}
		lines = append(lines, line)
	}
	return strings.Join(lines, "\n"), true
}
