package simulation

import (
	"github.com/shopspring/decimal"

	"botd/exchange"
	"botd/strategy"
)

// incidentsOfOrders concern cancels that race with fills, partial fills, and repeated refusals.
var incidentsOfOrders = []incident{
	{43, "hummingbot/hummingbot#2501", "filled while it was being canceled: the hedge was never sent", staging(func(s *stage) {
		s.pass(5)
		id := s.orders()[0].ID
		s.plan = func(view *strategy.View, plan *strategy.Plan) { // no more bids; sell what was bought
			plan.OrdersSet, plan.ExitsSet, plan.Reason = true, true, "hedge"
			if view.Position.Quantity > 0 {
				price, _ := view.Symbol.Price(decimal.NewFromInt(51_000))
				plan.Exits = []strategy.DesiredOrder{{Key: "hedge", Side: exchange.Sell, Price: price, Quantity: view.Position.Quantity}}
			}
		}
		s.forge = func(f *flight) {
			if f.call.Request.Operation == exchange.FuturesCancel && f.err == nil && s.held() == 0 {
				s.price("48900") // it fills before the cancel takes effect
			}
		}
		s.pass(30)
		s.wantHeld(10)
		want(s, "the hedge rests", 1, len(s.orders()))
		want(s, "another order than the bid", true, s.orders()[0].ID != id)
	}, bids(49_000))},
	{44, "hummingbot/hummingbot#7139", "filled while it was being canceled, its cancel refused: the hedge was never sent", staging(func(s *stage) {
		s.pass(5)
		s.price("48900")
		s.plan = hold(0) // decided before the fill is known
		s.pass(20)
		s.wantHeld(0)
		want(s, "exits sent", 1, s.sent(exiting))
	}, bids(49_000))},
	{45, "chrisleekr/binance-trading-bot#576", "stuck after a cancel of an order that was filled in part", staging(func(s *stage) {
		s.pass(5)
		s.take(s.orders()[0].ID, 4)
		moved := func(_ *strategy.View, plan *strategy.Plan) {
			price := s.w.venue.held[s.key].rules.FloorPrice(exchange.Price(48_000) * 100_000_000)
			plan.OrdersSet, plan.Orders, plan.Reason = true, []strategy.DesiredOrder{{Key: "49000", Side: exchange.Buy, Price: price, Quantity: 10}}, "moved"
		}
		s.plan = moved
		s.pass(30)
		s.wantHeld(4)
		want(s, "bids on the exchange", 1, len(s.orders()))
		want(s, "the remainder", 6, s.orders()[0].Quantity)
	}, bids(49_000))},
	{46, "freqtrade/freqtrade#2877", "filled in part, a stop impossible, a force-sell loop", staging(func(s *stage) {
		s.pass(5)
		s.take(s.orders()[0].ID, 1) // less than the minimum notional of an order at a lower price
		s.pass(16)
		want(s, "stops", 1, s.stops())
		want(s, "the stop needs no quantity", true, s.sent(func(a *placed) bool { return a.order.ClosePosition }) > 0)
		s.pass(60)
		want(s, "stops ever sent", 1, s.sent(stopping))
	}, bids(49_000), protected)},
	{47, "freqtrade/freqtrade#8374", "a stop that was filled in part was mishandled", staging(func(s *stage) {
		s.pass(10)
		stop := s.orders()[0]
		s.price("49500") // triggered: a limit order now
		s.pass(2)
		rest := s.held()
		want(s, "the stop is under way or done", true, rest < 1_000 || len(s.orders()) > 0 && s.orders()[0].ID == stop.ID)
		s.pass(60)
		want(s, "nothing but dust is left", true, s.held() < 20)
	}, hold(1_000), onSpot, protected)},
	{48, "freqtrade/freqtrade#13537", "a check for dust blocked every exit, the stop included, for half an hour", staging(func(s *stage) {
		s.pass(10)
		s.w.venue.held[s.key].rules.MinNotional = exchange.AmountOf(1_000) // the position is worth 500, so it is dust now
		s.w.weather[RuleDrift] = 1
		s.plan = hold(0)
		s.pass(20)
		want(s, "stops a tick from the price", 1, s.stops()) // closePosition has no quantity that could be too small
		s.price("49999")
		s.pass(20)
		s.wantHeld(0)
		want(s, "orders sent: the entry, an exit refused once, the stop", 3, s.sent(every))
	}, hold(10))},
	{49, "freqtrade/freqtrade#6739", "-2022, ReduceOnly rejected, repeated every loop", staging(func(s *stage) {
		s.pass(10)
		s.plan = hold(0)
		s.until("an exit on its way", func() bool { return len(s.w.venue.inFlight) > 0 })
		s.manualTrade(exchange.Sell, 10, true) // just before it arrives
		s.pass(60)
		s.wantHeld(0)
		want(s, "exits sent", 1, s.sent(exiting))
	}, hold(10))},
	{50, "jesse-ai/jesse#354", "an exit's answer without an order id, then -2022 for ever", staging(func(s *stage) {
		s.pass(10)
		s.forge = func(f *flight) {
			if f.call.Request.Operation == exchange.FuturesPlace {
				f.answer.Order.ID = 0
			}
		}
		s.plan = hold(0)
		s.pass(10)
		s.heal()
		s.pass(50)
		s.wantHeld(0)
		want(s, "exits sent are few", true, s.sent(exiting) <= 3)
		s.wantSound()
	}, hold(10))},
	{51, "xLydianSoftware/Qubx#386", "full-size reduceOnly stop and profit leave no room: the position cannot be closed", staging(func(s *stage) {
		s.pass(10)
		want(s, "stop and take-profit", 2, len(s.orders()))
		s.plan = hold(0)
		s.pass(5)
		s.wantHeld(0)
		want(s, "exits sent", 1, s.sent(exiting))
	}, hold(10), protected)},
	{52, "JKorf/Binance.Net#716", "the exchange changed a tick: -4014", staging(func(s *stage) {
		s.pass(5)
		s.w.venue.held[s.key].rules.PriceTick *= 5
		s.w.weather[RuleDrift] = 1 // botd is not to blame for the first refusal
		s.plan = hold(20)          // stops now need another price
		s.pass(60)
		s.wantHeld(20)
		want(s, "stops", 1, s.stops())
	}, hold(10), protected)},
	{53, "Polymarket/py-clob-client#282", "a stale cache of ticks: refused until a restart", staging(func(s *stage) {
		s.pass(5)
		s.w.venue.held[s.key].rules.PriceTick *= 5
		s.w.weather[RuleDrift] = 1
		s.plan = func(view *strategy.View, plan *strategy.Plan) { // a multiple of the old tick, and of the new one once it is known
			price, _ := view.Symbol.Price(decimal.RequireFromString("48123.7"))
			plan.OrdersSet, plan.Orders, plan.Reason = true,
				[]strategy.DesiredOrder{{Key: "a", Side: exchange.Buy, Price: view.Symbol.FloorPrice(price), Quantity: 10}}, "a bid"
		}
		s.pass(30)
		refused := 0
		for _, a := range s.w.venue.placed {
			refused += a.refused
		}
		want(s, "refused once, then the rules are read again", 1, refused)
	}, bids(49_000))},
	{54, "hummingbot/hummingbot#462", "insufficient balance, again and again: 100,000 orders a day", staging(func(s *stage) {
		s.pass(120)
		s.wantHeld(0)
		want(s, "placements sent", 0, s.sent(every)) // refused before they are sent
	}, hold(10_000), poor(100))},
	{55, "ccxt/binance-trade-bot#26", "an endless loop of BUY with quantity 0", staging(func(s *stage) {
		s.plan = func(_ *strategy.View, plan *strategy.Plan) {
			plan.Hold(strategy.Target{Kind: strategy.ByQuote, Quote: exchange.AmountOf(1)}, "a dollar's worth")
		}
		s.pass(120)
		want(s, "placements sent", 0, s.sent(every))
		s.wantSound()
	}, hold(0))},
}
