package journal

import (
	"context"
	"database/sql"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// SchemaError means that a file's schema differs from botd's: it has an object that botd does not create,
// such as a trigger or a view, another definition of one, or lacks one. A planted object could change
// what is written, so the file is neither written nor restored.
type SchemaError struct {
	Path     string
	Problems []Problem
}

// Error names the first such object.
func (e *SchemaError) Error() string {
	return fmt.Sprintf("journal %s has a schema that botd did not create: %s (%d problems)", e.Path, e.Problems[0], len(e.Problems))
}

// expectedObjects returns the tables and indexes of the schema with their definitions, and the indexes
// that SQLite creates for primary keys without a definition.
func expectedObjects() map[string]string {
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

// The oldest schemas that contain every table and every index.
const (
	withBalances = 2
	withIndexes  = 5
)

// compareSchema compares the objects in a file with those of botd's schema. It runs before anything
// else is read, because a view could replace a table.
func compareSchema(ctx context.Context, conn *sql.Conn, version int) ([]Problem, error) {
	rows, err := conn.QueryContext(ctx, "SELECT type, name, coalesce(sql, '') FROM sqlite_schema")
	if err != nil {
		return nil, fmt.Errorf("read the journal's schema: %w", err)
	}
	defer rows.Close()
	want, have := map[string]string{}, map[string]string{}
	if version > 0 {
		want = expectedObjects()
	}
	for rows.Next() {
		var kind, name, definition string
		if err := rows.Scan(&kind, &name, &definition); err != nil {
			return nil, fmt.Errorf("read the journal's schema: %w", err)
		}
		have[kind+" "+name] = oneLine(definition)
	}
	if err := rows.Err(); err != nil { // objects that were not read are not missing
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

// checkSchema refuses to write a file whose schema differs from botd's.
func (j *Journal) checkSchema(ctx context.Context, version int) error {
	problems, err := compareSchema(ctx, j.writer, version)
	if err == nil && len(problems) > 0 {
		err = &SchemaError{j.path, problems}
	}
	return err
}
