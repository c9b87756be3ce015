package shell

import (
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/jedib0t/go-pretty/v6/text"
)

// onTo is a writer that passes on to another one, which may be a terminal.
type onTo interface{ onTo() io.Writer }

// endOf is what is written to in the end.
func endOf(w io.Writer) io.Writer {
	for {
		next, passes := w.(onTo)
		if !passes {
			return w
		}
		w = next.onTo()
	}
}

// columnsOf is how wide the terminal is that a writer ends in.
func columnsOf(w io.Writer) (columns int, known bool) {
	if file, ok := endOf(w).(*os.File); ok && Terminal(file) {
		return widthOf(file)
	}
	return 0, false
}

// Table is a table with a header. On a terminal too narrow for it, each row
// is a block of lines: a wrapped table is unreadable.
type Table struct {
	table.Writer
	w      io.Writer
	header table.Row
	rows   []table.Row
	most   int // columns that the terminal has; 0 for any number
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

// AppendRow adds a row.
func (t *Table) AppendRow(row table.Row, configs ...table.RowConfig) {
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
	if widest, _, _ := strings.Cut(out, "\n"); t.most > 0 && text.StringWidthWithoutEscSequences(widest) > t.most && len(t.rows) > 0 {
		out = strings.TrimSuffix(t.blocks(), "\n")
	}
	fmt.Fprintln(t.w, out)
	return out
}

// blocks are the rows, a line a cell that is not empty, and a line between two.
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

// line writes a cell behind its column's name, broken at words.
func (t *Table) line(out *strings.Builder, name string, label int, cell string) {
	room := max(t.most-label-2, 10)
	for i, part := range strings.Split(text.WrapSoft(cell, room), "\n") {
		if i > 0 {
			name = ""
		}
		fmt.Fprintf(out, "%-*s  %s\n", label, strings.ToUpper(name), strings.TrimRight(part, " "))
	}
}
