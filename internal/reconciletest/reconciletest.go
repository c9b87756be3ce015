// Package reconciletest sets what snapshots have shown of a symbol or an account, for the tests of
// packages that read it.
//
// Outside tests only Tracker.Observe can set them, because the fields are not exported. A
// table-driven test of another package needs one symbol in one state, without the reads
// that lead to it.
package reconciletest

import (
	"fmt"
	"reflect"
	"strings"
	"unsafe"

	"botd/exchange"
	"botd/reconcile"
)

// Observed has the fields of a symbol's state that a test may set, under their names in it.
type Observed struct {
	Rules      *exchange.Symbol
	Last, Mark exchange.Price
	LastMS     int64
	Leverage   int

	Position   exchange.Quantity
	Residual   exchange.Quantity
	EntryPrice exchange.Amount
	MarkedAt   exchange.Price
	SinceMS    int64
	LiqPrice   exchange.Amount

	Read, Settled bool
	Unread        bool
	Contradicted  string
	Foreign       []exchange.Order
	UnknownEnded  string

	UnprotectedSinceMS, UnprotectedMS, ForeignSinceMS int64
}

// Account points to what is observed of an account as a whole.
type Account struct {
	Account       *exchange.MarginAccount
	AccountMS     *int64
	OpenPositions *[]exchange.Position
	Balances      *[]exchange.Balance
	WalletMS      *int64
}

// Of returns what is observed of a tracker's account, for a test to set.
func Of(tracker *reconcile.Tracker) Account {
	return Account{
		Account:       field[exchange.MarginAccount](tracker, "marginAccount"),
		AccountMS:     field[int64](tracker, "accountMS"),
		OpenPositions: field[[]exchange.Position](tracker, "openPositions"),
		Balances:      field[[]exchange.Balance](tracker, "balances"),
		WalletMS:      field[int64](tracker, "walletMS"),
	}
}

func field[T any](tracker *reconcile.Tracker, name string) *T {
	of := reflect.ValueOf(tracker).Elem().FieldByName(name)
	if !of.IsValid() || of.Type() != reflect.TypeFor[T]() {
		panic(fmt.Sprintf("reconciletest: the book has no field like %s", name))
	}
	return (*T)(unsafe.Pointer(of.UnsafeAddr()))
}

// Set changes what is observed of a symbol.
func Set(symbol *reconcile.SymbolState, change func(o *Observed)) {
	var o Observed
	own := reflect.ValueOf(&o).Elem()
	state := reflect.ValueOf(symbol).Elem()
	fields := make([]reflect.Value, own.NumField())
	for i := range fields {
		name := own.Type().Field(i).Name
		field := state.FieldByName(strings.ToLower(name[:1]) + name[1:])
		if !field.IsValid() || field.Type() != own.Field(i).Type() {
			panic(fmt.Sprintf("reconciletest: the state of a symbol has no field like %s", name))
		}
		fields[i] = reflect.NewAt(field.Type(), unsafe.Pointer(field.UnsafeAddr())).Elem()
		own.Field(i).Set(fields[i])
	}
	change(&o)
	for i := range fields {
		fields[i].Set(own.Field(i))
	}
}
