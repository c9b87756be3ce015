package backtest

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"hash"
	"strconv"

	"botd/exchange"
)

// rows writes trips and executions.
func (r *Result) rows(run *run) {
	l, texts := &run.ledger, texts{}
	r.Trips, r.Executions = make([]TripRow, len(l.trips)), make([]Execution, len(l.fills))
	for i := range l.trips {
		t, row := &l.trips[i], &r.Trips[i]
		leg := &run.legs[t.leg]
		against, in := t.excursions(leg.symbol)
		*row = TripRow{Symbol: leg.symbol.Name, Strategy: leg.config.Strategy.Name, EnteredMS: t.EnteredMS, LeftMS: t.LeftMS,
			Side: t.Side.String(), Adverse: rounded(against * 100), Favourable: rounded(in * 100), EntryReason: t.EntryTag.why,
			ExitPurpose: t.ExitTag.purpose, ExitReason: t.ExitTag.why}
		texts.put(&row.Quantity, leg.symbol.QuantityAmount(t.Quantity))
		texts.put(&row.Entry, t.Entry)
		texts.put(&row.Exit, t.Exit)
		texts.put(&row.Fees, t.Fees)
		texts.put(&row.Funding, t.Funding)
		texts.put(&row.Slippage, t.Slippage)
		texts.put(&row.PNL, t.PNL)
	}
	for i := range l.fills {
		f, row := &l.fills[i], &r.Executions[i]
		symbol := run.legs[f.leg].symbol
		*row = Execution{TimeMS: f.TimeMS, Symbol: symbol.Name, Side: f.Side.String(), FeeAsset: f.FeeAsset, Role: f.role(), Purpose: f.tag.purpose}
		texts.put(&row.Price, symbol.PriceAmount(f.Price))
		texts.put(&row.Quantity, symbol.QuantityAmount(f.Quantity))
		texts.put(&row.Fee, f.Fee)
		texts.put(&row.Slippage, f.Slipped)
	}
	texts.done()
}

// texts makes many texts of amounts, each a part of one long one: a text of its own for each would be eleven allocations a fill.
type texts struct {
	all  []byte
	ends []int
	into []*string
}

func (t *texts) put(into *string, a exchange.Amount) {
	t.all = a.Append(t.all)
	t.ends, t.into = append(t.ends, len(t.all)), append(t.into, into)
	if len(t.all) > 1<<16 {
		t.done()
	}
}

// done gives each its text.
func (t *texts) done() {
	all, from := string(t.all), 0
	for i, end := range t.ends {
		*t.into[i] = all[from:end]
		from = end
	}
	t.all, t.ends, t.into = t.all[:0], t.ends[:0], t.into[:0]
}

func (f *fill) role() string {
	if f.Maker {
		return "maker"
	}
	return "taker"
}

// noRows is how the JSON of a result ends that has no rows.
const noRows = `"executions":[],"trades":[]}`

// signRows signs a result that has no rows yet as if it had them: they are written into the hash and kept nowhere.
func (r *Result) signRows(run *run) error {
	body, err := r.signed()
	if err != nil {
		return err
	}
	head, last := bytes.CutSuffix(body, []byte(noRows))
	if !last {
		return errors.New("hash the result: its rows are not the last that it has")
	}
	w := rowWriter{run: run, hash: sha256.New()}
	w.hash.Write(head)
	w.write(`"executions":[`)
	for i := range run.ledger.fills {
		w.comma(i)
		w.execution(&run.ledger.fills[i])
	}
	w.write(`],"trades":[`)
	for i := range run.ledger.trips {
		w.comma(i)
		w.trip(&run.ledger.trips[i])
	}
	w.write("]}")
	w.hash.Write(w.text)
	r.ResultSHA256 = hex.EncodeToString(w.hash.Sum(nil))
	return nil
}

// rowWriter writes rows as encoding/json writes an Execution and a TripRow.
type rowWriter struct {
	run   *run
	hash  hash.Hash
	text  []byte // not in the hash yet
	words []word
}

// word is a text, and the same as JSON.
type word struct {
	text string
	json []byte
}

func (w *rowWriter) write(text string) { w.text = append(w.text, text...) }

// comma separates rows, and hands what there is to the hash now and then.
func (w *rowWriter) comma(i int) {
	const most = 1 << 14
	if len(w.text) > most {
		w.hash.Write(w.text)
		w.text = w.text[:0]
	}
	if i > 0 {
		w.write(",")
	}
}

func (w *rowWriter) integer(key string, n int64) {
	w.write(key)
	w.text = strconv.AppendInt(w.text, n, 10)
}

func (w *rowWriter) amount(key string, a exchange.Amount) {
	w.write(key)
	w.write(`"`)
	w.text = a.Append(w.text)
	w.write(`"`)
}

// share writes a number that rounded made: none is so small or large that JSON has an exponent.
func (w *rowWriter) share(key string, f float64) {
	w.write(key)
	w.text = strconv.AppendFloat(w.text, f, 'f', -1, 64)
}

// word writes a text. Mostly it is one of a few.
func (w *rowWriter) word(key, text string) {
	const few = 16
	w.write(key)
	for i := range w.words {
		if w.words[i].text == text {
			w.text = append(w.text, w.words[i].json...)
			return
		}
	}
	known, _ := json.Marshal(text) // a string has JSON
	if len(w.words) < few {
		w.words = append(w.words, word{text, known})
	}
	w.text = append(w.text, known...)
}

func (w *rowWriter) execution(f *fill) {
	symbol := w.run.legs[f.leg].symbol
	w.integer(`{"time_ms":`, f.TimeMS)
	w.word(`,"symbol":`, symbol.Name)
	w.word(`,"side":`, f.Side.String())
	w.amount(`,"price":`, symbol.PriceAmount(f.Price))
	w.amount(`,"quantity":`, symbol.QuantityAmount(f.Quantity))
	w.amount(`,"fee":`, f.Fee)
	w.word(`,"fee_asset":`, f.FeeAsset)
	w.word(`,"role":`, f.role())
	w.amount(`,"slippage":`, f.Slipped)
	w.word(`,"purpose":`, f.tag.purpose)
	w.write("}")
}

func (w *rowWriter) trip(t *Trip) {
	leg := &w.run.legs[t.leg]
	against, in := t.excursions(leg.symbol)
	w.word(`{"symbol":`, leg.symbol.Name)
	w.word(`,"strategy":`, leg.config.Strategy.Name)
	w.integer(`,"entered_ms":`, t.EnteredMS)
	w.integer(`,"left_ms":`, t.LeftMS)
	w.word(`,"side":`, t.Side.String())
	w.amount(`,"quantity":`, leg.symbol.QuantityAmount(t.Quantity))
	w.amount(`,"entry_price":`, t.Entry)
	w.amount(`,"exit_price":`, t.Exit)
	w.amount(`,"fees":`, t.Fees)
	w.amount(`,"funding":`, t.Funding)
	w.amount(`,"slippage":`, t.Slippage)
	w.amount(`,"pnl":`, t.PNL)
	w.share(`,"mae_pct":`, rounded(against*100))
	w.share(`,"mfe_pct":`, rounded(in*100))
	w.word(`,"entry_reason":`, t.EntryTag.why)
	w.word(`,"exit_purpose":`, t.ExitTag.purpose)
	w.word(`,"exit_reason":`, t.ExitTag.why)
	w.write("}")
}
