package simulation

import (
	"slices"
	"testing"

	"botd/exchange"
	"botd/reconcile/placement"
	"botd/strategy"
)

type planner = func(*strategy.View, *strategy.Plan)

var _ = testing.Short

// incidentsOfPlacing concern uncertain placements that became duplicates or untracked orders.
var incidentsOfPlacing = []incident{
	{1, "hummingbot/hummingbot#493", "timeouts were treated as failure: two generations of orders live at once", staging(func(s *stage) {
		s.inject(LostAnswer, 2, placing)
		s.pass(60)
		want(s, "bids on the exchange", 2, len(s.orders()))
		want(s, "openings sent", 2, s.sent(opening))
	}, bids(49_000, 48_000))},
	{2, "hummingbot/hummingbot#601", "\"order does not exist\" right after create: failure event, duplicates until the balance was gone",
		staging(func(s *stage) {
			s.inject(Hidden, 1, placing) // lists and GET omit it for seconds
			s.pass(30)
			want(s, "openings sent", 1, s.sent(opening))
			want(s, "bids on the exchange", 1, len(s.orders()))
			s.wantSound()
		}, bids(49_000))},
	{3, "hummingbot/hummingbot#3374", "network errors, orders forgotten: six \"dead\" buys filled later", staging(func(s *stage) {
		s.inject(LostAnswer, 3, placing)
		s.pass(90)
		want(s, "bids on the exchange", 3, len(s.orders()))
		s.price("47500")
		s.pass(16) // an idle round
		s.wantHeld(30)
		want(s, "openings sent", 3, s.sent(opening))
	}, bids(49_000, 48_500, 48_000))},
	{4, "hummingbot/hummingbot#8457", "six accepted sells marked as failed after a DNS outage: a short nobody tracked", staging(func(s *stage) {
		s.inject(LostAnswer, 1, placing)
		s.until("an opening", func() bool { return s.sent(opening) == 1 })
		s.w.outageMS = s.w.nowMS + 45_000
		s.pass(40)
		s.wantState("blind")
		s.pass(50)
		s.wantHeld(-10)
		want(s, "openings sent", 1, s.sent(opening))
	}, hold(-10))},
	{5, "hummingbot/hummingbot#397", "orders on the exchange the bot reported as missing", staging(func(s *stage) {
		s.inject(LostAnswer, 1, placing)
		s.pass(15)
		live := slices.Collect(s.tracker().Live())
		want(s, "orders in the book", 1, len(live))
		want(s, "its id is the exchange's", s.orders()[0].ID, live[0].OrderID())
		want(s, "its state", placement.Working, live[0].State())
	}, bids(49_000))},
	{6, "hummingbot/gateway#240", "an order was created on the exchange and lost on the client", staging(func(s *stage) {
		s.inject(SlowAnswer, 1, placing)
		s.until("an order on the exchange", func() bool { return len(s.orders()) == 1 })
		s.restart() // before the answer
		s.pass(10)
		want(s, "openings sent", 1, s.sent(opening))
		want(s, "orders in the book", 1, s.tracker().LiveCount())
		s.wantSound()
	}, bids(49_000))},
	{7, "scrtlabs/catalyst#317", "a read timeout, \"ordering again\", ordered twice", staging(func(s *stage) {
		s.inject(LostAnswer, 1, placing)
		s.pass(60)
		s.wantHeld(10)
		want(s, "openings sent", 1, s.sent(opening))
	}, hold(10))},
	{8, "scrtlabs/catalyst#315", "a read timeout while the order was still under way, ordered twice", staging(func(s *stage) {
		s.inject(LateRequest, 1, placing) // arrives after the timeout
		s.pass(60)
		s.wantHeld(10)
		want(s, "openings sent", 1, s.sent(opening))
	}, hold(10))},
	{9, "s4w3d0ff/python-poloniex#109", "one second of patience and a retry: duplicates one id apart", staging(func(s *stage) {
		s.inject(SlowAnswer, 3, placing)
		s.pass(60)
		s.wantHeld(10)
		want(s, "openings sent", 1, s.sent(opening))
	}, hold(10))},
	{10, "freqtrade/freqtrade#11461", "a filled order seen as canceled: the same order again", staging(func(s *stage) {
		lies := 0
		s.forge = func(f *flight) {
			if f.call.Request.Operation == exchange.FuturesOrder && f.err == nil {
				f.answer.Order.Status, f.answer.Order.Filled = exchange.StatusCanceled, 0
				lies++
			}
		}
		s.contradicted()
		s.pass(60)
		want(s, "it lied", true, lies > 0)
		want(s, "openings sent", 1, s.sent(opening))
		s.wantState("quarantined")
	}, hold(10))},
	{11, "freqtrade/freqtrade#4403", "an order \"not found\" after placing: five tries, then considered lost", staging(func(s *stage) {
		s.inject(Hidden, 1, placing)
		s.until("an order", func() bool { return len(s.orders()) == 1 })
		s.w.venue.hidden[s.orders()[0].ID] = s.w.nowMS + 5_900 // as long as the bounds allow
		s.pass(5.5)
		want(s, "still its", 1, s.tracker().LiveCount())
		s.pass(10)
		want(s, "openings sent", 1, s.sent(opening))
		s.wantSound()
	}, bids(49_000))},
	{12, "freqtrade/freqtrade#8913", "\"order #None was created\": it could not be restarted while the order was open", staging(func(s *stage) {
		s.forge = func(f *flight) {
			if placing(f) {
				f.answer.Order.ID, f.answer.Order.ClientOrderID = 0, ""
			}
		}
		s.until("an order", func() bool { return len(s.orders()) == 1 })
		s.forge = func(*flight) {}
		s.restart()
		s.pass(10)
		want(s, "orders in the book", 1, s.tracker().LiveCount())
		want(s, "its id is the exchange's", s.orders()[0].ID, s.tracker().LiveAt(0).OrderID())
		want(s, "openings sent", 1, s.sent(opening))
	}, bids(49_000))},
	{13, "nautechsystems/nautilus_trader#4215", "a retry after OrderAccepted: only the venue's own check saved it", staging(func(s *stage) {
		s.inject(LostAnswer, 1, placing)
		s.pass(60)
		for id, a := range s.w.venue.placed {
			want(s, id+" was sent", 1, a.sends)
			want(s, id+" was taken", 1, a.executed)
		}
	}, hold(10))},
	{14, "nautechsystems/nautilus_trader#4152", "an ambiguous submit became INFLIGHT_TIMEOUT without evidence", staging(func(s *stage) {
		s.inject(LostRequest, 1, placing)
		s.until("an opening", func() bool { return s.sent(opening) == 1 })
		s.inject(LostAnswer, 1_000, asking(exchange.FuturesOpenPositions)) // no evidence is available
		s.pass(60)
		live := slices.Collect(s.tracker().Live())
		want(s, "placements not ended", 1, len(live))
		want(s, "its state", placement.Uncertain, live[0].State())
		s.wantState("blind")
		s.heal()
		s.pass(60)
		s.wantHeld(10) // proven absent, decided again
	}, hold(10))},
	{15, "nautechsystems/nautilus_trader#4160", "a market order that filled was reported as rejected: a silently orphaned position", staging(func(s *stage) {
		s.inject(LostAnswer, 1, placing)
		s.pass(10)
		want(s, "on the exchange", 10, s.held())
		want(s, "stops, before the order's fate is known", 1, s.stops())
		s.pass(50)
		s.wantHeld(10)
		s.wantSound()
	}, hold(10), protected)},
	{16, "c9s/bbgo#1100", "retries used different client ids", staging(func(s *stage) {
		s.inject(LostRequest, 1, placing)
		s.pass(18)
		want(s, "placements before the fence", 1, s.sent(every))
		s.pass(60)
		s.wantHeld(10)
		want(s, "placements after it", 2, s.sent(every))
	}, hold(10))},
	{17, "enarjord/passivbot#514", "a cancel failed because the order had filled, read as \"never existed\", placed again: double exposure",
		staging(func(s *stage) {
			s.pass(5)
			id := s.orders()[0].ID
			filled := false
			s.plan = bids(48_000) // the bid at 49000 is to be canceled
			s.forge = func(f *flight) {
				if f.call.Request.Operation == exchange.FuturesPlace {
					return
				}
				if f.call.Request.Operation == exchange.FuturesCancel && f.call.Request.OrderID == id {
					want(s, "the cancel is refused", true, filled && f.err != nil)
				}
				if filled {
					return
				}
				filled = true
				s.price("48900") // just before the cancel arrives
			}
			s.pass(20)
			s.wantHeld(10)
			want(s, "bids on the exchange", 1, len(s.orders()))
			want(s, "openings sent", 2, s.sent(opening))
		}, bids(49_000))},
	{18, "enarjord/passivbot#980", "a fill taken in later than the loop ran: the same entry twice, 142 % of the exposure limit", staging(func(s *stage) {
		s.inject(StaleRead, 12, asking(exchange.FuturesOpenOrders, exchange.FuturesOpenPositions))
		s.pass(60)
		s.wantHeld(10)
		want(s, "openings sent", 1, s.sent(opening))
	}, hold(10), limited(10))},
	{19, "Haehnchen/crypto-trading-bot#53", "\"force retry\" executed an order several times", staging(func(s *stage) {
		s.inject(ServerError, 1, placing)
		s.pass(90)
		s.wantHeld(10)
		for id, a := range s.w.venue.placed {
			want(s, id+" was sent", 1, a.sends)
		}
	}, hold(10))},
	{20, "marketcalls/openalgo#721", "an empty body although the order was accepted", staging(func(s *stage) {
		s.inject(Malformed, 1, placing)
		s.pass(60)
		s.wantHeld(10)
		want(s, "openings sent", 1, s.sent(opening))
	}, hold(10))},
	{21, "BTCTrader/broker-api-docs#558", "\"\" although the order was accepted, on spot", staging(func(s *stage) {
		s.inject(Malformed, 1, placing)
		s.pass(60)
		want(s, "openings sent", 1, s.sent(opening))
		want(s, "bought about 1000", true, s.held() > 950 && s.held() <= 1_000)
		s.wantSound()
	}, hold(1_000), onSpot)},
	{22, "DeviaVir/zenbot#374", "a nonce error on the open orders was read as \"sell completed\"", staging(func(s *stage) {
		s.pass(5)
		s.forge = func(f *flight) {
			if f.call.Request.Operation == exchange.FuturesOpenOrders {
				f.err = &exchange.Refusal{Operation: f.call.Request.Operation, Status: 401, Code: exchange.CodeInvalidTimestamp,
					Message: "timestamp outside the window"}
			}
		}
		s.plan = bids(49_000, 48_000) // a change, so that rounds run
		s.pass(10)
		want(s, "orders in the book", 1, s.tracker().LiveCount())
		want(s, "nothing was concluded", placement.Working, s.tracker().LiveAt(0).State())
		want(s, "openings sent", 1, s.sent(opening))
	}, bids(49_000))},
}
