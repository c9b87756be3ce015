package simulation

import (
	"testing"

	"botd/exchange"
	"botd/reconcile/record"
	"botd/runtime/engine"
	"botd/strategy"
)

// incidentsOfRestarts concern stale or incomplete state after a restart.
var incidentsOfRestarts = []incident{
	{23, "freqtrade/freqtrade#10436", "restarted with an open entry: believed filled, a stop placed for a position that was not there", staging(func(s *stage) {
		s.pass(5)
		s.restart()
		s.pass(20)
		s.wantHeld(0)
		want(s, "stops", 0, s.stops())
		want(s, "stops ever sent", 0, s.sent(stopping))
		want(s, "bids on the exchange", 1, len(s.orders()))
	}, bids(49_000), protected)},
	{24, "freqtrade/freqtrade#9128", "a ghost position when an entry order was replaced", staging(func(s *stage) {
		for _, price := range []int64{48_900, 48_800, 48_700} {
			s.pass(5)
			s.plan = bids(price)
		}
		s.pass(10)
		s.wantHeld(0)
		want(s, "bids on the exchange", 1, len(s.orders()))
		s.wantSound()
	}, bids(49_000))},
	{25, "freqtrade/freqtrade#13037", "\"canceled, filled=0\" for a filled order: the trade deleted, the position left with no stop", staging(func(s *stage) {
		s.forge = func(f *flight) {
			if f.call.Request.Operation == exchange.FuturesOrder && f.err == nil {
				f.answer.Order.Status, f.answer.Order.Filled = exchange.StatusCanceled, 0
			}
		}
		s.contradicted()
		s.pass(40)
		s.wantState("quarantined") // declared, and the position is left alone
		want(s, "on the exchange", 10, s.held())
		s.person(&engine.EventResolve{Symbol: bitcoin, Adopt: true, Reason: "it is ours"})
		s.heal()
		s.pass(20)
		s.wantHeld(10)
		want(s, "stops", 1, s.stops())
	}, hold(10), protected)},
	{26, "freqtrade/freqtrade#13399", "recovery gave the previous trade's stop fill to the reversed trade: a crash loop", staging(func(s *stage) {
		s.pass(10)
		want(s, "stops", 1, s.stops())
		s.crash()
		s.price("49000") // the stop fills unobserved
		s.plan = hold(-10)
		s.until("a start", func() bool { return s.w.daemon.up })
		s.pass(20)
		s.wantHeld(-10)
		want(s, "starts", 2, s.w.daemon.life)
		want(s, "stops", 1, s.stops())
		s.wantSound()
	}, hold(10), protected)},
	{27, "freqtrade/freqtrade#11608", "a stop left behind after the trade closed", staging(func(s *stage) {
		s.pass(10)
		s.plan = hold(0)
		s.pass(20)
		s.wantHeld(0)
		want(s, "orders left", 0, len(s.orders()))
	}, hold(10), protected)},
	{28, "freqtrade/freqtrade#12528", "the stop placed again after the position had closed", staging(func(s *stage) {
		s.pass(10)
		s.inject(StaleRead, 2, asking(exchange.FuturesOpenPositions)) // the position is listed a little longer than it exists
		s.price("49000")
		s.pass(40)
		s.wantHeld(0)
		want(s, "orders left", 0, len(s.orders()))
	}, hold(10), protected)},
	{29, "freqtrade/freqtrade#2799", "the stop placed again after the position had closed, and the amount sold a second time", staging(func(s *stage) {
		s.pass(10)
		s.inject(LostAnswer, 1, placing)
		s.plan = hold(0)
		s.pass(60)
		s.wantHeld(0) // not -10
		want(s, "orders left", 0, len(s.orders()))
	}, hold(10), protected)},
	{30, "freqtrade/freqtrade#6392", "the stop was executed (404 for the order), the trade still \"open\", its slot blocked", staging(func(s *stage) {
		s.pass(10)
		id := s.orders()[0].ID
		s.forge = func(f *flight) {
			if f.call.Request.Operation == exchange.FuturesOrder && f.call.Request.OrderID == id {
				f.answer, f.err = exchange.Answer{}, &exchange.Refusal{Operation: exchange.FuturesOrder, Status: 404, Code: 2031, Message: "no such order"}
			}
		}
		s.contradicted()
		s.price("49000")
		s.pass(60)
		s.wantState("quarantined") // never "lost": a person decides, and the symbol is free again
		s.person(&engine.EventResolve{Symbol: bitcoin, Adopt: true, Reason: "the stop filled"})
		s.heal()
		s.plan = hold(-10)
		s.pass(20)
		s.wantHeld(-10)
	}, hold(10), protected)},
	{31, "nautechsystems/nautilus_trader#4736", "a warm restart booked an opposite fill: believed flat while the venue held the position",
		staging(func(s *stage) {
			s.pass(10)
			for range 3 {
				before := fills(s)
				s.restart()
				s.pass(10)
				s.wantHeld(10)
				want(s, "fills booked by the restart", before, fills(s))
			}
			want(s, "openings sent", 1, s.sent(opening))
		}, hold(10))},
	{32, "nautechsystems/nautilus_trader#3176", "duplicates created on every restart", staging(func(s *stage) {
		s.pass(5)
		for range 5 {
			s.restart()
			s.pass(5)
		}
		want(s, "bids on the exchange", 2, len(s.orders()))
		want(s, "openings sent", 2, s.sent(opening))
	}, bids(49_000, 48_000))},
	{33, "nautechsystems/nautilus_trader#3046", "fills replayed on restart", staging(func(s *stage) {
		s.pass(5)
		s.take(s.orders()[0].ID, 4)
		s.pass(16)
		s.wantHeld(4)
		for range 3 {
			s.restart()
			s.pass(5)
			s.wantHeld(4)
		}
	}, bids(49_000))},
	{34, "nautechsystems/nautilus_trader#3476", "part fills counted twice", staging(func(s *stage) {
		s.pass(5)
		for filled := range exchange.Quantity(3) {
			s.take(s.orders()[0].ID, 2)
			s.pass(16)
			s.wantHeld(2 * (filled + 1))
		}
		s.take(s.orders()[0].ID, 4)
		s.pass(16)
		s.wantHeld(10)
	}, bids(49_000))},
	{35, "nautechsystems/nautilus_trader#5000", "SIGKILL and restart dropped fourteen working orders", staging(func(s *stage) {
		s.pass(40)
		want(s, "bids on the exchange", 14, len(s.orders()))
		s.restart()
		s.pass(5)
		want(s, "orders in the book", 14, s.tracker().LiveCount())
		s.pass(15)
		want(s, "bids on the exchange", 14, len(s.orders()))
		want(s, "openings sent", 14, s.sent(opening))
	}, bids(49_000, 48_900, 48_800, 48_700, 48_600, 48_500, 48_400, 48_300, 48_200, 48_100, 48_000, 47_900, 47_800, 47_700))},
	{36, "nautechsystems/nautilus_trader#3878", "reconciliation was not deterministic", func(t *testing.T) {
		for seed := uint64(1); seed <= 5; seed++ {
			if one, two := Run(Options{Seed: seed}), Run(Options{Seed: seed}); one.Hash != two.Hash {
				t.Errorf("seed %d: want %x, have %x", seed, one.Hash, two.Hash)
			}
		}
	}},
	{37, "nautechsystems/nautilus_trader#3622", "position reconciliation never converged", staging(func(s *stage) {
		s.pass(10)
		s.manualTrade(exchange.Buy, 5, false)
		s.pass(25)
		s.wantState("quarantined")
		s.person(&engine.EventResolve{Symbol: bitcoin, Adopt: true, Reason: "mine"})
		s.pass(20)
		s.wantSound()
		s.wantHeld(10) // adopted, and brought back to the target
	}, hold(10))},
	{38, "nautechsystems/nautilus_trader#3081", "the cached state could not be loaded again", staging(func(s *stage) {
		s.plan = func(view *strategy.View, plan *strategy.Plan) {
			hold(10)(view, plan)
			plan.Remember("began", view.NowMS)
		}
		s.pass(10)
		s.crash()
		for range s.w.disk.records { // whatever was written last
			s.until("a start", func() bool { return s.w.daemon.up })
			s.crash()
		}
		s.until("a start", func() bool { return s.w.daemon.up })
		s.pass(5)
		s.wantHeld(10)
	}, hold(10))},
	{39, "nautechsystems/nautilus_trader#1001", "the position doubled internally once in twenty to sixty orders", staging(func(s *stage) {
		for n := range exchange.Quantity(60) {
			s.plan = hold(n + 1)
			s.pass(3)
		}
		s.pass(5)
		s.wantHeld(60)
		want(s, "openings sent", 60, s.sent(opening))
	}, hold(0))},
	{40, "nautechsystems/nautilus_trader#3869", "fills never delivered", staging(func(s *stage) {
		s.inject(LostAnswer, 30, asking(exchange.FuturesOrder)) // the only read that shows the fill
		s.until("a fill", func() bool { return s.held() == 10 })
		s.pass(20)
		want(s, "not believed flat and free", true, !s.state().Settled() || s.state().Known() == 10)
		s.heal()
		s.pass(20)
		s.wantHeld(10)
		want(s, "openings sent", 1, s.sent(opening))
	}, hold(10))},
	{41, "Drakkar-Software/OctoBot#3190", "stop and take-profit lost on restart, buys left unprotected", staging(func(s *stage) {
		s.pass(10)
		want(s, "stop and take-profit", 2, len(s.orders()))
		s.crash()
		for _, o := range s.orders() {
			s.cancel(o.ID)
		}
		s.until("a start", func() bool { return s.w.daemon.up })
		s.pass(3)
		want(s, "stop and take-profit again", 2, len(s.orders()))
		want(s, "stops", 1, s.stops())
	}, hold(10), protected)},
	{42, "bitfinexcom/bfx-hf-ui#122", "a restart duplicated the atomic order", staging(func(s *stage) {
		s.inject(SlowAnswer, 5, placing)
		s.until("an order taken", func() bool { return s.held() == 10 })
		s.restart()
		s.pass(60)
		s.wantHeld(10)
		want(s, "openings sent", 1, s.sent(opening))
	}, hold(10))},
}

// fills counts the fills in the journal.
func fills(s *stage) (n int) {
	for i := range s.w.disk.records {
		if kind := s.w.disk.records[i].Kind(); kind == record.KindFill || kind == record.KindEnded {
			n++
		}
	}
	return n
}
