package gateway

import (
	"errors"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"botd/configs"
	"botd/exchange"
	"botd/exchange/sim"
	"botd/exchange/sim/server"
	"botd/internal/enginetest"
	"botd/internal/failure"
	"botd/internal/startclock"
	"botd/reconcile/account"
	"botd/reconcile/placement"
	"botd/reconcile/record"
	"botd/runtime/engine"
)

// TestAKeyIsReplacedWhileBotdRuns writes a new key to its files. It signs from then on, and a start recognizes it as
// the journal's account. A key that shows another wallet is refused, and the old one continues to sign.
func TestAKeyIsReplacedWhileBotdRuns(t *testing.T) {
	t.Parallel()
	x, err := sim.New(sim.Config{Symbols: sim.DefaultSymbols(), StartMS: startclock.MS()})
	if err != nil {
		t.Fatal(err)
	}
	made, err := server.New(server.Config{Exchange: x, Clock: server.Clock{StartMS: startclock.MS()}, Accounts: []server.Account{
		{Key: "old", Secret: "one"}, {Key: "new", Secret: "two"}, {Key: "other", Secret: "three"}}})
	if err != nil {
		t.Fatal(err)
	}
	venue := httptest.NewServer(made.Handler())
	t.Cleanup(venue.Close)
	directory := t.TempDir()
	write := func(key, secret string) {
		t.Helper()
		for name, text := range map[string]string{"key": key, "secret": secret} {
			if err := os.WriteFile(filepath.Join(directory, name), []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
		}
	}
	write("old", "one")
	config := &configs.Config{Mode: configs.Live, Exchange: configs.ExchangeConfig{BaseURL: venue.URL, KeyFile: filepath.Join(directory, "key"),
		SecretFile: filepath.Join(directory, "secret"), RequestsPerSecond: 100, Settle: configs.SettleConfig{Written: true}}}
	v, err := Open(t.Context(), config, directory, DemoMarket{}, Network{})
	if err == nil {
		err = v.Reach(t.Context())
	}
	if err != nil {
		t.Fatal(err)
	}
	read, err := v.Client.Do(t.Context(), exchange.Request{Operation: exchange.FuturesAccount})
	if err != nil {
		t.Fatal(err)
	}
	seen := &engine.Status{Account: read.Account}
	rotate := func() (changed bool, err error) {
		for range 2 { // files are read once they stop changing
			changed, err = v.Rotate(t.Context(), config, directory, func() (*engine.Status, error) { return seen, nil })
		}
		return changed, err
	}
	if changed, err := rotate(); changed || err != nil {
		t.Errorf("the same key: want nothing, have %v, %v", changed, err)
	}
	write("new", "wrong")
	if changed, err := v.Rotate(t.Context(), config, directory, nil); changed || err != nil {
		t.Errorf("files that were written a moment ago: want them read once more, have %v, %v", changed, err)
	}
	if changed, err := rotate(); !changed || err == nil || strings.Contains(err.Error(), "wrong\n") {
		t.Errorf("a wrong secret: want it refused, have %v, %v", changed, err)
	}
	seen.Account.WalletBalance = exchange.AmountOf(7)
	write("other", "three")
	if changed, err := rotate(); !changed || err == nil || !strings.Contains(err.Error(), "wallet differs") {
		t.Errorf("another account: want it refused, have %v, %v", changed, err)
	}
	seen.Account = read.Account
	write("new", "two")
	order := enginetest.Placement(record.Record{Symbol: exchange.SymbolKey{Market: exchange.Futures, Name: "BTC-USDT"}, ClientOrderID: "b-1",
		Body: record.Sending{Purpose: placement.Entry}}, placement.Working, 99)
	unread := errors.New("not read yet")
	for want, shown := range map[string]func() (*engine.Status, error){
		"not read yet": func() (*engine.Status, error) { return nil, unread },
		"its spot wallet differs from what was read last": func() (*engine.Status, error) {
			return &engine.Status{Account: seen.Account, Balances: []exchange.Balance{{Asset: "USDT", Free: exchange.AmountOf(1)}}}, nil
		},
		"it shows none of the orders that are open": func() (*engine.Status, error) {
			return &engine.Status{Account: seen.Account, Live: []account.Placement{order}}, nil
		},
	} {
		for range 2 {
			if changed, err := v.Rotate(t.Context(), config, directory, shown); err != nil && (!changed || !strings.Contains(err.Error(), want)) {
				t.Errorf("want %q, have %t, %v", want, changed, err)
			}
		}
		if changed, err := v.Rotate(t.Context(), config, directory, shown); !changed || err == nil || v.credentials.Key != "old" ||
			want != "not read yet" && failure.CodeOf(err) != failure.Credentials {
			t.Errorf("%s: want it refused, have %t, %v", want, changed, err)
		}
	}
	if err := os.Rename(config.Exchange.KeyFile, config.Exchange.KeyFile+".away"); err != nil {
		t.Fatal(err)
	}
	if changed, err := rotate(); changed || err == nil {
		t.Errorf("without the file of the key: want an error and the old key, have %t, %v", changed, err)
	}
	if err := os.Rename(config.Exchange.KeyFile+".away", config.Exchange.KeyFile); err != nil {
		t.Fatal(err)
	}
	if changed, err := (&Exchange{}).Rotate(t.Context(), config, directory, nil); changed || err != nil {
		t.Errorf("an exchange without keys: want nothing, have %t, %v", changed, err)
	}
	if changed, err := v.Rotate(t.Context(), config, directory, func() (*engine.Status, error) { return seen, nil }); !changed || err != nil {
		t.Fatalf("a new key: want it taken, have %v, %v", changed, err)
	}
	if v.credentials.Key != "new" {
		t.Errorf("want the new key to sign, have another")
	}
	if _, err := v.Client.Do(t.Context(), exchange.Request{Operation: exchange.FuturesAccount}); err != nil {
		t.Errorf("signed with the new key: %v", err)
	}
	again, err := Open(t.Context(), config, directory, DemoMarket{}, Network{})
	if err != nil || again.Binding != v.Binding {
		t.Errorf("a start with the new key: want the journal's account, have %+v, %v", again, err)
	}
}

func TestAcceptedKeysBelongToOneAccount(t *testing.T) {
	t.Parallel()
	directory := t.TempDir()
	for _, key := range []string{"b", "c", "b"} {
		if err := AcceptKey(directory, "a", key); err != nil {
			t.Fatal(err)
		}
	}
	s, err := readSuccession(directory)
	if err != nil || s.First != "a" || strings.Join(s.Accepted, "") != "bc" || s.bound("c") != "a" || s.bound("x") != "x" {
		t.Errorf("want b and c to be a's, have %+v, %v", s, err)
	}
}
