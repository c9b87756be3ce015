package command

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"
)

// outputs are the forms in which data is printed.
var outputs = []string{"table", "json", "jsonl", "csv"}

// outputValue is the value of -o: a form, or csv=COLUMN,COLUMN. It is checked
// before anything is done.
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

// outputFlag adds -o to a command.
func outputFlag(command *cobra.Command, output *string) {
	*output = "table"
	command.Flags().VarP((*outputValue)(output), "output", "o", "table, json, jsonl (a line a row), or csv; csv=COLUMN,COLUMN picks columns")
	completeWith(command, "output", outputs...)
}

// completeWith makes a shell offer these values of a flag.
func completeWith(command *cobra.Command, flag string, values ...string) {
	if err := command.RegisterFlagCompletionFunc(flag, cobra.FixedCompletions(values, cobra.ShellCompDirectiveNoFileComp)); err != nil {
		panic("botd: " + err.Error()) // no such flag: a mistake above
	}
}

// print writes a value as JSON, as rows of it, or as a person likes it.
func print(w io.Writer, output string, value any, table func(io.Writer)) error {
	form, columns, _ := strings.Cut(output, "=")
	switch form {
	case "json":
		encoder := json.NewEncoder(w)
		encoder.SetEscapeHTML(false)
		encoder.SetIndent("", "  ")
		return fail(exitIO, encoder.Encode(value))
	case "jsonl", "csv":
		if list, ok := value.(lister); ok {
			value = list.rows()
		}
		text, err := json.Marshal(value)
		if err != nil {
			return err
		}
		rows, err := rowsOf(text)
		if err != nil {
			return err
		}
		if form == "jsonl" {
			return printLines(w, rows)
		}
		return printCSV(w, rows, columns)
	}
	return printTable(w, table)
}

// lister is a document whose rows are neither itself nor its items.
type lister interface{ rows() any }

// printTable tells when a person's output could not be written.
func printTable(w io.Writer, table func(io.Writer)) error {
	watched := &failing{w: w}
	table(watched)
	return fail(exitIO, watched.err)
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

// rowsOf are a document's rows: those of its list where it is one, or has one
// under items; else the document itself.
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
		return nil, nil // a list of none
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
			return fail(exitIO, err)
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

// flatten makes an object's fields one level deep, with keys such as a.b.
func flatten(prefix string, text []byte) ([]field, error) {
	if len(text) == 0 || text[0] != '{' {
		if prefix == "" {
			prefix = "value"
		}
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

// printCSV writes rows under a header of all their keys in the order they are
// met, or of those picked.
func printCSV(w io.Writer, rows []json.RawMessage, picked string) error {
	var columns []string
	records := make([]map[string]string, 0, len(rows))
	for _, row := range rows {
		fields, err := flatten("", row)
		if err != nil {
			return err
		}
		record := make(map[string]string, len(fields))
		for _, f := range fields {
			if _, known := record[f.key]; !known && !slices.Contains(columns, f.key) {
				columns = append(columns, f.key)
			}
			record[f.key] = cell(f.value)
		}
		records = append(records, record)
	}
	if picked != "" {
		wanted := strings.Split(picked, ",")
		for _, column := range wanted {
			if len(rows) > 0 && !slices.Contains(columns, column) {
				return usage("-o csv=%s: there is no column %q\nhint: there are %s", picked, column, strings.Join(columns, ", "))
			}
		}
		columns = wanted
	}
	if len(columns) == 0 {
		return nil // no row, so nobody knows its columns
	}
	writer := csv.NewWriter(w)
	line := slices.Clone(columns)
	writer.Write(line) // its error is Error's, below
	for _, record := range records {
		for i, column := range columns {
			line[i] = record[column]
		}
		writer.Write(line)
	}
	writer.Flush()
	return fail(exitIO, writer.Error())
}

// cell is a value as it stands in a table: texts bare, null empty, lists as JSON.
func cell(value json.RawMessage) string {
	var text string
	switch {
	case string(value) == "null":
		return ""
	case len(value) > 0 && value[0] == '"' && json.Unmarshal(value, &text) == nil:
		return text
	}
	var compact bytes.Buffer
	if json.Compact(&compact, value) != nil {
		return string(value)
	}
	return compact.String()
}
