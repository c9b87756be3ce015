package journal

import "botd/reconcile/record"

// schemaVersion is the schema that botd gives a journal. The schemas so far:
//
//	1  records and placements
//	2  balances of the ledger
//	3  records of version 3, which new ones are written in; older ones stay as they were written
//	4  a format epoch (format.go), in a schema of its own because a botd of schema 3 would ignore the epoch
//	5  indexes of the starts and of the checkpoints
//	6  its oldest records are sealed in segments (seal.go): a journal gets this schema with its first segment
const schemaVersion = 5

// sealedSchema is the schema of a journal with segments, which older botds refuse.
const sealedSchema = 6

// sameTables is the oldest schema whose derived tables and selection columns equal those of
// schemaVersion.
const sameTables = 3

// NewestSchema is the schema to which opening an older journal updates it. A journal with segments has
// sealedSchema; one with a newer schema than that is refused.
const NewestSchema = schemaVersion

// formerKinds are the names of record kinds before schema 3.
var formerKinds = map[record.Kind]string{
	record.KindAssigned:  "config",
	record.KindPriced:    "resolved",
	record.KindAccounted: "result",
	record.KindPosting:   "entry",
}

// Schema returns the current schema of the journal.
func (j *Journal) Schema() int { return j.schema }
