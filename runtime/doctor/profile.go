package doctor

import (
	"cmp"
	"fmt"
	"strings"

	"botd/configs"
	"botd/exchange/wire"
)

// profile reports the configured behavior of the venue, and which settings have not been measured.
func (e *examination) profile() {
	const check, remedy = "profile", "botd probe --trade --out FILE measures it, for exchange.profile: FILE"
	e.ok(check, "%s", profileText(e.config))
	if e.config.Mode != configs.Live {
		return
	}
	for _, market := range e.config.Unsettled() {
		e.fail(check, fmt.Sprintf("%s; or write exchange.settle: {%s: {...}} in botd.yaml", remedy, market),
			"the bounds exchange.settle of %s are neither measured nor set in the configuration: mode live does not start", market)
	}
	for _, assumption := range e.config.Unmeasured() {
		e.warn(check, remedy, "no probe has measured %s", assumption)
	}
}

func profileText(config *configs.Config) string {
	e := &config.Exchange
	windowMS, visibilityMS, stalenessMS := config.SettleBounds()
	parts := []string{
		fmt.Sprintf("%q signed in %s, of the %s path", e.Signature.Payload, e.Signature.Encoding, cmp.Or(e.Signature.Paths, wire.SignFull)),
		"null for a list: " + e.Profile.NullLists,
		"noise of numbers: " + e.Profile.NumberNoise,
		fmt.Sprintf("%d status words", len(e.Profile.FuturesWords)+len(e.Profile.SpotWords)),
	}
	for i, list := range configs.OrderLists {
		if stated := e.Profile.Lists[i]; stated != "" {
			parts = append(parts, list+": client order ids "+stated)
		}
	}
	parts = append(parts, fmt.Sprintf("W %d ms, D %d ms, L %d ms", windowMS, visibilityMS, stalenessMS))
	for _, market := range config.Markets() {
		parts = append(parts, fmt.Sprintf("%s: %s", market, e.Settle.Origin(market)))
	}
	return strings.Join(parts, "; ")
}
