package journal

import "botd/reconcile/record"

// schemaVersion is the newest schema this program knows.
//
//	1  records and placements
//	2  balances of the ledger
//	3  records of version 3, which new ones are written in; older ones stay as they were written
//	4  a format epoch (format.go), which the botd of schema 3 does not look at
//	5  indexes of the starts and of the checkpoints
//	6  its oldest records are sealed in segments (seal.go): one becomes so with its first segment
const schemaVersion = 5

// sealedSchema is the schema of a journal with segments, which botds from before them refuse.
const sealedSchema = 6

// sameTables is the oldest schema whose derived tables, and columns records are chosen
// by, are those of schemaVersion.
const sameTables = 3

// NewestSchema is the schema this program writes. Opening an older journal brings
// it up to date; a newer one is refused.
const NewestSchema = schemaVersion

// formerKinds are the names that kinds of record had before schema 3.
var formerKinds = map[record.Kind]string{
	record.KindAssigned:  "config",
	record.KindPriced:    "resolved",
	record.KindAccounted: "result",
	record.KindPosting:   "entry",
}

// Schema is the schema of the journal as it is now.
func (j *Journal) Schema() int { return j.schema }
