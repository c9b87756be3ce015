package ledger

import (
	"testing"

	"botd/exchange"
)

// 0.004 were owned, 0.004 more were bought at 49930.9, and all of it was sold at 49981.4, each at a fee of
// 0.05 %. The traded quantity is known, although a part was opened and closed between two reads.
func TestWalletWithoutExitIsImplausible(t *testing.T) {
	t.Parallel()
	for wallet, want := range map[string]bool{"999.8001182": false, "999.6877926": true} {
		a := newAccounts(t)
		a.trades(exchange.Buy, 4)
		a.futures("999.89998", []Position{position(1, false, "0.004", "0.004", "50010", "0")}, nil)
		a.trades(exchange.Buy, 4)
		a.trades(exchange.Sell, 8)
		ended := position(1, false, "0.008", "0", "49970.45", "0.0876")
		ended.Close = amount("49981.4")
		r := &Reading{AtMS: a.now + 1_000, Market: exchange.Futures, Wallet: []Asset{{FuturesAsset, amount(wallet)}}, Closed: []Position{ended}, Unstable: true}
		if have := a.l.Plausible(r, a.l.Lines(r)); have != want {
			t.Errorf("wallet %s: want plausible %t, have %t", wallet, want, have)
		}
	}
}

// 600 of BTC received 0.225 of funding, and 42.12 of PEPE ended with a profit of 0.301 at a fee of 0.02121.
// Funding explains a wallet that does not include that end as well as one that does.
func TestUnstableReadOverFundingTimeIsImplausible(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		wallet string
		laterS int64
		want   bool
	}{
		{"999.90379", 60, true}, {"999.624", 60, false}, // before the funding time, with the end and without it
		{"999.849", 8 * 3_600, false}, {"1000.12879", 8 * 3_600, false}, {"999.90379", 8 * 3_600, false},
	} {
		unstableRead(t, c.wallet, c.laterS, c.want)
	}
}

func unstableRead(t testing.TB, wallet string, laterS int64, want bool) {
	a := newAccounts(t)
	pepe := position(2, false, "4200000", "4200000", "0.00001002833333", "0")
	pepe.Symbol = "PEPE-USDT"
	a.trades(exchange.Buy, 12)
	btc := position(1, false, "0.012", "0.012", "50000", "0")
	a.futures("999.624", []Position{btc, pepe}, nil)
	a.l.fill(&Order{ClientOrderID: "p", Strategy: "one", Symbol: exchange.SymbolKey{Market: exchange.Futures, Name: "PEPE-USDT"}, Side: exchange.Sell}, 1)
	pepe.Remaining, pepe.Close, pepe.Realized = exchange.Amount{}, amount("0.0000101"), amount("0.301")
	r := &Reading{AtMS: a.now + laterS*1_000, Market: exchange.Futures, Wallet: []Asset{{FuturesAsset, amount(wallet)}},
		Open: []Position{btc}, Closed: []Position{pepe}, Unstable: true}
	if have := a.l.Plausible(r, a.l.Lines(r)); have != want {
		t.Errorf("wallet %s after %d s: want plausible %t, have %t", wallet, laterS, want, have)
	}
}

// The exchange shows one position's id for a position of another symbol, whose quantity would overflow at
// this price.
func TestPositionIDsOfTwoSymbolsAreSeparate(t *testing.T) {
	t.Parallel()
	a := newAccounts(t)
	a.trades(exchange.Buy, 4)
	other := position(1, false, "2100000000000000", "2100000000000000", "0.00001", "0")
	other.Symbol = "PEPE-USDT"
	a.futures("999.89998", []Position{other}, nil)
	a.trades(exchange.Buy, 4)
	r := &Reading{AtMS: a.now + 1_000, Market: exchange.Futures, Wallet: []Asset{{FuturesAsset, amount("999.8")}},
		Open: []Position{position(1, false, "0.008", "0.008", "49970.45", "0")}}
	a.l.Lines(r)
	if have, value := onGrid(amount("104986559800.0256"), amount("0.00000000001")), amount("104986559800.0256"); have != value {
		t.Errorf("want a value that has too many steps left as it is, have %s", have)
	}
}
