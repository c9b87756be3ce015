package offline

import (
	"encoding/json"
	"fmt"
	"io"
	"time"

	"botd/cmd/botd/cli/shell"
	"botd/internal/failure"
	"botd/reconcile/journal"
)

// recordWriter writes journal records one by one, without holding all of them.
type recordWriter struct {
	w    io.Writer
	form string
	some bool // a record was written
}

func newRecordWriter(w io.Writer, form string, follow bool) (*recordWriter, error) {
	switch {
	case form != "table" && form != "json" && form != "jsonl":
		return nil, failure.Usagef("-o %s: records have no columns; use table, json or jsonl", form)
	case follow && form == "json":
		return nil, failure.Usagef("--follow never ends: use -o table or jsonl")
	}
	return &recordWriter{w: w, form: form}, shell.RefuseShape(w, form)
}

// record writes one record, as a line or as an item of the list.
func (r *recordWriter) record(s *journal.Stored) error {
	switch r.form {
	case "jsonl":
		encoder := json.NewEncoder(r.w)
		encoder.SetEscapeHTML(false)
		return encoder.Encode(s)
	case "json":
		text, err := json.MarshalIndent(s, "    ", "  ")
		if err != nil {
			return err
		}
		before := ",\n    "
		if !r.some {
			before = recordsBegin + "\n    "
		}
		r.some = true
		_, err = fmt.Fprintf(r.w, "%s%s", before, text)
		return err
	}
	at := time.UnixMilli(s.AtMS).UTC().Format("2006-01-02 15:04:05.000")
	_, err := fmt.Fprintf(r.w, "%7d  %s  %-12s %-14s %-16s %s\n", s.Sequence, at, s.Kind(), s.Strategy, s.Symbol.Name, s.Summary())
	return err
}

const recordsBegin = "{\n  \"schema\": 1,\n  \"items\": ["

// end ends the list.
func (r *recordWriter) end() error {
	if r.form != "json" {
		return nil
	}
	text := "\n  ]\n}\n"
	if !r.some {
		text = recordsBegin + "]\n}\n"
	}
	_, err := io.WriteString(r.w, text)
	return failure.Wrap(failure.IO, err)
}
