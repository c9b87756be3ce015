package configs

import (
	"regexp"
	"strings"

	"botd/exchange"
)

// Patterns for entries and exits in the text of a script. The text is only searched, not parsed: only separate
// processes parse scripts, and a warning may be wrong where an error may not.
var (
	scriptEnters   = regexp.MustCompile(`\bhold\s*\(|\btarget\s*=`)
	scriptLeaves   = regexp.MustCompile(`["']flat["']|\b(size|quantity|equity|quote)\s*\(\s*["']?0+(\.0*)?\s*%?["']?\s*\)`)
	scriptReenters = regexp.MustCompile(`\breentry\s*\(`)
	scriptExits    = regexp.MustCompile(`\bexits\s*=`)
	scriptStops    = regexp.MustCompile(`\bstop_loss\s*=`)
	scriptProtects = regexp.MustCompile(`\b(stop_loss|take_profit|exits)\s*=`)
)

// cautionReentry warns about a script whose positions end only by a stop or a target, and which does not specify when
// to enter again: many users expect a new entry as long as the script returns the side.
func (r *strategyReader) cautionReentry() {
	c := r.into
	if c.Kind != scriptKind || c.Script.Text == "" || c.Reentry != "" {
		return
	}
	text := c.Script.words()
	exits := !c.Protect.StopLoss.IsZero() || !c.Protect.TakeProfit.IsZero() || c.Exits.TrailingDistance != 0 || len(c.Exits.Returns) > 0 || len(c.Targets) > 0
	ends := exits || scriptProtects.MatchString(text)
	if !ends || !scriptEnters.MatchString(text) || scriptLeaves.MatchString(text) || scriptReenters.MatchString(text) {
		return
	}
	r.report(Warning, r.lineOf("file"), 0,
		"choose: reentry: signal (as now), reentry: immediate (at the next decision that targets the side), or reentry: never",
		c.Script.File+" never returns flat: after a stop or a target it enters again only after a decision without a target")
}

// cautionExits warns about a script on spot with both resting exits and a stop: the exchange freezes the asset for
// only one of them, and the stop gets it.
func (r *strategyReader) cautionExits() {
	c := r.into
	if c.Kind != scriptKind || c.Market != exchange.Spot || c.Script.Text == "" {
		return
	}
	text := c.Script.words()
	stops := !c.Protect.StopLoss.IsZero() || c.Exits.TrailingDistance != 0 || scriptStops.MatchString(text)
	if !stops || !scriptExits.MatchString(text) {
		return
	}
	r.report(Warning, r.lineOf("file"), 0,
		"exit by the target instead: target a smaller position when the price is reached; or omit the stop",
		c.Script.File+" has exits next to a stop on spot: while the stop rests it locks the asset, and no exit of the plan can rest")
}

// words returns the text of a script and its libraries, without comments.
func (c *ScriptConfig) words() string {
	text := withoutComments(c.Text)
	for i := range c.Libraries {
		text += "\n" + withoutComments(string(c.Libraries[i].Text))
	}
	return text
}

func withoutComments(text string) string {
	lines := strings.Split(text, "\n")
	for i, line := range lines {
		lines[i], _, _ = strings.Cut(line, "#")
	}
	return strings.Join(lines, "\n")
}
