package server

import (
	"path/filepath"
	"strings"
	"testing"
)

// second opens an account over the control interface and returns its trader.
func second(c *trader) *trader {
	c.control("POST", "/control/v1/account", `{"key":"second","secret":"other","futures":"500","spot":{"BTC":"0.1"}}`).want(c.t, 200)
	other := *c
	other.key, other.secret = "second", "other"
	return &other
}

// balances returns the contents of an account's futures and spot wallets.
func balances(c *trader) string {
	var account struct{ TotalWalletBalance string }
	a := c.call("GET", "/fhapi/v1/margin/account", "")
	if a.status != 200 {
		return a.body
	}
	a.read(c.t, &account)
	return account.TotalWalletBalance + c.call("GET", "/hapi/v1/spot/wallet", "").body
}

// Accounts that did not exist at the start do not exist after a reset, and can be opened again.
func TestResetRemovesAccountsOpenedByControl(t *testing.T) {
	t.Parallel()
	_, c := startServer(t, func(config *Config) { config.Build = buildFresh })
	other := second(c)
	before := balances(other)
	c.control("POST", "/control/v1/reset", "").want(t, 200)
	other.call("GET", "/hapi/v1/spot/wallet", "").wantRefusal(t, 401, -2008)
	if have := balances(second(c)); have != before {
		t.Errorf("want it opened as before, %s, have %s", before, have)
	}
}

// TestSnapshotIncludesAccountsOpenedByControl restores a snapshot where the account still exists,
// where it no longer does, where another one was opened since, and in another exchange.
func TestSnapshotIncludesAccountsOpenedByControl(t *testing.T) {
	t.Parallel()
	_, c := startServer(t, func(config *Config) { config.Build = buildFresh })
	other := second(c)
	other.place(buyMarket)
	c.control("POST", "/control/v1/symbol", `{"market":"spot","symbol":"PEPE-USDT","delisted":true}`).want(t, 200)
	c.advance(10)
	snapshot := c.control("GET", "/control/v1/state", "").body
	before := balances(other)
	restored := func(c *trader) {
		t.Helper()
		c.control("POST", "/control/v1/state", snapshot).want(t, 200)
		again := *c
		again.key, again.secret = "second", "other"
		if have := balances(&again); have != before {
			t.Errorf("want the account as it was, %s, have %s", before, have)
		}
		if pairs := c.send("GET", "/api/v1/spot/public/pairs", "", nil).body; strings.Contains(pairs, "PEPE") {
			t.Error("want PEPE-USDT delisted, as it was, have it listed")
		}
	}
	c.control("POST", "/control/v1/deposit", `{"account":"second","market":"futures","amount":"250"}`).want(t, 200)
	c.control("POST", "/control/v1/account", `{"key":"third","secret":"other"}`).want(t, 200)
	restored(c)
	third := *c
	third.key, third.secret = "third", "other"
	third.call("GET", "/hapi/v1/spot/wallet", "").wantRefusal(t, 401, -2008)
	c.control("POST", "/control/v1/reset", "").want(t, 200)
	restored(c)
	_, fresh := startServer(t, func(config *Config) { config.Build = buildFresh })
	restored(fresh)
	fresh.place(buyMarket)
}

// TestInvalidSnapshotReplacesNoState sends JSON that is no snapshot.
func TestInvalidSnapshotReplacesNoState(t *testing.T) {
	t.Parallel()
	_, c := startServer(t, func(config *Config) { config.Build = buildFresh })
	c.place(buyBelow)
	for _, body := range []string{`{}`, `{"exchange":null}`, `{"exchange":{}}`, `{"time":5,"exchange":{"Schema":2}}`, `{"time":5,"exchange":{"Schema":9}}`,
		`{"exchange":{"Schema":2,"NowMS":5},"delisted":[{"market":"spot","symbol":"NO-SUCH"}]}`, `{"exchange":{"Schema":2,"NowMS":5},"accounts":[{"key":"x"}]}`,
	} {
		c.send("POST", "/control/v1/state", body, nil).want(t, 400)
		if have := len(c.state().Orders); have != 1 || c.nowMS() != manualStartMS {
			t.Fatalf("%s: want nothing replaced, have %d orders at %d", body, have, c.nowMS())
		}
	}
}

// Positions from before a reset are not shown after it.
func TestVariantMemoryEndsWithReset(t *testing.T) {
	t.Parallel()
	_, c := startServer(t, func(config *Config) {
		config.Build, config.Variants = buildFresh, []string{"stale-positions=6s,refuse-but-execute"}
	})
	c.advance(3_600_000)
	c.place(buyMarket)
	for range 2 {
		c.advance(7_000)
		c.place(buyBelow) // a change, which ends the older memory
	}
	c.control("POST", "/control/v1/reset", "").want(t, 200)
	for range 3 {
		c.advance(10_000)
		if have := c.call("POST", "/fhapi/v1/positions/open", "{}").body; have != "[]" {
			t.Errorf("want no position after the reset, have %s", have)
		}
	}
	for range everyFifth - 1 {
		c.call("POST", "/fhapi/v1/order", buyBelow).want(t, 201)
	}
	c.call("POST", "/fhapi/v1/order", buyBelow).want(t, 400)
}

// The file has no secrets, so after a restart the key is given again.
func TestAnAccountOfTheStateFileIsOpenedAgain(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "state")
	_, c := startServer(t, withState(path))
	second(c).place(buyBelow)
	c.advance(10)
	if have := second(killed(t, path)).call("POST", "/fhapi/v1/order/open", "{}").body; !strings.Contains(have, `"status":"OPEN"`) {
		t.Errorf("want the account with its order, have %s", have)
	}
}
