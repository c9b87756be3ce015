package benchmark

import (
	"bytes"
	"cmp"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/jedib0t/go-pretty/v6/text"
)

func (r *Result) Table(w io.Writer) { r.write(w, table.Writer.Render) }

// write writes all tables.
func (r *Result) write(w io.Writer, render func(table.Writer) string) {
	fmt.Fprintf(w, "%s; %d one-minute candles, %.1f MB of CSV.\n\n", r.Machine, r.Candles, float64(r.CSV)/1e6)
	t := table.NewWriter()
	t.SetStyle(table.StyleLight)
	t.AppendHeader(table.Row{"engine, candles in memory", "M candles/s", "plain loop", "fills", "wall s", "processor s", "a fill: us",
		"allocations", "notes", "machine"})
	right := []table.ColumnConfig{}
	for i := 2; i <= 9; i++ {
		right = append(right, table.ColumnConfig{Number: i, Align: text.AlignRight, AlignHeader: text.AlignRight})
	}
	t.SetColumnConfigs(right)
	for _, m := range r.Engine {
		row := table.Row{m.What, fmt.Sprintf("%.2f", m.Speed), fmt.Sprintf("%.1f x", m.Times), m.Fills, fmt.Sprintf("%.3f", m.Seconds),
			fmt.Sprintf("%.3f", m.Processor)}
		if one := m.PerFill; one != nil {
			row = append(row, fmt.Sprintf("%.1f", one.Microseconds), fmt.Sprintf("%.1f", one.Allocs), fmt.Sprintf("%.1f", one.Notes))
		} else {
			row = append(row, "", "", "")
		}
		row = append(row, m.Machine)
		t.AppendRow(row)
	}
	fmt.Fprintf(w, "%s\n\n", render(t))
	t = table.NewWriter()
	t.SetStyle(table.StyleLight)
	t.SetColumnConfigs(right)
	t.AppendHeader(table.Row{"whole command, from the CSV file", "wall s", "hand-written", "processor s", "peak MB", "of the file"})
	for _, m := range r.Command {
		t.AppendRow(table.Row{m.What, fmt.Sprintf("%.2f", m.Seconds), fmt.Sprintf("%.2f x", m.Times), fmt.Sprintf("%.2f", m.Processor),
			fmt.Sprintf("%.0f", m.Memory), fmt.Sprintf("%.2f x", m.Memory*1e6/float64(cmp.Or(m.File, r.CSV)))})
	}
	fmt.Fprintf(w,
		"%s\n\nThe report with a study is one page of %.1f MB, with many fills of %.1f MB.\n\n", render(t), float64(r.Report)/1e6, float64(r.Often)/1e6)
	r.sweepTable(w, right, render)
	t = table.NewWriter()
	t.SetStyle(table.StyleLight)
	t.SetColumnConfigs(right)
	t.AppendHeader(table.Row{"strategies that open in one round", "derived to acknowledged: p50 ms", "last ms", "us an opening"})
	for _, o := range r.Opening {
		t.AppendRow(table.Row{o.Strategies, o.Median, o.Last, fmt.Sprintf("%.0f", o.Microseconds)})
	}
	fmt.Fprintf(w, "%s\n", render(t))
}

// Page is a Markdown file with marks that enclose the tables.
type Page struct{ path, before, after string }

// ReadPage reads a file that has the marks.
func ReadPage(path string) (*Page, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	before, rest, begun := strings.Cut(string(text), benchBegin)
	_, after, ended := strings.Cut(rest, benchEnd)
	if !begun || !ended {
		return nil, fmt.Errorf("%s has no lines %q and %q", path, strings.TrimSpace(benchBegin), strings.TrimSpace(benchEnd))
	}
	return &Page{path, before, after}, nil
}

// Insert writes the tables into the page's file.
func (p *Page) Insert(r *Result) error {
	var tables bytes.Buffer
	r.write(&tables, table.Writer.RenderMarkdown)
	return os.WriteFile(p.path, []byte(p.before+benchBegin+"\n"+tables.String()+"\n"+benchEnd+p.after), 0o644)
}
