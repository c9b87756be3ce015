package main

import (
	"net/http"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/shopspring/decimal"

	"botd/exchange/sim/server"
	"botd/internal/chaos"
)

// These are a profile's lines for the variants that need one.
const (
	nullMeansEmpty = "null_lists: empty"
	foreignWords   = "status_words: {spot: {EXECUTED: FILLED}}"
)

// withoutIDs makes a lost answer worst: no list of the spot market shows whose an order is.
var withoutIDs = []string{"history-without-client-id", "open-without-client-id", "float-noise", "strings-for-numbers"}

// everyVariant has the variants one by one, and combinations.
var everyVariant = []chaos.Habits{
	{Variants: []string{"history-without-client-id"}, Profile: "client_order_id: {spot_history: absent}"},
	{Variants: []string{"open-without-client-id"}, Profile: "client_order_id: {spot_open: absent, futures_open: absent}"},
	{Variants: []string{"float-noise"}},
	{Variants: []string{"foreign-status-words"}, Profile: foreignWords},
	{Variants: []string{"extra-fields"}},
	{Variants: []string{"strings-for-numbers"}},
	{Variants: []string{"null-lists"}, Profile: nullMeansEmpty},
	{Variants: []string{"list-envelopes-off"}},
	{Variants: []string{"list-envelopes-on"}},
	{Variants: []string{"byte-order-mark"}},
	{Variants: []string{"error-words"}},
	{Variants: []string{"refuse-but-execute"}},
	{Variants: []string{"duplicate-delivery"}},
	{Variants: []string{"stale-positions=3s"}, Staleness: 4 * time.Second},
	{Variants: []string{"empty-positions=3s"}, Staleness: 4 * time.Second},
	{Variants: withoutIDs},
	{Variants: []string{"foreign-status-words", "extra-fields", "null-lists", "list-envelopes-off", "list-envelopes-on", "byte-order-mark", "error-words",
		"float-noise", "strings-for-numbers"}, Profile: nullMeansEmpty + ", " + foreignWords},
	{Variants: []string{"stale-positions=3s", "history-without-client-id", "null-lists"}, Profile: nullMeansEmpty, Staleness: 4 * time.Second},
}

// variantsEnvironment names the variable that selects all variants: unless it is "all", only the combinations
// are tried, which have most variants.
const variantsEnvironment = "BOTD_VARIANTS"

// TestTheRealBinaryTradesOnEveryVariant has three strategies on both markets reach their targets on an
// exchange of each variant, through a kill and a restart; then a halt closes everything. The exchange's own
// log is the judge.
func TestTheRealBinaryTradesOnEveryVariant(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("real processes take a minute")
	}
	for _, variant := range server.Variants() {
		if !slices.ContainsFunc(everyVariant, func(h chaos.Habits) bool {
			name, _, _ := strings.Cut(h.Variants[0], "=")
			return len(h.Variants) == 1 && name == variant.Name
		}) {
			t.Errorf("no trial of variant %s", variant.Name)
		}
	}
	binary := build(t)
	all := os.Getenv(variantsEnvironment) == "all"
	for i, habits := range everyVariant {
		if !all && len(habits.Variants) == 1 {
			continue
		}
		t.Run(strings.Join(habits.Variants, ","), func(t *testing.T) {
			t.Parallel()
			trial := chaos.Trial{Binary: binary, Directory: t.TempDir(), Habits: habits, Targets: targets(5), Kills: 1, Every: 1500 * time.Millisecond,
				Flatten: true, Seed: uint64(i) + 1, Patience: 2 * time.Minute}
			if slices.Equal(habits.Variants, withoutIDs) {
				trial.Faults = []chaos.Fault{{Match: "POST /hapi/v1/spot/order", Kind: "drop_response", Probability: 1}}
			}
			undergo(t, trial)
		})
	}
}

// TestTheRealBinaryTradesWithoutMarginLevelsAndFundingRates has the exchange answer both with 404 until the
// end: without leverage, and on spot, everything continues.
func TestTheRealBinaryTradesWithoutMarginLevelsAndFundingRates(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("real processes take a minute")
	}
	binary := build(t)
	trial := chaos.Trial{Binary: binary, Directory: t.TempDir(), Targets: targets(5), Kills: 1, Every: 1500 * time.Millisecond, Flatten: true, Seed: 1,
		UntilEnd: true, Patience: 2 * time.Minute}
	for i := range trial.Targets {
		trial.Targets[i].Leverage = 1
		trial.Targets[i].Quantity = trial.Targets[i].Quantity.Div(decimal.NewFromInt(3))
	}
	for _, path := range []string{"GET /fapi/v1/margin-levels", "GET /fapi/v1/margin-levels/*", "GET /fapi/v1/funding-rate/*"} {
		trial.Faults = append(trial.Faults, chaos.Fault{Match: path, Kind: "status", Status: http.StatusNotFound, Probability: 1})
	}
	undergo(t, trial)
}
