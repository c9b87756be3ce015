package journal

import (
	"context"
	"database/sql"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// SchemaError means that a file holds something botd does not make: a trigger, a view, an
// index or a table of another form. Such a file could change what is written to it, and is not
// written or copied.
type SchemaError struct {
	Path     string
	Problems []Problem
}

// Error names the first thing.
func (e *SchemaError) Error() string {
	return fmt.Sprintf("journal %s has a schema that botd does not make: %s (%d problems)", e.Path, e.Problems[0], len(e.Problems))
}

// madeObjects are the tables of the schema with their definitions, and what SQLite makes for
// their primary keys, without a definition of its own.
func madeObjects() map[string]string {
	all := map[string]string{}
	for statement := range strings.SplitSeq(schema, ";") {
		if _, definition, found := strings.Cut(statement, "CREATE TABLE IF NOT EXISTS "); found {
			name, _, _ := strings.Cut(definition, " ")
			all["table "+name] = oneLine("CREATE TABLE " + definition)
			if !strings.Contains(definition, "INTEGER PRIMARY KEY") {
				all["index sqlite_autoindex_"+name+"_1"] = ""
			}
		}
		if _, definition, found := strings.Cut(statement, "CREATE INDEX IF NOT EXISTS "); found {
			name, _, _ := strings.Cut(definition, " ")
			all["index "+name] = oneLine("CREATE INDEX " + definition)
		}
	}
	return all
}

func oneLine(text string) string { return strings.Join(strings.Fields(text), " ") }

// These are the oldest schemas that have every table, and every index.
const (
	withBalances = 2
	withIndexes  = 5
)

// compareSchema compares what a file holds with what botd of that schema makes. It is asked
// before anything else is read, since a view could stand in a table's place.
func compareSchema(ctx context.Context, conn *sql.Conn, version int) ([]Problem, error) {
	rows, err := conn.QueryContext(ctx, "SELECT type, name, coalesce(sql, '') FROM sqlite_schema")
	if err != nil {
		return nil, fmt.Errorf("read the journal's schema: %w", err)
	}
	defer rows.Close()
	want, have := map[string]string{}, map[string]string{}
	if version > 0 {
		want = madeObjects()
	}
	for rows.Next() {
		var kind, name, definition string
		if err := rows.Scan(&kind, &name, &definition); err != nil {
			return nil, fmt.Errorf("read the journal's schema: %w", err)
		}
		have[kind+" "+name] = oneLine(definition)
	}
	if err := rows.Err(); err != nil { // what was not read is not missing
		return nil, fmt.Errorf("read the journal's schema: %w", err)
	}
	var problems []Problem
	for _, key := range slices.Sorted(maps.Keys(have)) {
		if definition, made := want[key]; !made {
			problems = append(problems, Problem{"schema", key, "nothing of this name", "one: " + have[key]})
		} else if definition != have[key] {
			problems = append(problems, Problem{"schema", key, definition, have[key]})
		}
	}
	for _, key := range slices.Sorted(maps.Keys(want)) {
		young := version < withBalances && strings.Contains(key, "balance") || version < withIndexes && strings.HasPrefix(key, "index record_")
		if _, found := have[key]; !found && !young {
			problems = append(problems, Problem{"schema", key, "one", "none"})
		}
	}
	return problems, nil
}

// checkSchema refuses to write a file with another schema than botd makes.
func (j *Journal) checkSchema(ctx context.Context, version int) error {
	problems, err := compareSchema(ctx, j.writer, version)
	if err == nil && len(problems) > 0 {
		err = &SchemaError{j.path, problems}
	}
	return err
}
