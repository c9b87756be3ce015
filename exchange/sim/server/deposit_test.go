package server

import (
	"strings"
	"testing"

	"botd/exchange/wire"
)

// wallets returns an account's futures balance, and its free USDT and BTC on spot.
func (c *trader) wallets() string {
	c.t.Helper()
	var account struct{ TotalWalletBalance string }
	c.call("GET", "/fhapi/v1/margin/account", "").read(c.t, &account)
	var spot struct {
		Wallets []struct{ Asset, Balance string }
	}
	c.call("GET", "/hapi/v1/spot/wallet", "").read(c.t, &spot)
	all := account.TotalWalletBalance
	for _, one := range spot.Wallets {
		if one.Asset == "USDT" || one.Asset == "BTC" {
			all += " " + one.Asset + " " + one.Balance
		}
	}
	return all
}

// A withdrawal is bounded by the balance.
func TestADepositMovesMoneyIntoAWalletOrOutOfIt(t *testing.T) {
	t.Parallel()
	_, c := startServer(t, nil)
	for _, step := range []struct {
		body, want string
		status     int
	}{
		{`{"account":"KEY","market":"futures","amount":"250.5"}`, "10250.5 BTC 1 USDT 10000", 200},
		{`{"account":"KEY","market":"futures","asset":"USDT","amount":-10250.5}`, "0 BTC 1 USDT 10000", 200},
		{`{"account":"KEY","market":"futures","amount":-0.01}`, "0 BTC 1 USDT 10000", 400},
		{`{"account":"KEY","market":"spot","amount":"1"}`, "0 BTC 1 USDT 10001", 200},
		{`{"account":"KEY","market":"spot","asset":"BTC","amount":"-1"}`, "0 BTC 0 USDT 10001", 200},
		{`{"account":"KEY","market":"futures","asset":"BTC","amount":"1"}`, "0 BTC 0 USDT 10001", 400},
		{`{"account":"KEY","market":"spot","asset":"NONE","amount":"1"}`, "0 BTC 0 USDT 10001", 400},
		{`{"account":"NOBODY","market":"futures","amount":"1"}`, "0 BTC 0 USDT 10001", 400},
		{`{"account":"KEY","market":"futures"}`, "0 BTC 0 USDT 10001", 400},
		{`{"account":"KEY","market":"futures","amount":0}`, "0 BTC 0 USDT 10001", 400},
		{`{"account":"KEY","market":"futures","amount":1e40}`, "0 BTC 0 USDT 10001", 400},
		{`{"account":"KEY","market":"moon","amount":1}`, "0 BTC 0 USDT 10001", 400},
	} {
		if a := c.send("POST", "/control/v1/deposit", step.body, nil); a.status != step.status {
			t.Errorf("%s: want %d, have %d %s", step.body, step.status, a.status, a.body)
		}
		if have := c.wallets(); have != step.want {
			t.Errorf("%s: want %s, have %s", step.body, step.want, have)
		}
	}
}

// The default is the value of --account.
func TestAccountIsOpenedWithGivenBalances(t *testing.T) {
	t.Parallel()
	_, c := startServer(t, nil)
	for _, one := range []struct{ body, want string }{
		{`{"key":"a","secret":"s"}`, "10000 BTC 1 USDT 10000"},
		{`{"key":"b","secret":"s","futures":"7.5"}`, "7.5 BTC 1 USDT 10000"},
		{`{"key":"c","secret":"s","spot":{"USDT":3}}`, "10000 BTC 0 USDT 3"},
		{`{"key":"d","secret":"s","futures":0,"spot":{}}`, "0 BTC 0 USDT 0"},
		{`{"key":"e","secret":"s","read_only":true}`, "10000 BTC 1 USDT 10000"},
	} {
		c.control("POST", "/control/v1/account", one.body)
		other := *c
		other.key, other.secret = one.body[8:9], "s"
		if have := other.wallets(); have != one.want {
			t.Errorf("%s: want %s, have %s", one.body, one.want, have)
		}
		if a, readOnly := other.call("POST", "/fhapi/v1/order/cancel/all", "{}"), strings.Contains(one.body, "read_only"); (a.status == 403) != readOnly {
			t.Errorf("%s: want it read-only %t, have %d", one.body, readOnly, a.status)
		}
	}
	for _, body := range []string{`{"key":"a","secret":"t"}`, `{"key":"KEY","secret":"t"}`, `{"key":"","secret":"s"}`, `{"key":"f"}`, `{"secret":"s"}`,
		`{"key":"f","secret":"s","futures":-1}`, `{"key":"f","secret":"s","futures":1e40}`, `{"key":"f","secret":"s","spot":{"BTC":-1}}`,
		`{"key":"f","secret":"s","spot":{"BTC":1e40}}`} {
		c.send("POST", "/control/v1/account", body, nil).wantRefusal(t, 400, wire.CodeMalformed)
	}
	other := *c
	other.key, other.secret = "f", "s"
	other.call("GET", "/hapi/v1/spot/wallet", "").wantRefusal(t, 401, -2008)
	if have := c.wallets(); have != "10000 BTC 1 USDT 10000" {
		t.Errorf("want the others as they were, have %s", have)
	}
}
