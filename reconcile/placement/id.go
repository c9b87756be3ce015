package placement

import (
	"strconv"
	"strings"
)

// ClientOrderID builds b<instance>-<epoch>-<sequence>, the epoch in base 36.
func ClientOrderID(instance string, epoch, sequence int64) string {
	return "b" + instance + "-" + strconv.FormatInt(epoch, 36) + "-" + strconv.FormatInt(sequence, 10)
}

// Serial orders client order ids by when they were made.
type Serial struct{ epoch, sequence int64 }

// Before reports whether an id was made earlier than another.
func (s Serial) Before(t Serial) bool {
	return s.epoch < t.epoch || s.epoch == t.epoch && s.sequence < t.sequence
}

// Epoch is the start in which the id was made.
func (s Serial) Epoch() int64 { return s.epoch }

// ParseSerial reads a client order id of botd's, and reports whether it is one.
func ParseSerial(clientOrderID string) (Serial, bool) {
	id, _, _ := strings.Cut(clientOrderID, "#")
	last := strings.LastIndexByte(id, '-')
	if last < 0 {
		return Serial{}, false
	}
	middle := strings.LastIndexByte(id[:last], '-')
	if middle < 0 {
		return Serial{}, false
	}
	epoch, err := strconv.ParseInt(id[middle+1:last], 36, 64)
	sequence, failed := strconv.ParseInt(id[last+1:], 10, 64)
	return Serial{epoch, sequence}, err == nil && failed == nil
}
