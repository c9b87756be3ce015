package engine

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"botd/exchange"
	"botd/reconcile/ledger"
	"botd/reconcile/placement"
	"botd/reconcile/record"
)

// A reading is booked once a later one that is equal follows it and the last fill by at least the maximum age of a read, and nothing is
// uncertain. If that does not happen for a minute, the positions are read outside the rounds.
func TestWalletReadIsBookedWhenStable(t *testing.T) {
	t.Parallel()
	bookedWhenStable(t)
}

func bookedWhenStable(t testing.TB) {
	uncertain := func(sentMS int64) func(a *accounting, m *bookkeeping) {
		return func(a *accounting, _ *bookkeeping) {
			order := exchange.NewOrder{Market: exchange.Futures, Symbol: bitcoin.Name, Side: exchange.Buy, Quantity: 10, ClientOrderID: "unknown"}
			about := func(body record.Body) {
				a.recordAt(a.nowMS-sentMS, record.Record{Symbol: bitcoin, ClientOrderID: "unknown", Body: body})
			}
			about(record.Sending{Order: order, Purpose: placement.Entry})
			about(record.Uncertain{Reason: "a test"})
		}
	}
	unread := func(key exchange.SymbolKey, live bool) func(a *accounting, m *bookkeeping) {
		return func(a *accounting, m *bookkeeping) {
			if live {
				uncertain(60_000)(a, m)
				a.recordAt(a.nowMS, record.Record{Symbol: bitcoin, ClientOrderID: "unknown", Body: record.Acknowledged{OrderID: 5}})
			}
			see(a.tracker.Track(key), func(o *seen) { o.Unread = true })
		}
	}
	starved := func(ms int64) func(a *accounting, m *bookkeeping) {
		return func(a *accounting, m *bookkeeping) { m.dueMS, m.sinceMS = a.nowMS-ms, a.nowMS }
	}
	for _, c := range []struct {
		name string
		usdt int64 // 1,000 are booked
		with func(a *accounting, m *bookkeeping)
		want string // the outcome
	}{
		{"nothing has changed", 1_000, func(_ *accounting, m *bookkeeping) { m.dueMS = 5 }, "not due"},
		{"the wallet has", 950, nil, "booked"},
		{"it is not the same as before", 951, nil, "put off"},
		{"it was the same for as long as a read may be old", 950, func(a *accounting, m *bookkeeping) { m.sinceMS = a.nowMS - 1_000 }, "put off"},
		{"a fill was learned of since", 950, func(a *accounting, m *bookkeeping) { m.tradedMS = a.nowMS - 1_000 }, "put off"},
		{"a fill was learned of before", 950, func(a *accounting, m *bookkeeping) { m.tradedMS = a.nowMS - 1_001 }, "booked"},
		{"in a backtest at once", 951, func(a *accounting, _ *bookkeeping) { a.config.Feed = true }, "booked"},
		{"an order is uncertain", 950, uncertain(59_999), "put off"},
		{"an order is uncertain for a minute", 950, uncertain(60_000), "booked"},
		{"an order cannot be read", 950, unread(bitcoin, true), "put off"},
		{"a symbol without orders cannot be read", 950, unread(bitcoin, false), "booked"},
		{"a symbol of another market cannot be read", 950, unread(coin, true), "booked"},
		{"an answer is waited for", 950, func(_ *accounting, m *bookkeeping) { m.pending = 1 }, "put off"},
		{"it moves for less than a minute", 951, starved(59_999), "put off"},
		{"it moves for a minute", 951, starved(60_000), "asked futures_open_positions"},
	} {
		a := accountant(t, true)
		a.config.Bounds.StalenessMS = 1_000
		m := &a.futures
		m.last, m.sinceMS = walletRead(950), a.nowMS-1_001
		if c.with != nil {
			c.with(a, m)
		}
		r := walletRead(c.usdt)
		r.AtMS = a.nowMS
		dueMS, pending := m.dueMS, m.pending
		a.receiveReading(m, r, a.nowMS)
		if asked(a.base) == exchange.FuturesPositionsHistory.String() { // it is complete with the closed positions
			a.out.Calls = nil
			a.applyAnswer(pendingCall{kind: callEnded}, &EventAnswer{Answer: exchange.Answer{Positions: exchange.FetchedOf[exchange.Position](nil)}})
		}
		want, moved := c.want, exchange.AmountOf(c.usdt-1_000)
		have := "put off"
		switch {
		case len(postings(a.base)) == 2:
			have, moved = "booked", exchange.Amount{}
		case !m.due:
			have = "not due"
		case len(a.out.Calls) > 0:
			have = "asked " + strings.ReplaceAll(asked(a.base), " ", "_")
			want = "asked " + strings.ReplaceAll(exchange.FuturesOpenPositions.String(), " ", "_")
		}
		if have != want || a.limits.flow[exchange.Futures] != moved || m.unstable != strings.HasPrefix(want, "asked") {
			t.Errorf("%s: want it %s, a flow of %s, have it %s, %s", c.name, want, moved, have, a.limits.flow[exchange.Futures])
		}
		if due := have == "put off" || strings.HasPrefix(have, "asked"); due && (m.dueMS != dueMS && dueMS != 0 || m.dueMS == 0) || !due && m.dueMS != 0 {
			t.Errorf("%s: have it due since %d", c.name, m.dueMS)
		}
		outside := moved
		if len(slices.Collect(a.tracker.InFlight())) > 0 {
			outside = exchange.Amount{} // an uncertain order may have caused it
		}
		if ready := m.due && pending == 0 && len(a.out.Calls) == 0; a.ready() != ready || a.limits.unbooked() != moved || a.fromOutside() != outside {
			t.Errorf("%s: want it ready to be booked %t, have %t, from outside %s", c.name, ready, a.ready(), a.fromOutside())
		}
	}
}

// The age of a reading counts from the later of its round's start and end.
func TestAClockThatIsSetBackMakesNoReadingOlder(t *testing.T) {
	t.Parallel()
	for ends, want := range map[int64]int64{-500: 0, 0: 0, 500: 500} {
		a := accountant(t, true)
		r := walletRead(950)
		r.AtMS = a.nowMS + ends
		if a.receiveReading(&a.futures, r, a.nowMS); a.futures.sinceMS != a.nowMS+want {
			t.Errorf("a round that ends %d ms after its begin: want it to count from %d on, have %d", ends, want, a.futures.sinceMS-a.nowMS)
		}
	}
}

// The round that learns of a fill may have begun before it, so its wallet may not include the fill.
func TestAClockThatIsSetBackMakesNoFillOlder(t *testing.T) {
	t.Parallel()
	for ends, want := range map[int64]int64{-500: 0, 0: 0, 500: 500} {
		w := settled(t)
		id := w.sendsOn(bitcoin, placement.Entry)
		w.engine.tracker.Apply(&record.Record{AtMS: w.now, ClientOrderID: id, Body: record.Fill{OrderID: 5, Filled: 4}})
		beganMS := w.engine.nowMS
		w.engine.reader.roundReads.snapshot.BeganMS = beganMS
		w.engine.nowMS += ends
		w.engine.round.reportPlacement(w.engine.tracker.Placement(id), 0)
		if have := w.engine.accounting.futures.tradedMS - beganMS; have != want {
			t.Errorf("a round that ends %d ms after its begin: want the fill dated %d after it, have %d", ends, want, have)
		}
	}
}

// spotAccountant books the spot wallet, of which 500 USDT and no BTC are booked, and an order of 30 steps that filled since, 10 of them
// before.
func spotAccountant(t *testing.T) *accounting {
	t.Helper()
	b := valued(t, 0, 1)
	a := &accounting{base: b, limits: &limits{base: b}}
	order := exchange.NewOrder{Market: exchange.Spot, Symbol: coin.Name, Side: exchange.Buy, Quantity: 60, ClientOrderID: "bought"}
	about := func(body record.Body) {
		a.record(record.Record{Strategy: b.legs[0].config.Name, Symbol: coin, ClientOrderID: "bought", Body: body})
	}
	about(record.Sending{Order: order, Purpose: placement.Entry})
	about(record.Fill{OrderID: 5, Filled: 10, Price: exchange.AmountOf(100)})
	a.spot.reading = ledger.Reading{AtMS: 1, Market: exchange.Spot, Instruments: []ledger.Instrument{ledger.InstrumentOf(b.legs[0].symbol.Rules())},
		Wallet: []ledger.Asset{{Name: "BTC"}, {Name: "USDT", Amount: exchange.AmountOf(500)}}}
	a.spot.last = a.spot.reading
	a.post(&a.spot)
	about(record.Fill{OrderID: 5, Filled: 30, Price: exchange.AmountOf(100)})
	if !b.tracker.Ledger().Opened(exchange.Spot) || len(b.tracker.Ledger().WantsTrades()) != 1 {
		t.Fatal("want the wallet taken over, and executions to be booked")
	}
	return a
}

// The order's own executions are booked, oldest first, without the earlier ones and those that are booked already. A read that is refused
// because of its order delays no other symbol's money.
func TestNewExecutionsAreBooked(t *testing.T) {
	t.Parallel()
	type trade struct {
		id, order int64
		quantity  exchange.Quantity
	}
	for _, c := range []struct {
		name   string
		trades []trade
		err    error
		want   string // ids of the booked executions, and how many of 20 were found
		posted bool
	}{
		{"all of it", []trade{{1, 5, 10}, {2, 5, 15}, {3, 5, 5}}, nil, "[2 3] 20", true},
		{"the newest first", []trade{{3, 5, 5}, {2, 5, 15}, {1, 5, 10}}, nil, "[2 3] 20", true},
		{"in parts", []trade{{1, 5, 4}, {2, 5, 6}, {3, 5, 20}}, nil, "[3] 20", true},
		{"those of another order", []trade{{1, 6, 10}, {2, 5, 10}, {3, 5, 20}}, nil, "[3] 20", true},
		{"not all of it yet", []trade{{1, 5, 10}, {2, 5, 15}}, nil, "[2] 15", false},
		{"none yet", nil, nil, "[] 0", false},
		{"the read fails", nil, errLate, "[] 0", false},
		{"the read is refused for its key", nil, &exchange.Refusal{Status: 401}, "[] 0", false},
		{"the read is refused, for a minute", nil, &exchange.Refusal{Status: 400, Code: 7}, "[] 0", true},
	} {
		a := spotAccountant(t)
		m := &a.spot
		m.reading = ledger.Reading{AtMS: a.nowMS, Market: exchange.Spot, Wallet: []ledger.Asset{{Name: "BTC"}, {Name: "USDT", Amount: exchange.AmountOf(470)}}}
		m.last, m.due, m.unstable = m.reading, true, false
		if c.name == "the read is refused, for a minute" {
			m.lackMS = a.nowMS - moneyGiveUpMS
		}
		a.complete(m)
		want := exchange.Request{Operation: exchange.SpotUserTrades, Symbol: coin.Name, OrderID: 5, Limit: 1_000}
		if calls := a.out.Calls; m.pending != 1 || m.expected != 20 || len(calls) != 1 || calls[0].Request != want || calls[0].Priority != PriorityMarket {
			t.Fatalf("%s: want its executions asked for, have %+v", c.name, a.out.Calls)
		}
		event := &EventAnswer{Err: c.err}
		var fills []exchange.UserTrade
		for _, one := range c.trades {
			fills = append(fills, exchange.UserTrade{ID: one.id, OrderID: one.order, Symbol: coin.Name, Price: 100e8, Quantity: one.quantity, FeeAsset: "BTC"})
		}
		event.Answer.Fills = exchange.FetchedOf(fills)
		a.applyAnswer(pendingCall{kind: callExecutions, orderID: 5}, event)
		ids := []int64{}
		for _, one := range m.reading.Trades {
			ids = append(ids, one.ID)
		}
		booked := postings(a.base)
		if have := fmt.Sprint(ids, " ", m.found); have != c.want || (len(booked) == 2) != c.posted || m.pending != 0 {
			t.Errorf("%s: want %s, booked %t, have %s, %d postings", c.name, c.want, c.posted, have, len(booked))
		}
		if c.posted && booked[1].Reading.Partial != (m.found < 20) {
			t.Errorf("%s: want it marked where some are lacking, have %+v", c.name, booked[1].Reading)
		}
	}
}

// More of the order fills afterwards.
func TestExecutionsAreBookedOnce(t *testing.T) {
	t.Parallel()
	a := spotAccountant(t)
	m := &a.spot
	var fills []exchange.UserTrade
	for i, quantity := range []exchange.Quantity{10, 20, 15} {
		fills = append(fills, exchange.UserTrade{ID: int64(i + 1), OrderID: 5, Symbol: coin.Name, Price: 100e8, Quantity: quantity, FeeAsset: "BTC"})
		if i == 0 {
			continue
		}
		if i == 2 {
			a.record(record.Record{Symbol: coin, ClientOrderID: "bought", Body: record.Fill{OrderID: 5, Filled: 45, Price: exchange.AmountOf(100)}})
		}
		m.reading = ledger.Reading{AtMS: a.nowMS, Market: exchange.Spot, Wallet: m.reading.Wallet}
		m.last = m.reading
		a.complete(m)
		a.applyAnswer(pendingCall{kind: callExecutions, orderID: 5}, &EventAnswer{Answer: exchange.Answer{Fills: exchange.FetchedOf(fills)}})
	}
	all := postings(a.base)
	if len(all) != 3 || len(all[1].Reading.Trades) != 1 || len(all[2].Reading.Trades) != 1 || all[2].Reading.Trades[0].ID != 3 || all[2].Reading.Partial {
		t.Errorf("want each execution booked once, have %+v", all)
	}
}

// The reading of its market stays unbooked until the next round queries it again.
func TestFailedAnswerLeavesReadUnbooked(t *testing.T) {
	t.Parallel()
	for _, fails := range []bool{false, true} {
		a := accountant(t, true)
		m := &a.futures
		m.reading, m.last, m.due, m.pending = walletRead(950), walletRead(950), true, 2
		none := exchange.Answer{Positions: exchange.FetchedOf[exchange.Position](nil)}
		first, second := &EventAnswer{Answer: none}, &EventAnswer{Answer: none}
		if fails {
			first.Err = errLate
		}
		a.applyAnswer(pendingCall{kind: callEnded}, first)
		if m.pending != 1 || len(postings(a.base)) != 1 {
			t.Errorf("want the second answer awaited, have %d", m.pending)
		}
		if a.applyAnswer(pendingCall{kind: callEnded}, second); (len(postings(a.base)) == 2) == fails || m.pending != 0 {
			t.Errorf("the first fails %t: have %d postings", fails, len(postings(a.base)))
		}
	}
}

// The preview shows what it explains, what is still to come, and whose result counted it.
func TestDeclaredTransferPreview(t *testing.T) {
	t.Parallel()
	const measured = "daily loss and drawdown are measured without it"
	for _, c := range []struct {
		name       string
		futures    int // number of strategies
		amount     string
		strategy   string
		want       []string
		unexpected string // an error instead
	}{
		{"a deposit to come", 1, "25", "", []string{"a deposit of 25 USDT is booked as transferred: neither a gain nor a loss",
			"nothing unexplained matches it yet: the next change of the wallet by 25 USDT counts as this transfer"}, ""},
		{"a withdrawal that the wallet showed", 1, "-50", "", []string{"a withdrawal of 50 USDT is booked as transferred: neither a gain nor a loss",
			"it explains a previously unexplained change of the wallet", measured, "the result of futures BTC-USDT no longer counts it"}, ""},
		{"more than the wallet showed", 1, "-80", "", []string{"a withdrawal of 80 USDT is booked as transferred: neither a gain nor a loss",
			"-50 of it explains a change of the wallet; the next change by -30 counts as the rest", measured,
			"the result of futures BTC-USDT no longer counts it"}, ""},
		{"several strategies trade there", 2, "-50", "", []string{"a withdrawal of 50 USDT is booked as transferred: neither a gain nor a loss",
			"it explains a previously unexplained change of the wallet", measured,
			"several strategies trade there: their results stay unchanged (set strategy to the one whose result included it)"}, ""},
		{"one of several is named", 2, "-50", "futures ETH-USDT", []string{"a withdrawal of 50 USDT is booked as transferred: neither a gain nor a loss",
			"it explains a previously unexplained change of the wallet", measured, "the result of futures ETH-USDT no longer counts it"}, ""},
		{"nothing", 1, "0", "", nil, "a transfer of 0 USDT changes nothing"},
		{"a strategy that there is not", 1, "25", "two", nil, "there is no strategy \"two\""},
	} {
		b := valued(t, c.futures, 1)
		b.config.Ledger = true
		a := &accounting{base: b, limits: &limits{base: b}}
		key := exchange.SymbolKey{Market: exchange.Futures}
		a.record(record.Record{Body: record.Posting{Posting: ledger.Posting{Reading: walletRead(1_000)}}})
		a.record(record.Record{Body: record.Posting{Posting: ledger.Posting{Reading: walletRead(950), Lines: []ledger.Line{
			{Account: ledger.Wallet, Symbol: key, Asset: "USDT", Amount: exchange.AmountOf(-50)},
			{Account: ledger.Unexplained, Symbol: key, Asset: "USDT", Amount: exchange.AmountOf(50)},
		}}}})
		event := &EventTransfer{Transfer: ledger.Transfer{Market: exchange.Futures, Asset: "USDT", Amount: exchange.MustAmount(c.amount), Note: "a test"},
			Strategy: c.strategy}
		lines, err := a.previewTransfer(event)
		if c.unexpected != "" {
			if err == nil || !strings.HasPrefix(err.Error(), c.unexpected) {
				t.Errorf("%s: want %q, have %v", c.name, c.unexpected, err)
			}
			continue
		}
		if diff := cmp.Diff(c.want, lines); diff != "" || err != nil {
			t.Errorf("%s: %v, -want +have\n%s", c.name, err, diff)
		}
		b.out.Notes = nil
		a.transfer(event)
		notes := facts[NoteTransfer](b.out.Notes)
		want := fmt.Sprintf("futures wallet: transfer of %s USDT declared: a test", c.amount)
		if len(notes) != 1 || notes[0].Text != want || notes[0].Amount != event.Transfer.Amount {
			t.Errorf("%s: want %q reported, have %+v", c.name, want, notes)
		}
		a.config.Ledger = false
		if _, err := a.previewTransfer(event); err == nil || err.Error() != "this run has no ledger" {
			t.Errorf("%s: want it refused without a ledger, have %v", c.name, err)
		}
	}
}

// A declared transfer moves the baselines of losses. An account's baseline from before the wallet showed it moves along; a later one
// includes it. A strategy's result counted it: the result and later baselines fall by it, earlier ones stay. A peak from shortly before a
// deposit was shown may include it.
func TestDeclaredTransferMovesBaselines(t *testing.T) {
	t.Parallel()
	const peakAgo = peakMarginMS
	for _, c := range []struct {
		name                      string
		market                    exchange.Market
		amount                    int64
		shownMS                   int64 // relative to the start of the day
		peakMS                    int64 // relative to when the wallet showed it
		accountWant, strategyWant string
	}{
		{"a deposit today, the peak long before", exchange.Futures, 40, 5, -peakAgo - 1, "1040 1140 300", "500 600 -40"},
		{"a deposit today, the peak shortly before", exchange.Futures, 40, 5, -peakAgo, "1040 1100 300", "500 560 -40"},
		{"a deposit today, the peak since", exchange.Futures, 40, 5, 0, "1040 1100 300", "500 560 -40"},
		{"a deposit as the day began", exchange.Futures, 40, 0, 1, "1040 1100 300", "500 560 -40"},
		{"a deposit before the day", exchange.Futures, 40, -1, 1, "1000 1100 300", "460 560 -40"},
		{"a deposit on spot", exchange.Spot, 40, 5, 1, "1040 1100 340", "500 560 -40"},
		{"a withdrawal today, the peak before", exchange.Futures, -40, 5, -1, "960 1060 300", "500 600 40"},
		{"a withdrawal today, the peak since", exchange.Futures, -40, 5, 0, "960 1060 300", "500 640 40"},
		{"a withdrawal before the day", exchange.Futures, -40, -1, 1, "1000 1060 300", "540 640 40"},
	} {
		b := valued(t, 1, 1)
		l := &limits{base: b}
		one := b.legs[0]
		day := func(strategy string, equity, peak int64) {
			body := record.Day{StartMS: b.nowMS, Equity: exchange.AmountOf(equity), Peak: exchange.AmountOf(peak)}
			if strategy == "" {
				body.Markets, body.Spot = "futures spot", exchange.AmountOf(300)
			}
			b.recordAt(b.nowMS+c.shownMS+c.peakMS, record.Record{Strategy: strategy, Body: body})
		}
		day("", 1_000, 1_100)
		day(one.config.Name, 500, 600)
		b.record(record.Record{Strategy: one.config.Name, Symbol: one.symbol.Key(), Body: record.Result{}})
		before := len(b.unwritten)
		l.explained(c.market, ledger.Matched{Amount: exchange.AmountOf(c.amount), AtMS: b.nowMS + c.shownMS}, one)
		account, own := b.tracker.Watch("").Day(), b.tracker.Watch(one.config.Name)
		if have := fmt.Sprint(account.Equity, " ", account.Peak, " ", account.Spot); have != c.accountWant || len(b.unwritten) != before+3 {
			t.Errorf("%s: the account: want %s, have %s", c.name, c.accountWant, have)
		}
		if have := fmt.Sprint(own.Day().Equity, " ", own.Day().Peak, " ", own.Result().Result); have != c.strategyWant {
			t.Errorf("%s: the strategy: want %s, have %s", c.name, c.strategyWant, have)
		}
	}
	b := valued(t, 1, 0)
	l := &limits{base: b}
	if l.explained(exchange.Futures, ledger.Matched{Amount: exchange.AmountOf(40)}, b.legs[0]); len(b.unwritten) != 0 {
		t.Errorf("want nothing moved of what was never watched, have %+v", b.unwritten)
	}
	l.explained(exchange.Futures, ledger.Matched{Amount: exchange.AmountOf(40)}, nil)
}

// A transfer counts in the result of the only strategy on futures; with several, or on spot, it counts in none.
func TestTransferResultOwner(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		futures, spot int
		market        exchange.Market
		strategy      string
		want          string
	}{
		{1, 0, exchange.Futures, "", "futures BTC-USDT"}, {1, 1, exchange.Futures, "", "futures BTC-USDT"}, {2, 0, exchange.Futures, "", ""},
		{2, 0, exchange.Futures, "futures ETH-USDT", "futures ETH-USDT"}, {1, 1, exchange.Spot, "", ""}, {0, 1, exchange.Futures, "", ""},
	} {
		a := &accounting{base: valued(t, c.futures, c.spot)}
		event := &EventTransfer{Transfer: ledger.Transfer{Market: c.market}, Strategy: c.strategy}
		if have := a.counted(event).name(); have != c.want {
			t.Errorf("%+v: want %q, have %q", c, c.want, have)
		}
	}
}
