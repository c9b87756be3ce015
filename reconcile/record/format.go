package record

// formats lists every change to the content of records, oldest first: "+" adds a kind, a field or a
// value of an enumeration, "-" removes one. When changing a payload, append the lines that
// TestFormatsListEveryKindAndField prints; never change or remove a line.
var formats = [...]string{
	"the kinds and fields of testdata/format1.txt",
	"+fees.expected bool",
	"+boot.random string",
	"+Kind \"liquidated\"",
	"+liquidated",
	"+liquidated.close_price Amount",
	"+liquidated.evidence string",
	"+liquidated.position_id int64",
	"+liquidated.quantity exchange.Quantity",
	"+liquidated.realised Amount",
	`+Kind "checkpoint"`,
	"+checkpoint",
	"+checkpoint.account string",
	"+checkpoint.epoch int64",
	"+checkpoint.layout string",
	"+checkpoint.state[] uint8",
	`+Kind "transfer"`,
	"+transfer",
	"+transfer.amount Amount",
	"+transfer.asset string",
	"+transfer.market Market",
	"+transfer.note string",
	"+boot.lane string",
	`+Kind "declined"`,
	"+assigned.events bool",
	"+declined",
	"+declined.key string",
	"+declined.purpose Purpose",
	"+declined.quantity exchange.Quantity",
	"+declined.rule string",
	"+declined.side Side",
	"+declined.why string",
	"+memory.events int64",
	"+latch.idle bool",
	"+latch.renewed bool",
	"+baseline.beside exchange.Quantity",
	"+ended.created_ms int64",
	"+fill.created_ms int64",
	"+accounted.keeps bool",
	`+QuarantineCause "executed_beyond"`,
	`+QuarantineCause "journal_lost"`,
	`+QuarantineCause "sold_by_others"`,
	"+quarantined.cause QuarantineCause",
	"+adopted.decided int64",
	"+sending.wallet",
	"+sending.wallet.asset exchange.Quantity",
	"+sending.wallet.money Amount",
	"+sending.wallet.read_ms int64",
}

// FormatEpoch is the format of the records that this botd writes: it grows with every line of
// formats. A journal carries the highest epoch with which it was written, and a botd that does not
// support that epoch refuses the journal: it would decide without the content that it does not know.
const FormatEpoch = len(formats)
