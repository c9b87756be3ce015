package journal

// NewestSchema is the schema this program writes. Opening an older journal brings
// it up to date; a newer one is refused.
const NewestSchema = schemaVersion

// Schema is the schema of the journal as it is now.
func (j *Journal) Schema() int { return j.schema }
