package engine

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"botd/exchange"
	"botd/reconcile/ledger"
	"botd/reconcile/record"
)

// accountant returns the bookkeeping of a futures account of 1,000 USDT. If opened, the ledger already contains that balance.
func accountant(t testing.TB, opened bool) *accounting {
	t.Helper()
	b := valued(t, 1, 0)
	a := &accounting{base: b, limits: &limits{base: b}}
	if opened {
		a.futures.reading, a.futures.last = walletRead(1_000), walletRead(1_000)
		a.post(&a.futures)
		if !b.tracker.Ledger().Opened(exchange.Futures) || len(postings(b)) != 1 {
			t.Fatal("want the wallet taken over")
		}
	}
	return a
}

func walletRead(usdt int64) ledger.Reading {
	return ledger.Reading{AtMS: 1, Market: exchange.Futures, Wallet: []ledger.Asset{{Name: "USDT", Amount: exchange.AmountOf(usdt)}}}
}

func postings(b *base) (all []record.Posting) {
	for i := range b.unwritten {
		if p, is := b.unwritten[i].Body.(record.Posting); is {
			all = append(all, p)
		}
	}
	return all
}

// asked returns the operations of the calls so far.
func asked(b *base) string {
	var all []string
	for i := range b.out.Calls {
		all = append(all, b.out.Calls[i].Request.Operation.String())
	}
	return strings.Join(all, " ")
}

// TestMovingWalletReadIsRepeated expects requests for the positions, the account and the positions again, until two lists are equal:
// then the account belongs to the same moment. After eleven answers the next round continues.
func TestMovingWalletReadIsRepeated(t *testing.T) {
	t.Parallel()
	positions, wallet := exchange.FuturesOpenPositions.String(), exchange.FuturesAccount.String()
	for _, c := range []struct {
		name  string
		lists []int // first id of each list of positions; 0 if none is open
		fails int   // index of the failing answer; 0 for none
		calls int
		ends  bool // whether it ends with a posting
	}{
		{"two that are the same", []int{7, 7}, 0, 3, true},
		{"none open, twice", []int{0, 0}, 0, 3, true},
		{"the first is not enough, though it is what the round read", []int{5, 6, 6}, 0, 5, true},
		{"the fourth pair", []int{1, 2, 3, 4, 4}, 0, 9, true},
		{"the last pair", []int{1, 2, 3, 4, 5, 5}, 0, 11, true},
		{"never the same", []int{1, 2, 3, 4, 5, 6, 6}, 0, 11, false},
		{"the account cannot be read", []int{7, 7}, 2, 2, false},
		{"the second list cannot be read", []int{7, 7}, 3, 3, false},
	} {
		a := accountant(t, false)
		m := &a.futures
		m.reading, m.unstable = walletRead(900), true
		m.reading.Open = a.tracker.Readings().Positions([]exchange.Position{{ID: 5, Symbol: bitcoin.Name, Quantity: 1, Remaining: 1}})
		a.askFor(m, pendingCall{kind: callBetween}, exchange.Request{Operation: exchange.FuturesOpenPositions})
		list := 0
		for n := 1; m.pending > 0; n++ {
			event := &EventAnswer{}
			if n == c.fails {
				event.Err = errors.New("no answer")
			}
			event.Answer.Account.WalletBalance = exchange.AmountOf(int64(1_000 + n))
			if n%2 == 1 {
				var open []exchange.Position
				if id := c.lists[list]; id != 0 {
					open = append(open, exchange.Position{ID: int64(id), Symbol: bitcoin.Name, Quantity: 1, Remaining: 1})
				}
				event.Answer.Positions = exchange.FetchedOf(open)
				list++
			}
			a.nowMS++
			a.applyAnswer(pendingCall{kind: callBetween}, event)
		}
		have := asked(a.base)
		want := strings.TrimSuffix(strings.Repeat(positions+" "+wallet+" ", (c.calls+1)/2), " ")
		if c.calls%2 == 1 {
			want = strings.TrimSuffix(want, " "+wallet)
		}
		booked := postings(a.base)
		if have != want || (len(booked) == 1) != c.ends {
			t.Errorf("%s: want %d calls, booked %t, have %s, booked %d", c.name, c.calls, c.ends, have, len(booked))
			continue
		}
		if !c.ends {
			continue
		}
		if r := booked[0].Reading; r.AtMS != a.nowMS || !r.Unstable || r.Wallet[0].Amount != exchange.AmountOf(int64(1_000+c.calls-1)) {
			t.Errorf("%s: want the newest account, of now, have %+v", c.name, r)
		}
	}
}

// Closed positions are read page by page until a page contains a booked position or is not full, or a thousand were read. Before the
// ledger has taken over the wallet, one page suffices.
func TestClosedPositionsAreReadByPage(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name   string
		opened bool
		pages  []int // number of positions on each page
		booked int   // id of the booked position; 0 for none
		want   []int // offsets of the requested pages
	}{
		{"a page that is not full", true, []int{99}, 0, []int{0}},
		{"a full one, and an empty one", true, []int{100, 0}, 0, []int{0, 100}},
		{"a full one, of which one is booked", true, []int{100}, 100, []int{0}},
		{"the second has one that is booked", true, []int{100, 100}, 150, []int{0, 100}},
		{"a thousand", true, []int{100, 100, 100, 100, 100, 100, 100, 100, 100, 100}, 0, []int{0, 100, 200, 300, 400, 500, 600, 700, 800, 900}},
		{"before the wallet was taken over", false, []int{100}, 0, []int{0}},
	} {
		a := accountant(t, c.opened)
		if c.booked != 0 {
			r := walletRead(1_000)
			r.Closed = []ledger.Position{{ID: int64(c.booked), Symbol: bitcoin.Name}}
			a.record(record.Record{Body: record.Posting{Posting: ledger.Posting{Reading: r}}})
		}
		m, id := &a.futures, 0
		m.reading = walletRead(1_000)
		m.last = m.reading
		a.askEnded(m)
		for n := 0; m.pending > 0; n++ {
			page := make([]exchange.Position, c.pages[n])
			for i := range page {
				id++
				page[i] = exchange.Position{ID: int64(id), Symbol: bitcoin.Name, UpdatedMS: 1_000}
			}
			a.applyAnswer(pendingCall{kind: callEnded}, &EventAnswer{Answer: exchange.Answer{Positions: exchange.FetchedOf(page)}})
		}
		var offsets []int
		for i := range a.out.Calls {
			offsets = append(offsets, a.out.Calls[i].Request.Offset)
			if request := a.out.Calls[i].Request; request.Operation != exchange.FuturesPositionsHistory || request.Limit != 100 {
				t.Errorf("%s: want pages of a hundred, have %+v", c.name, request)
			}
		}
		if !slices.Equal(offsets, c.want) || len(m.ended) != id {
			t.Errorf("%s: want pages at %v, have %v, %d positions", c.name, c.want, offsets, len(m.ended))
		}
	}
}

// An unstable reading that is not fully explained is postponed ten times, then booked with its difference. An explained or a stable one
// is booked immediately. A stable reading that has changed meanwhile is not booked.
func TestAMovingReadingThatIsNotExplainedIsPutOff(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name     string
		usdt     int64
		unstable bool
		moved    bool // whether the newest round read another wallet
		tries    int  // tries until it is booked; 0 for never
	}{
		{"explained", 1_000, true, false, 1},
		{"explained, and stood still", 1_000, false, false, 1},
		{"not explained, and stood still", 1_050, false, false, 1},
		{"not explained", 1_050, true, false, 11},
		{"it stood still, and moved on meanwhile", 1_000, false, true, 0},
		{"it moves, and moved on meanwhile", 1_000, true, true, 1},
	} {
		a := accountant(t, true)
		m, tries := &a.futures, 0
		for ; len(postings(a.base)) == 1 && tries < 15; tries++ {
			m.reading, m.last, m.unstable, m.due, m.dueMS, m.lackMS = walletRead(c.usdt), walletRead(c.usdt), c.unstable, true, 5, 5
			if c.moved {
				m.last = walletRead(1_001)
			}
			if m.refused != tries && !c.moved {
				t.Errorf("%s: try %d: have it put off %d times", c.name, tries, m.refused)
			}
			a.post(m)
		}
		all := postings(a.base)
		if c.tries == 0 {
			if len(all) != 1 || !m.due {
				t.Errorf("%s: want it left to the next round, have %d", c.name, len(all))
			}
			continue
		}
		if tries != c.tries || len(all) != 2 || m.due || m.dueMS != 0 || m.lackMS != 0 || m.refused != 0 {
			t.Errorf("%s: want it booked at try %d, and nothing due, have %d, %d postings, %+v", c.name, c.tries, tries, len(all), m)
			continue
		}
		if all[1].Reading.Unstable != c.unstable || all[1].Reading.Partial {
			t.Errorf("%s: want it marked as it was, have %+v", c.name, all[1].Reading)
		}
		if unexplained := len(a.out.Notes); (unexplained == 1) != (c.usdt != 1_000) {
			t.Errorf("%s: have the notes %+v", c.name, a.out.Notes)
		}
	}
}
