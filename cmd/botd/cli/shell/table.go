package shell

import (
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/jedib0t/go-pretty/v6/text"

	"botd/internal/paint"
)

// onTo is a writer that passes its output on to another writer, which may be a terminal.
type onTo interface{ onTo() io.Writer }

// endOf returns the last writer of the chain.
func endOf(w io.Writer) io.Writer {
	for {
		next, passes := w.(onTo)
		if !passes {
			return w
		}
		w = next.onTo()
	}
}

// columnsOf returns the width of the terminal at the end of the writer.
func columnsOf(w io.Writer) (columns int, known bool) {
	if file, ok := endOf(w).(*os.File); ok && Terminal(file) {
		columns, _, known = dimensionsOf(file)
	}
	return columns, known
}

// sizeOf returns the columns and rows of the terminal behind a writer.
func sizeOf(w io.Writer) (columns, rows int, known bool) {
	if file, ok := endOf(w).(*os.File); ok {
		return dimensionsOf(file)
	}
	return 0, 0, false
}

// Table is a table with a header. On a terminal that is too narrow, each row becomes a block of lines: a wrapped table is unreadable.
type Table struct {
	table.Writer
	w      io.Writer
	header table.Row
	rows   []table.Row
	most   int      // columns of the terminal; 0 for any number
	signed []string // names of the columns that are colored by the sign of their amounts
	spare  []string // names of the columns that a narrow terminal omits, in that order
}

// NewTable starts a table with a header.
func NewTable(w io.Writer, header table.Row) *Table {
	t := &Table{Writer: table.NewWriter(), w: w, header: header}
	t.most, _ = columnsOf(w)
	t.SetStyle(table.StyleLight)
	if !shapeOf(w).noHeader {
		t.Writer.AppendHeader(header)
	}
	return t
}

// WriteTable writes a table with a header and a row for each item.
func WriteTable[T any](w io.Writer, header table.Row, items []T, row func(*T) table.Row) {
	t := NewTable(w, header)
	for i := range items {
		t.AppendRow(row(&items[i]))
	}
	t.Render()
}

// AppendRow adds a row.
func (t *Table) AppendRow(row table.Row, configs ...table.RowConfig) {
	if shapeOf(t.w).colors {
		row = t.painted(row)
	}
	t.rows = append(t.rows, row)
	t.Writer.AppendRow(row, configs...)
}

// AppendRows adds rows.
func (t *Table) AppendRows(rows []table.Row, configs ...table.RowConfig) {
	for _, row := range rows {
		t.AppendRow(row, configs...)
	}
}

// Render writes the table, or its rows as blocks where it is too wide.
func (t *Table) Render() string {
	out := t.Writer.Render()
	var hidden []table.ColumnConfig
	for _, name := range t.spare {
		if t.fits(out) {
			break
		}
		hidden = append(hidden, table.ColumnConfig{Name: name, Hidden: true})
		t.Writer.SetColumnConfigs(hidden)
		out = t.Writer.Render()
	}
	switch {
	case !t.fits(out):
		out = strings.TrimSuffix(t.blocks(), "\n")
	case len(hidden) > 0:
		out += fmt.Sprintf("\na wider terminal also shows: %s", strings.Join(t.spare[:len(hidden)], ", "))
	}
	fmt.Fprintln(t.w, out)
	return out
}

// fits reports whether the terminal has room for the table.
func (t *Table) fits(out string) bool {
	widest, _, _ := strings.Cut(out, "\n")
	return t.most == 0 || len(t.rows) == 0 || text.StringWidthWithoutEscSequences(widest) <= t.most
}

// Signed colors the amounts of the named columns by their signs, if the output has colors.
func (t *Table) Signed(names ...string) { t.signed = names }

// Spare names the columns that a narrow terminal omits, in that order.
func (t *Table) Spare(names ...string) { t.spare = names }

func (t *Table) painted(row table.Row) table.Row {
	row = slices.Clone(row)
	for i, cell := range row {
		if i < len(t.header) && slices.Contains(t.signed, fmt.Sprint(t.header[i])) {
			row[i] = painted(fmt.Sprint(cell))
		}
	}
	return row
}

// Amount colors an amount by its sign if the stream has colors.
func Amount(w io.Writer, amount string) string {
	if shapeOf(w).colors {
		return painted(amount)
	}
	return amount
}

// painted returns an amount in green with a plus, or in red with a minus.
func painted(amount string) string {
	switch {
	case strings.HasPrefix(amount, "+"):
		return paint.Own(text.FgGreen.Sprint(amount))
	case len(amount) > 1 && amount[0] == '-':
		return paint.Own(text.FgRed.Sprint(amount))
	}
	return amount
}

// blocks formats each row as a block: a line for each cell that is not empty, and a line between two rows.
func (t *Table) blocks() string {
	label := 0
	for _, name := range t.header {
		label = max(label, len(fmt.Sprint(name)))
	}
	var out strings.Builder
	for i, row := range t.rows {
		if i > 0 {
			out.WriteString(strings.Repeat("─", min(t.most, label+20)) + "\n")
		}
		for at, cell := range row {
			name := ""
			if at < len(t.header) {
				name = fmt.Sprint(t.header[at])
			}
			if shown := strings.TrimSpace(fmt.Sprint(cell)); shown != "" {
				t.line(&out, name, label, shown)
			}
		}
	}
	return out.String()
}

// line writes a cell after its column's name, wrapped at words.
func (t *Table) line(out *strings.Builder, name string, label int, cell string) {
	room := max(t.most-label-2, 10)
	for i, part := range strings.Split(text.WrapSoft(cell, room), "\n") {
		if i > 0 {
			name = ""
		}
		fmt.Fprintf(out, "%-*s  %s\n", label, strings.ToUpper(name), strings.TrimRight(part, " "))
	}
}
