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

// rows fills in the round trips and executions.
func (r *Result) rows(run *run) {
	l, texts := &run.ledger, texts{}
	r.Trips, r.Executions = make([]TripRow, len(l.trips)), make([]Execution, len(l.fills))
	for i := range l.trips {
		t, row := &l.trips[i], &r.Trips[i]
		leg := &run.legs[t.leg]
		against, in := t.excursions(leg.symbol)
		*row = TripRow{Symbol: leg.symbol.Name, Strategy: leg.config.Strategy.Name, EnteredMS: t.EnteredMS, LeftMS: t.LeftMS,
			Side: t.Side.String(), Adverse: rounded(float64(against * 100)), Favorable: rounded(float64(in * 100)), EntryReason: l.tags[t.entry].why,
			ExitPurpose: l.tags[t.exit].purpose, ExitReason: l.tags[t.exit].why}
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
		*row = Execution{TimeMS: f.TimeMS, Symbol: symbol.Name, Side: f.Side.String(), FeeAsset: f.feeAsset(symbol), Role: f.role(),
			Purpose: l.tags[f.tag].purpose}
		texts.put(&row.Price, symbol.PriceAmount(f.Price))
		texts.put(&row.Quantity, symbol.QuantityAmount(f.Quantity))
		texts.put(&row.Fee, f.Fee)
		texts.put(&row.Slippage, f.Slipped)
	}
	texts.done()
}

// texts builds many strings as parts of a long one. A separate string for each would take eleven allocations per
// fill.
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

// done assigns each string.
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

// noRows is the end of a result's JSON without rows.
const noRows = `"executions":[],"trades":[]}`

// signRows signs a result without rows as if it had them: it writes the rows to the hash alone.
func (r *Result) signRows(run *run) error {
	body, err := r.signed()
	if err != nil {
		return err
	}
	head, last := bytes.CutSuffix(body, []byte(noRows))
	if !last {
		return errors.New("hash the result: its rows are not its last fields")
	}
	w, hash := rowWriter{run: run}, sha256.New()
	hash.Write(head)
	text := append(make([]byte, 0, 2*maxText), `"executions":[`...)
	for i := range run.ledger.fills {
		text = w.execution(separated(hash, text, i), &run.ledger.fills[i])
	}
	text = append(text, `],"trades":[`...)
	for i := range run.ledger.trips {
		text = w.trip(separated(hash, text, i), &run.ledger.trips[i])
	}
	hash.Write(append(text, "]}"...))
	r.ResultSHA256 = hex.EncodeToString(hash.Sum(nil))
	return nil
}

// maxText bounds the text that is buffered before the hash receives it.
const maxText = 1 << 14

// separated adds a comma before row i, and passes a long buffer to the hash.
func separated(hash hash.Hash, text []byte, i int) []byte {
	if len(text) > maxText {
		hash.Write(text)
		text = text[:0]
	}
	if i > 0 {
		text = append(text, ',')
	}
	return text
}

// rowWriter writes rows as encoding/json writes an Execution and a TripRow.
type rowWriter struct {
	run   *run
	words []word
}

// word is a text with its JSON form.
type word struct {
	text string
	json []byte
}

func appendInteger(text []byte, key string, n int64) []byte {
	return strconv.AppendInt(append(text, key...), n, 10)
}

func appendAmount(text []byte, key string, a exchange.Amount) []byte {
	return append(a.Append(append(text, key...)), '"')
}

// appendShare writes a number from rounded. Such a number never needs an exponent in JSON.
func appendShare(text []byte, key string, f float64) []byte {
	return strconv.AppendFloat(append(text, key...), f, 'f', -1, 64)
}

// word writes a text. Most texts are among a few known ones.
func (w *rowWriter) word(text []byte, key, word string) []byte {
	text = append(text, key...)
	for i := range w.words {
		if w.words[i].text == word {
			return append(text, w.words[i].json...)
		}
	}
	return append(text, w.learn(word)...)
}

// learn returns a text as JSON, and remembers the first few.
func (w *rowWriter) learn(text string) []byte {
	const few = 16
	known, _ := json.Marshal(text) // a string always has a JSON form
	if len(w.words) < few {
		w.words = append(w.words, word{text, known})
	}
	return known
}

func (w *rowWriter) execution(text []byte, f *fill) []byte {
	symbol := w.run.legs[f.leg].symbol
	text = appendInteger(text, `{"time_ms":`, f.TimeMS)
	text = w.word(text, `,"symbol":`, symbol.Name)
	text = w.word(text, `,"side":`, f.Side.String())
	text = appendAmount(text, `,"price":"`, symbol.PriceAmount(f.Price))
	text = appendAmount(text, `,"quantity":"`, symbol.QuantityAmount(f.Quantity))
	text = appendAmount(text, `,"fee":"`, f.Fee)
	text = w.word(text, `,"fee_asset":`, f.feeAsset(symbol))
	text = w.word(text, `,"role":`, f.role())
	text = appendAmount(text, `,"slippage":"`, f.Slipped)
	text = w.word(text, `,"purpose":`, w.run.ledger.tags[f.tag].purpose)
	return append(text, '}')
}

func (w *rowWriter) trip(text []byte, t *Trip) []byte {
	leg, entry, exit := &w.run.legs[t.leg], &w.run.ledger.tags[t.entry], &w.run.ledger.tags[t.exit]
	against, in := t.excursions(leg.symbol)
	text = w.word(text, `{"symbol":`, leg.symbol.Name)
	text = w.word(text, `,"strategy":`, leg.config.Strategy.Name)
	text = appendInteger(text, `,"entered_ms":`, t.EnteredMS)
	text = appendInteger(text, `,"left_ms":`, t.LeftMS)
	text = w.word(text, `,"side":`, t.Side.String())
	text = appendAmount(text, `,"quantity":"`, leg.symbol.QuantityAmount(t.Quantity))
	text = appendAmount(text, `,"entry_price":"`, t.Entry)
	text = appendAmount(text, `,"exit_price":"`, t.Exit)
	text = appendAmount(text, `,"fees":"`, t.Fees)
	text = appendAmount(text, `,"funding":"`, t.Funding)
	text = appendAmount(text, `,"slippage":"`, t.Slippage)
	text = appendAmount(text, `,"pnl":"`, t.PNL)
	text = appendShare(text, `,"mae_pct":`, rounded(float64(against*100)))
	text = appendShare(text, `,"mfe_pct":`, rounded(float64(in*100)))
	text = w.word(text, `,"entry_reason":`, entry.why)
	text = w.word(text, `,"exit_purpose":`, exit.purpose)
	text = w.word(text, `,"exit_reason":`, exit.why)
	return append(text, '}')
}
