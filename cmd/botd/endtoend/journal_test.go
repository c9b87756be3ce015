package endtoend

import (
	"context"
	"crypto/sha256"
	"database/sql"
	"encoding/hex"
	"os"
	"path/filepath"

	"github.com/rogpeppe/go-internal/testscript"

	"botd/exchange"
	"botd/reconcile"
	"botd/reconcile/journal"
	"botd/reconcile/ledger"
	"botd/reconcile/placement"
	"botd/reconcile/record"
)

// written creates a journal with a strategy's order, its fee, and an unexplained change of the wallet.
func written(script *testscript.TestScript, _ bool, arguments []string) {
	path := script.MkAbs(arguments[0])
	script.Check(os.MkdirAll(filepath.Dir(path), 0o700))
	binding := journal.Binding{Mode: "demo", Instance: "main"}
	store, err := journal.Open(context.Background(), path, binding, journal.Options{})
	script.Check(err)
	tracker := reconcile.NewTracker(placement.Bounds{})
	add := func(records ...record.Record) {
		for i := range records {
			tracker.Apply(&records[i])
		}
		script.Check(store.Append(context.Background(), records))
	}
	key := exchange.SymbolKey{Market: exchange.Futures, Name: "BTC-USDT"}
	entry := func(atMS int64, wallet string, open ...ledger.Position) {
		r := ledger.Reading{
			AtMS:   atMS,
			Market: exchange.Futures,
			Wallet: []ledger.Asset{{Name: "USDT", Amount: exchange.MustAmount(wallet)}},
			Open:   open,
		}
		if len(open) == 0 {
			r.Instruments = []ledger.Instrument{
				{Symbol: key, Base: "BTC", Quote: "USDT", Unit: exchange.MustAmount("0.001"), Grid: exchange.MustAmount("0.0001"), FundingHours: 8},
			}
		}
		add(record.Record{AtMS: atMS, Body: record.Posting{Posting: ledger.Posting{Reading: r, Lines: tracker.Ledger().Lines(&r)}}})
	}
	const start = 1_800_000_000_000
	order := exchange.NewOrder{
		Market:        exchange.Futures,
		Symbol:        "BTC-USDT",
		Side:          exchange.Buy,
		Type:          exchange.MarketOrder,
		Quantity:      10,
		ClientOrderID: "bmain-1-1",
	}
	about := record.Record{AtMS: start + 1_000, Strategy: "trend", Symbol: key, ClientOrderID: order.ClientOrderID}
	sending, ended := about, about
	sending.Body = record.Sending{Order: order, Purpose: placement.Entry}
	ended.Body = record.Ended{State: placement.Filled, OrderID: 7, Filled: 10, Evidence: "fetched FILLED"}
	leg := ledger.Position{
		ID:         1,
		Symbol:     "BTC-USDT",
		Opened:     exchange.MustAmount("0.01"),
		Remaining:  exchange.MustAmount("0.01"),
		EntryPrice: exchange.AmountOf(50_000),
	}
	add(record.Record{AtMS: start, Body: record.Boot{Epoch: 1, Account: binding.Text()}})
	entry(start, "10000")
	add(sending, ended)
	entry(start+3_000, "9999.75", leg)
	entry(start+60_000, "10099.75", leg)
	script.Check(store.Close())
}

// altered changes a journal's file by a statement, as a person could.
func altered(script *testscript.TestScript, _ bool, arguments []string) {
	db, err := sql.Open("sqlite", "file:"+script.MkAbs(arguments[0]))
	script.Check(err)
	_, err = db.Exec(arguments[1])
	script.Check(err)
	script.Check(db.Close())
}

// rewritten changes a journal's records and recomputes the whole chain, as anyone with write access can:
// rewrite FILE OLD NEW.
func rewritten(script *testscript.TestScript, _ bool, arguments []string) {
	db, err := sql.Open("sqlite", "file:"+script.MkAbs(arguments[0]))
	script.Check(err)
	defer db.Close()
	var bodies []string
	rows, err := db.Query("SELECT replace(body, ?, ?) FROM record ORDER BY sequence", arguments[1], arguments[2])
	script.Check(err)
	for rows.Next() {
		var body string
		script.Check(rows.Scan(&body))
		bodies = append(bodies, body)
	}
	script.Check(rows.Err())
	previous := ""
	for i, body := range bodies {
		sum := sha256.Sum256([]byte(previous + body))
		hash := hex.EncodeToString(sum[:])
		_, err := db.Exec("UPDATE record SET body = ?, previous = ?, hash = ? WHERE sequence = ?", body, previous, hash, i+1)
		script.Check(err)
		previous = hash
	}
}
