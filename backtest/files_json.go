package backtest

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"strconv"
)

// noIndentedRows is the end of a result's indented JSON without rows.
const noIndentedRows = `"executions": [],
  "trades": []
}`

// writeJSON writes the result as an indenting json.Encoder does, but row by row: the text of many rows takes several
// times their memory, and an encoder several times as long to indent them.
func (r *Result) writeJSON(w io.Writer) error {
	figures := *r
	figures.Executions, figures.Trips = []Execution{}, []TripRow{}
	text, err := json.MarshalIndent(&figures, "", "  ")
	if err != nil {
		return err
	}
	head, last := bytes.CutSuffix(text, []byte(noIndentedRows))
	if !last {
		return errors.New("write the result: its rows are not its last fields")
	}
	rows := rowText{w: w, text: append(head, `"executions": `...)}
	writeRows(&rows, r.Executions, (*Execution).write)
	rows.text = append(rows.text, ",\n  \"trades\": "...)
	writeRows(&rows, r.Trips, (*TripRow).write)
	rows.text = append(rows.text, "\n}\n"...)
	rows.flush()
	return rows.err
}

// writeRows writes a list of rows, indented.
func writeRows[T any](out *rowText, rows []T, write func(row *T, out *rowText)) {
	if len(rows) == 0 {
		out.value(rows) // null or []
		return
	}
	between := "[\n    {"
	for i := range rows {
		out.text, out.fields = append(out.text, between...), 0
		write(&rows[i], out)
		out.text, between = append(out.text, "\n    }"...), ",\n    {"
		if len(out.text) > maxText {
			out.flush()
		}
	}
	out.text = append(out.text, "\n  ]"...)
}

// rowText writes the fields of rows as json.MarshalIndent does. It stops writing at the first error.
type rowText struct {
	w      io.Writer
	text   []byte
	fields int // of the current row
	err    error
}

func (t *rowText) flush() {
	if t.err == nil {
		_, t.err = t.w.Write(t.text)
	}
	t.text = t.text[:0]
}

// value appends anything as encoding/json writes it.
func (t *rowText) value(value any) {
	text, err := json.Marshal(value)
	if t.err == nil {
		t.err = err
	}
	t.text = append(t.text, text...)
}

func (t *rowText) key(key string) {
	between := ",\n      \""
	if t.fields == 0 {
		between = between[1:]
	}
	t.fields++
	t.text = append(append(append(t.text, between...), key...), `": `...)
}

func (t *rowText) integer(key string, n int64) {
	t.key(key)
	t.text = strconv.AppendInt(t.text, n, 10)
}

func (t *rowText) number(key string, f float64) {
	t.key(key)
	t.value(f)
}

func (t *rowText) word(key, word string) {
	t.key(key)
	if !plain(word) {
		t.value(word)
		return
	}
	t.text = append(append(append(t.text, '"'), word...), '"')
}

// plain reports whether a text is its own JSON form without the quotes.
func plain(text string) bool {
	for i := range len(text) {
		switch c := text[i]; {
		case c < ' ' || c >= 0x7f, c == '"', c == '\\', c == '<', c == '>', c == '&':
			return false
		}
	}
	return true
}

func (e *Execution) write(t *rowText) {
	t.integer("time_ms", e.TimeMS)
	t.word("symbol", e.Symbol)
	t.word("side", e.Side)
	t.word("price", e.Price)
	t.word("quantity", e.Quantity)
	t.word("fee", e.Fee)
	t.word("fee_asset", e.FeeAsset)
	t.word("role", e.Role)
	t.word("slippage", e.Slippage)
	t.word("purpose", e.Purpose)
}

func (r *TripRow) write(t *rowText) {
	t.word("symbol", r.Symbol)
	t.word("strategy", r.Strategy)
	t.integer("entered_ms", r.EnteredMS)
	t.integer("left_ms", r.LeftMS)
	t.word("side", r.Side)
	t.word("quantity", r.Quantity)
	t.word("entry_price", r.Entry)
	t.word("exit_price", r.Exit)
	t.word("fees", r.Fees)
	t.word("funding", r.Funding)
	t.word("slippage", r.Slippage)
	t.word("pnl", r.PNL)
	t.number("mae_pct", r.Adverse)
	t.number("mfe_pct", r.Favorable)
	t.word("entry_reason", r.EntryReason)
	t.word("exit_purpose", r.ExitPurpose)
	t.word("exit_reason", r.ExitReason)
}
