package shell

import (
	"bytes"
	"cmp"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/spf13/cobra"

	"botd/internal/failure"
	"botd/internal/jsonalias"
)

// outputs are the forms in which data is printed.
var outputs = []string{"table", "json", "jsonl", "csv"}

// outputValue is the value of -o: a form, or csv=COLUMN,COLUMN. It is checked before the command runs.
type outputValue string

func (o *outputValue) String() string { return string(*o) }

// Type names the value in the help.
func (o *outputValue) Type() string { return "FORM" }

// Set takes a form.
func (o *outputValue) Set(text string) error {
	form, columns, picked := strings.Cut(text, "=")
	if !slices.Contains(outputs, form) || picked && (form != "csv" || columns == "") {
		return fmt.Errorf("%s, or csv=COLUMN,COLUMN", strings.Join(outputs, ", "))
	}
	*o = outputValue(text)
	return nil
}

// OutputFlag adds -o to a command.
func OutputFlag(command *cobra.Command) {
	command.Flags().VarP(new(outputValue(outputs[0])), "output", "o", "table, json, jsonl (one line per row), or csv; csv=COLUMN,COLUMN selects columns")
	CompleteWith(command, "output", outputs...)
}

// Output returns the value of -o.
func Output(command *cobra.Command) string { return command.Flags().Lookup("output").Value.String() }

// CompleteWith makes a shell offer these values for a flag.
func CompleteWith(command *cobra.Command, flag string, values ...string) {
	if err := command.RegisterFlagCompletionFunc(flag, cobra.FixedCompletions(values, cobra.ShellCompDirectiveNoFileComp)); err != nil {
		panic("botd: " + err.Error()) // no such flag: a mistake above
	}
}

// Print prints a command's result in the form of its -o.
func Print(command *cobra.Command, value any, table func(io.Writer)) error {
	return PrintTo(command.OutOrStdout(), Output(command), value, table)
}

// PrintTo writes a value as JSON, as its rows, or as the table function formats it.
func PrintTo(w io.Writer, output string, value any, table func(io.Writer)) error {
	form, columns, _ := strings.Cut(output, "=")
	if shape := shapeOf(w); len(shape.columns) > 0 {
		columns = strings.Join(shape.columns, ",")
	}
	switch {
	case form == "json" && columns != "":
		return failure.Usagef("-o json is one document: --columns is for table, jsonl and csv")
	case form == "table" && columns != "":
		form = "picked"
	}
	switch form {
	case "json":
		encoder := json.NewEncoder(w)
		encoder.SetEscapeHTML(false)
		encoder.SetIndent("", "  ")
		return failure.Wrap(failure.IO, encoder.Encode(jsonalias.WithOldNames(value)))
	case "jsonl", "csv", "picked":
		if list, ok := value.(lister); ok {
			value = list.Rows()
		}
		text, err := jsonalias.Marshal(value)
		if err != nil {
			return err
		}
		rows, err := rowsOf(text)
		if err != nil {
			return err
		}
		if form == "jsonl" && columns == "" {
			return printLines(w, rows)
		}
		all, err := pick(rows, columns)
		if err != nil {
			return err
		}
		switch form {
		case "jsonl":
			return all.lines(w)
		case "picked":
			return PrintTable(w, all.table)
		}
		return all.csv(w)
	}
	return PrintTable(w, table)
}

// lister is a document whose rows are neither itself nor its items.
type lister interface{ Rows() any }

// PrintTable returns an error when a person's output could not be written.
func PrintTable(w io.Writer, table func(io.Writer)) error {
	watched := &failing{w: w}
	table(watched)
	return failure.Wrap(failure.IO, watched.err)
}

// failing keeps the first error of writing.
type failing struct {
	w   io.Writer
	err error
}

func (f *failing) onTo() io.Writer { return f.w }

func (f *failing) Write(p []byte) (int, error) {
	if f.err != nil {
		return 0, f.err
	}
	n, err := f.w.Write(p)
	f.err = err
	return n, err
}

// rowsOf returns a document's rows: those of its list if it is one or has one under items, otherwise the document itself.
func rowsOf(text []byte) ([]json.RawMessage, error) {
	if text = bytes.TrimSpace(text); len(text) > 0 && text[0] == '{' {
		fields, err := fieldsOf(text)
		if err != nil {
			return nil, err
		}
		i := slices.IndexFunc(fields, func(f field) bool { return f.key == "items" && len(f.value) > 0 && f.value[0] == '[' })
		if i < 0 {
			return []json.RawMessage{text}, nil
		}
		text = fields[i].value
	}
	var rows []json.RawMessage
	if string(text) == "null" {
		return nil, nil // an empty list
	}
	if len(text) > 0 && text[0] == '[' {
		return rows, json.Unmarshal(text, &rows)
	}
	return []json.RawMessage{text}, nil
}

func printLines(w io.Writer, rows []json.RawMessage) error {
	var line bytes.Buffer
	for _, row := range rows {
		line.Reset()
		if err := json.Compact(&line, row); err != nil {
			return err
		}
		line.WriteByte('\n')
		if _, err := w.Write(line.Bytes()); err != nil {
			return failure.Wrap(failure.IO, err)
		}
	}
	return nil
}

// field is one key of an object, in the object's own order.
type field struct {
	key   string
	value json.RawMessage
}

func fieldsOf(text []byte) ([]field, error) {
	decoder := json.NewDecoder(bytes.NewReader(text))
	if _, err := decoder.Token(); err != nil {
		return nil, err
	}
	var fields []field
	for decoder.More() {
		key, err := decoder.Token()
		if err != nil {
			return nil, err
		}
		f := field{key: fmt.Sprint(key)}
		if err := decoder.Decode(&f.value); err != nil {
			return nil, err
		}
		fields = append(fields, f)
	}
	return fields, nil
}

// flatten flattens an object's fields to one level, with keys such as a.b.
func flatten(prefix string, text []byte) ([]field, error) {
	if len(text) == 0 || text[0] != '{' {
		prefix = cmp.Or(prefix, "value")
		return []field{{prefix, text}}, nil
	}
	fields, err := fieldsOf(text)
	if err != nil {
		return nil, err
	}
	var all []field
	for _, f := range fields {
		key := f.key
		if prefix != "" {
			key = prefix + "." + key
		}
		below, err := flatten(key, f.value)
		if err != nil {
			return nil, err
		}
		all = append(all, below...)
	}
	return all, nil
}

// rowsPicked are the rows of one document with their columns.
type rowsPicked struct {
	columns []string
	records []map[string]json.RawMessage
}

// pick selects the named columns of rows, or all columns in the order of their first appearance.
func pick(rows []json.RawMessage, picked string) (*rowsPicked, error) {
	all := &rowsPicked{records: make([]map[string]json.RawMessage, 0, len(rows))}
	known := map[string]bool{}
	for _, row := range rows {
		fields, err := flatten("", row)
		if err != nil {
			return nil, err
		}
		record := make(map[string]json.RawMessage, len(fields))
		for _, f := range fields {
			if !known[f.key] {
				known[f.key], all.columns = true, append(all.columns, f.key)
			}
			record[f.key] = f.value
		}
		all.records = append(all.records, record)
	}
	if picked == "" {
		return all, nil
	}
	columns := strings.Split(picked, ",")
	for _, column := range columns {
		if len(rows) > 0 && !known[column] {
			return nil, failure.Usagef("there is no column %q\nhint: there are %s", column, strings.Join(all.columns, ", "))
		}
	}
	all.columns = columns
	return all, nil
}

// csv writes the rows under a header of their columns.
func (p *rowsPicked) csv(w io.Writer) error {
	if len(p.columns) == 0 {
		return nil // without a row the columns are unknown
	}
	writer := csv.NewWriter(w)
	line := slices.Clone(p.columns)
	if !shapeOf(w).noHeader {
		writer.Write(line) // Error below returns its error
	}
	for _, record := range p.records {
		for i, column := range p.columns {
			line[i] = cell(record[column])
		}
		writer.Write(line)
	}
	writer.Flush()
	return failure.Wrap(failure.IO, writer.Error())
}

// table writes the rows as a table for a person.
func (p *rowsPicked) table(w io.Writer) {
	header := make(table.Row, len(p.columns))
	for i, column := range p.columns {
		header[i] = column
	}
	t := NewTable(w, header)
	for _, record := range p.records {
		row := make(table.Row, len(p.columns))
		for i, column := range p.columns {
			row[i] = cell(record[column])
		}
		t.AppendRow(row)
	}
	t.Render()
}

// lines writes each row as an object of its columns.
func (p *rowsPicked) lines(w io.Writer) error {
	for _, record := range p.records {
		var line bytes.Buffer
		for i, column := range p.columns {
			name, err := json.Marshal(column)
			if err != nil {
				return err
			}
			before := ","
			if i == 0 {
				before = "{"
			}
			line.WriteString(before + string(name) + ":" + cmp.Or(string(record[column]), "null"))
		}
		line.WriteString("}\n")
		if _, err := w.Write(line.Bytes()); err != nil {
			return failure.Wrap(failure.IO, err)
		}
	}
	return nil
}

// cell formats a value for a table: texts without quotes, null as empty, lists as JSON.
func cell(value json.RawMessage) string {
	var text string
	switch {
	case len(value) == 0 || string(value) == "null":
		return ""
	case value[0] == '"' && json.Unmarshal(value, &text) == nil:
		return text
	}
	var compact bytes.Buffer
	if json.Compact(&compact, value) != nil {
		return string(value)
	}
	return compact.String()
}
