package doctor

import (
	"fmt"
	"testing"
)

// TestProfileShowsWhatIsMeasured trades both markets. Bounds that are unknown fail, since mode live
// does not start without them; an assumption about a list is a warning.
func TestProfileShowsWhatIsMeasured(t *testing.T) {
	t.Parallel()
	const measured = "profile:\n    null_lists: empty\n    number_noise: half_tick\n    " +
		"status_words: {futures: {LIVE: NEW, DONE: CANCELED}, spot: {LIVE: NEW}}\n    client_order_id: {futures_open: absent, spot_open: echoed}\n" +
		"  settle: {futures: {window: 5s, visibility: 1s, staleness: 2s, measured: 2026-11-22}, " +
		"spot: {window: 4s, visibility: 3s, staleness: 1s, measured: 2026-11-23}}"
	for _, c := range []struct {
		name, mode, exchange string
		want                 []finding
		failures, warnings   int // of the profile
	}{
		{"measured", "live", measured, []finding{
			{"profile", StateOK, `null for a list: empty; noise of numbers: half_tick; 3 status words; futures_open: client order ids absent; ` +
				`spot_open: client order ids echoed; W 5000 ms, D 3000 ms, L 2000 ms; futures: measured on 2026-11-22; spot: measured on 2026-11-23`, ""},
			{"profile", StateWarn, "no probe has measured exchange.profile.client_order_id.spot_history: whether this list echoes client order ids",
				"botd probe --trade --out FILE measures it"}}, 0, 2},
		{"unknown", "live", "settle: {futures: {window: 5s, visibility: 1s, staleness: 2s}}", []finding{
			{"profile", StateOK, "futures: set in the configuration; spot: not measured", ""},
			{"profile", StateFail, "the bounds exchange.settle of spot are neither measured nor set in the configuration: mode live does not start",
				"or write exchange.settle: {spot: {...}} in botd.yaml"},
			{"profile", StateWarn, "no probe has measured exchange.settle: how long requests, lists and reads take on futures",
				"exchange.profile: FILE"}}, 1, 6},
		{"paper", "paper", "settle: {futures: {window: 5s, visibility: 1s, staleness: 2s}}", []finding{
			{"profile", StateOK, "futures: set in the configuration; spot: not measured", ""}}, 0, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			h := newHouse(t, fmt.Sprintf("mode: %s\nlisten: off\nexchange:\n  base_url: http://127.0.0.1:1\n  %s\n", c.mode, c.exchange))
			if c.mode == "live" {
				h.root += "  key_file: /absent/key\n  secret_file: /absent/secret\n"
			}
			h.trades = []string{"futures BTC-USDT", "spot ETH-USDT"}
			config, problems := h.load(t)
			if config == nil {
				t.Fatal(problems)
			}
			e := &examination{config: config}
			e.profile()
			d := Diagnosis{Findings: e.findings}
			failures, warnings := 0, 0
			for _, f := range d.Findings {
				if f.Check == "profile" && f.State == StateFail {
					failures++
				}
				if f.Check == "profile" && f.State == StateWarn {
					warnings++
				}
			}
			for _, f := range c.want {
				expect(t, d, f.Check, f.State, f.What, f.Remedy)
			}
			if failures != c.failures || warnings != c.warnings {
				t.Errorf("want %d failures and %d warnings, have %d and %d: %+v", c.failures, c.warnings, failures, warnings, d.Findings)
			}
		})
	}
}
