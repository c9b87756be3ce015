package probe

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"botd/exchange"
)

// Profile formats the report as a profile for botd.yaml, with the measured settings, and the
// unmeasured ones as comments.
func (r *Report) Profile(day time.Time) string {
	var b strings.Builder
	line := func(format string, values ...any) { fmt.Fprintf(&b, format+"\n", values...) }
	line("# measured by botd probe on %s, of %s", day.Format(time.DateOnly), r.BaseURL)
	if s := r.Signature; s != nil {
		line("signature: {payload: %q, encoding: %s}", s.Payload, s.Encoding)
		line("paths: {sign: %s}", s.Paths)
	} else {
		line("# signature: not determined")
	}
	if r.NullLists {
		line("null_lists: empty")
	}
	if r.Beyond {
		line("number_noise: half_tick")
	}
	r.writeWords(line)
	if len(r.Lists) > 0 {
		line("client_order_id:")
	}
	for _, list := range r.Lists {
		word := "echoed"
		if !list.Echoes {
			word = "absent"
		}
		line("  %s: %s # shown after %d ms", list.List, word, list.AfterMS)
	}
	r.writeSettle(line, day)
	for _, name := range r.Habits {
		line("# seen: %s", name)
	}
	for _, what := range r.Unknown() {
		line("# not determined: %s", what)
	}
	return b.String()
}

// writeWords writes the venue's status words whose meaning is known.
func (r *Report) writeWords(line func(string, ...any)) {
	if len(r.Words) == 0 {
		return
	}
	line("status_words:")
	for _, market := range []exchange.Market{exchange.Futures, exchange.Spot} {
		var words []string
		for _, word := range slices.Sorted(maps.Keys(r.Words)) {
			if text, ours := strings.CutPrefix(word, market.String()+" "); ours {
				words = append(words, fmt.Sprintf("%s: %s", text, r.Words[word]))
			}
		}
		if len(words) > 0 {
			line("  %s: {%s}", market, strings.Join(words, ", "))
		}
	}
}

// writeSettle writes the bounds of each completely measured market.
func (r *Report) writeSettle(line func(string, ...any), day time.Time) {
	if !r.Settings.Has("window") || len(r.Markets) == 0 {
		line("# settle: not measured in full; run with --trade")
		return
	}
	line("settle:")
	for _, market := range []exchange.Market{exchange.Futures, exchange.Spot} {
		seen, measured := r.Markets[market.String()]
		if !measured {
			line("  # %s: not measured", market)
			continue
		}
		visibilityMS, stalenessMS := seen.bounds()
		line("  %s: {window: %dms, visibility: %dms, staleness: %dms, measured: %s}", market, r.Settings.WindowMS, visibilityMS, stalenessMS,
			day.Format(time.DateOnly))
	}
}

// bounds returns D and L with the margin that a few orders in a quiet market require.
func (d *Delays) bounds() (visibilityMS, stalenessMS int64) {
	return roundUp(max(minDelayMS, delayFactor*d.VisibilityMS), 100), roundUp(max(minDelayMS, delayFactor*d.StalenessMS), 100)
}

// Unknown lists what this probe could not determine.
func (r *Report) Unknown() []string {
	unknown := []string{
		"whether a list is now and then empty, or older, where the probe did not see it (it watched for seconds)",
		"how late a fee or a funding payment appears, and how a liquidation is written",
		"how a triggered order is written (the stop was canceled)",
	}
	not := func(known bool, what string) {
		if !known {
			unknown = append(unknown, what)
		}
	}
	for _, market := range []exchange.Market{exchange.Futures, exchange.Spot} {
		_, measured := r.Markets[market.String()]
		not(measured, "how soon orders are shown on "+market.String()+" (none was followed there)")
	}
	not(r.Filled, "how a filled order is written (nothing was filled)")
	not(r.Partial, "how a partly filled order is written (none was)")
	not(r.History, "how late a positions/history row appears")
	not(slices.Contains(r.Habits, habitRefuses), "whether the exchange can execute an order that it answered as refused (it did with none)")
	not(slices.Contains(r.Habits, habitTwice), "whether the exchange can execute an order twice (it did with none)")
	not(r.NullLists, "whether an empty list is ever written as null (none was seen)")
	for _, word := range r.UnknownWords {
		unknown = append(unknown, "what the status word "+word+" means")
	}
	known := map[string]bool{}
	for _, list := range r.Lists {
		known[list.List] = true
	}
	for _, operation := range []exchange.Operation{exchange.FuturesOrder, exchange.FuturesOpenOrders, exchange.SpotOpenOrders, exchange.SpotOrderHistory} {
		if name := listNames[operation]; !known[name] {
			unknown = append(unknown, "whether "+name+" echoes client order ids")
		}
	}
	return unknown
}
