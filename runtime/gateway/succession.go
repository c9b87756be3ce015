package gateway

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"

	"botd/configs"
	"botd/exchange"
	"botd/exchange/rest"
	"botd/internal/failure"
	"botd/internal/privatefile"
	"botd/reconcile/placement"
	"botd/runtime/engine"
)

// successionFile names the keys of an account that followed the one its journal began with.
const successionFile = "keys.json"

const maxSuccession = 1 << 16

// succession are the fingerprints of the keys of one account.
type succession struct {
	First    string   `json:"first"`    // as the journal has it
	Accepted []string `json:"accepted"` // since
}

// readSuccession reads the file of a directory; it does not exist if the key never changed.
func readSuccession(directory string) (s succession, err error) {
	text, err := privatefile.Read(filepath.Join(directory, successionFile), maxSuccession)
	if errors.Is(err, fs.ErrNotExist) {
		return s, nil
	}
	if err == nil {
		err = json.Unmarshal(text, &s)
	}
	return s, failure.Wrap(failure.Config, err)
}

// bound returns the fingerprint under which the journal knows a key's account.
func (s *succession) bound(fingerprint string) string {
	if slices.Contains(s.Accepted, fingerprint) {
		return s.First
	}
	return fingerprint
}

// AcceptKey records that a key belongs to the account of a journal that began with another key.
func AcceptKey(directory, first, fingerprint string) error {
	s, err := readSuccession(directory)
	if err != nil || fingerprint == first || s.bound(fingerprint) == first {
		return err
	}
	if s.First != first {
		s = succession{First: first}
	}
	s.Accepted = append(s.Accepted, fingerprint)
	text, err := json.MarshalIndent(s, "", "  ")
	if err != nil {
		return err
	}
	return privatefile.Write(filepath.Join(directory, successionFile), append(text, '\n'))
}

// Rotate switches to the key in the files if it belongs to the same account; changed is false if the files
// contain the key in use. The error of a refused key gives the reason, and never the key.
func (v *Exchange) Rotate(ctx context.Context, config *configs.Config, directory string, seen func() (*engine.Status, error)) (changed bool, err error) {
	if v.credentials == nil {
		return false, nil
	}
	key, secret, err := configs.ReadSecrets(config.Exchange)
	if err != nil {
		return false, err
	}
	if key == v.credentials.Key && string(secret) == string(v.credentials.Secret) {
		return false, nil
	}
	if written := key + "\n" + string(secret); written != v.written { // the other file may be about to be written
		v.written = written
		return false, nil
	}
	settings := *v.credentials
	settings.Key, settings.Secret, settings.Observe = key, secret, nil
	client, err := rest.New(settings)
	if err != nil {
		return true, err
	}
	if err := reach(ctx, client, &settings); err != nil {
		return true, err
	}
	status, err := seen()
	if err == nil {
		err = sameAccount(ctx, client, status)
	}
	if err != nil {
		return true, err
	}
	if err := AcceptKey(directory, v.Binding.KeyFingerprint, Fingerprint(key)); err != nil {
		return true, err
	}
	v.Client.SetCredentials(key, secret)
	v.credentials = &settings
	return true, nil
}

// errOtherAccount refuses a key.
func errOtherAccount(what string) error {
	return failure.New(failure.Credentials, "if it is of the same account, stop botd and run botd journal accept-key", "nothing shows that the new key "+
		"is of the same account: %s", what)
}

// sameAccount compares the account of the new key with the last readings: both wallets to the last digit, and an open
// order.
func sameAccount(ctx context.Context, client *rest.Client, seen *engine.Status) error {
	account, err := client.Do(ctx, exchange.Request{Operation: exchange.FuturesAccount})
	if err != nil {
		return fmt.Errorf("read the account with the new key: %w", err)
	}
	if account.Account.WalletBalance != seen.Account.WalletBalance {
		return errOtherAccount("its futures wallet differs from what was read last")
	}
	wallet, err := client.Do(ctx, exchange.Request{Operation: exchange.SpotWallet})
	if err != nil {
		return fmt.Errorf("read the wallet with the new key: %w", err)
	}
	if len(seen.Balances) > 0 && !sameBalances(wallet.Balances.Items(), seen.Balances) {
		return errOtherAccount("its spot wallet differs from what was read last")
	}
	known := workingOf(seen)
	if len(known) == 0 {
		return nil
	}
	for _, operation := range []exchange.Operation{exchange.FuturesOpenOrders, exchange.SpotOpenOrders} {
		open, err := client.Do(ctx, exchange.Request{Operation: operation})
		if err != nil {
			return fmt.Errorf("read the orders with the new key: %w", err)
		}
		if slices.ContainsFunc(open.Orders.Items(), func(o exchange.Order) bool { return slices.Contains(known, o.ID) }) {
			return nil
		}
	}
	return errOtherAccount("it shows none of the orders that are open")
}

// sameBalances compares the total of each asset; a list may leave out an asset with a total of
// zero.
func sameBalances(a, b []exchange.Balance) bool {
	total := map[string]exchange.Amount{}
	for i := range a {
		total[a[i].Asset] = total[a[i].Asset].Add(a[i].Free).Add(a[i].Frozen)
	}
	for i := range b {
		total[b[i].Asset] = total[b[i].Asset].Sub(b[i].Free).Sub(b[i].Frozen)
	}
	for _, left := range total {
		if !left.IsZero() {
			return false
		}
	}
	return true
}

// workingOf returns the ids of the orders that botd knows as open.
func workingOf(seen *engine.Status) (ids []int64) {
	for i := range seen.Live {
		if p := &seen.Live[i]; p.State() == placement.Working && p.OrderID() != 0 {
			ids = append(ids, p.OrderID())
		}
	}
	return ids
}
