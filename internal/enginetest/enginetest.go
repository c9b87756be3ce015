// Package enginetest makes engine notes of every kind for the tests of packages that read them.
package enginetest

import (
	"fmt"
	"reflect"
	"testing"

	"github.com/shopspring/decimal"

	"botd/exchange"
	"botd/reconcile"
	"botd/reconcile/account"
	"botd/reconcile/placement"
	"botd/reconcile/record"
	"botd/risk"
	"botd/runtime/engine"
	"botd/strategy"
)

// Price parses a price of a symbol.
func Price(t testing.TB, s *exchange.Symbol, text string) exchange.Price {
	t.Helper()
	p, err := s.Price(decimal.RequireFromString(text))
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// Placement returns the placement that a record begins, in the given state.
func Placement(sending record.Record, state placement.State, orderID int64) account.Placement {
	p, _ := account.Begin(&sending)
	return p.In(state, orderID)
}

// Amount parses an amount of money.
func Amount(t testing.TB, text string) exchange.Amount {
	t.Helper()
	a, err := exchange.AmountFromDecimal(decimal.RequireFromString(text))
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// Notes returns a note of every kind except NoteCandles, for a strategy, a symbol, an order and a rule, in the
// order of an order's life; no state in it has ended.
func Notes(t testing.TB, owner string, symbol *exchange.Symbol, id, rule string) []engine.Note {
	t.Helper()
	price, mean, err := Price(t, symbol, "50000"), Amount(t, "50050"), fmt.Errorf("an error with %s", id)
	order := engine.NoteOrder{Purpose: placement.Entry, ClientOrderID: id, OrderID: 7,
		Order: exchange.NewOrder{Market: symbol.Market, Symbol: symbol.Name, Side: exchange.Buy, Type: exchange.MarketOrder, Quantity: 10}}
	intent := &reconcile.Intent{Strategy: owner, Purpose: order.Purpose, Order: order.Order, Last: price, Reason: id}
	var all []engine.Note
	for _, fact := range []engine.Fact{
		engine.NoteCandle{Candle: exchange.Candle{Close: price}}, engine.NoteGap{Missing: 2}, engine.NoteTick{Reason: id},
		engine.NoteMissed{Count: 2, Reason: id},
		engine.NoteDecision{Plan: &strategy.Plan{}, Reason: id, Last: price, Position: 10},
		engine.NoteIntent{Intent: intent}, engine.NoteApproved{Intent: intent},
		engine.NoteRejection{Intent: intent, Rejection: &risk.Rejection{Rule: rule, Value: "1", Limit: "2", Hint: "less"}},
		engine.NotePlaced{NoteOrder: order, Reason: id}, engine.NoteAcknowledged{NoteOrder: order, DurationMS: 120},
		engine.NoteRefused{NoteOrder: order, Reason: id, Err: err}, engine.NoteUncertain{NoteOrder: order, Reason: id, Err: err},
		engine.NoteFill{NoteOrder: order, Quantity: 10, Price: mean, Last: price},
		engine.NoteSettled{NoteOrder: order, State: placement.Filled, Filled: 10, Price: mean, Evidence: id, DurationMS: 120},
		engine.NotePosition{Quantity: 10, EntryPrice: mean, Last: price}, engine.NoteRound{Acted: 2, DurationMS: 120},
		engine.NoteFetchFailed{What: id, Err: err, Count: 2}, engine.NoteStale{Count: 2, Text: id}, engine.NoteFound{NoteOrder: order, Evidence: id},
		engine.NoteAdopted{Quantity: 10, Evidence: id}, engine.NoteIgnored{Quantity: 10, Evidence: id},
		engine.NoteUnexplained{Market: symbol.Market, Asset: "USDT", Amount: mean, Text: id},
		engine.NoteStrategyFailed{Reason: id}, engine.NoteHung{Reason: id}, engine.NoteReload{Text: id},
		engine.NoteNotice{Text: id, Before: 2}, engine.NoteSignal{Text: id, Err: err},
		engine.NoteLatch{Side: 1, Reason: id},
		engine.NoteTransfer{Market: symbol.Market, Asset: "USDT", Amount: mean, Text: id},
		engine.NoteLiquidated{Realized: mean, Text: id}, engine.NoteUnprotected{Reason: id, ForMS: 120},
		engine.NoteIntentRefused{Purpose: placement.Exit, Reason: id},
		engine.NoteQuarantine{Reason: id}, engine.NoteContradicted{Reason: id},
		engine.NoteForeign{OrderID: 7, Reason: id}, engine.NoteHalt{Reason: id}, engine.NoteBlind{Reason: id},
		engine.NoteStalled{Text: id},
		engine.NoteBreaker{Reason: id, PauseMS: 120}, engine.NoteLimit{Rule: rule, Reason: id, ForMS: 120}, engine.NoteLimitSet{Rule: rule, Text: id},
		engine.NoteJournal{Err: err, Reason: id, Records: 2},
	} {
		all = append(all, engine.Note{AtMS: 1_700_000_000_000, Strategy: owner, Symbol: symbol, Fact: fact})
	}
	return all
}

// Ended returns the note that reports the end of the given one; it returns the same note if its kind has no end.
func Ended(n engine.Note) engine.Note {
	switch fact := n.Fact.(type) {
	case engine.NoteRound:
		fact.Complete = true
		n.Fact = fact
	case engine.NoteSignal:
		fact.Err = nil
		n.Fact = fact
	default:
		ended := reflect.New(reflect.TypeOf(n.Fact)).Elem()
		ended.Set(reflect.ValueOf(n.Fact))
		if end := ended.FieldByName("Ended"); end.IsValid() {
			end.SetBool(true)
			n.Fact = ended.Interface().(engine.Fact)
		}
	}
	return n
}
