package configs_test

import (
	"os"
	"path/filepath"
	"testing"

	"botd/configs"
)

// FuzzLoad checks that no text ends the daemon, that every error names a file, and that an accepted
// configuration can be shown and hashed.
func FuzzLoad(f *testing.F) {
	files, err := filepath.Glob("testdata/*.yaml")
	if err != nil {
		f.Fatal(err)
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(text, text)
	}
	check := options(f)
	f.Fuzz(func(t *testing.T, root, one []byte) {
		config, problems := configs.Load(tree("botd.yaml", string(root), "strategies/a.yaml", string(one)), "c", check)
		if (config == nil) != (problems.Errors() > 0) {
			t.Fatalf("want a configuration or errors, have %v and %s", config != nil, problems)
		}
		for _, problem := range problems {
			if problem.File == "" || problem.What == "" {
				t.Fatalf("want every problem to say where and what, have %+v", problem)
			}
		}
		if config == nil {
			return
		}
		if len(config.Hash()) != 64 {
			t.Fatalf("want a hash, have %q", config.Hash())
		}
		for i := range config.Strategies {
			if next := config.Strategies[i].Schedule.Next(0); next <= 0 {
				t.Fatalf("want a moment after 0, have %d", next)
			}
		}
	})
}

// FuzzProfile checks the same for the file of a venue's profile, which another person may have measured.
func FuzzProfile(f *testing.F) {
	for _, seed := range []string{
		"signature: {payload: \"{timestamp}{method}{path}{body}\", encoding: hex}\npaths: {sign: full}\nnull_lists: empty\nnumber_noise: half_tick\n",
		"status_words: {spot: {EXECUTED: FILLED}}\nclient_order_id: {spot_history: absent}\n",
		"settle: {window: 60s, visibility: 45s, staleness: 15s, measured: 2026-11-22}\n", "settle: {window: -1s}\n", "[]",
		"status_words: {spot: {A: A, A: B}}", "profile: p.yaml",
	} {
		f.Add([]byte(seed))
	}
	check := options(f)
	root := "mode: paper\nprofile: p.yaml\nexchange: {base_url: https://api.venue.example}\n"
	one := "name: one\nstrategy: buy_and_hold\nsymbol: BTC-USDT\ninterval: 1m\n"
	f.Fuzz(func(t *testing.T, profile []byte) {
		config, problems := configs.Load(tree("botd.yaml", root, "strategies/a.yaml", one, "p.yaml", string(profile)), "c", check)
		if (config == nil) != (problems.Errors() > 0) {
			t.Fatalf("want a configuration or errors, have %v and %s", config != nil, problems)
		}
		if config == nil {
			return
		}
		if e := config.Exchange.Settle; e.WindowMS <= 0 || e.VisibilityMS < 0 || e.StalenessMS < 0 {
			t.Errorf("%q: want bounds that can be waited for, have %+v", profile, e)
		}
		if config.Exchange.BaseURL != "https://api.venue.example" {
			t.Errorf("%q: want the venue's address as it was configured, have %s", profile, config.Exchange.BaseURL)
		}
	})
}
