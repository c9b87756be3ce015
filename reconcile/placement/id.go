package placement

import (
	"cmp"
	"fmt"
	"strconv"
	"strings"
)

// maxClientOrderID is the maximum length of a client order id, in characters.
const maxClientOrderID = 32

// RandomLength is the length of a start's random part, in base 36 characters.
const RandomLength = 5

// LaneIDs is the number of client order ids that a start declares for the kill switch's lane. The
// journal accounts for them before any is used, so that an order with such an id is known even if
// its record was lost.
const LaneIDs = 1_000

// epochLength is the minimum length, in characters, of an epoch that is followed by a random part: the
// length of Unix seconds in base 36 until 2038, when it becomes 7. A text shorter than the two parts
// together is an epoch without a random part, as older versions wrote it.
const epochLength = 6

// Start is one start of botd, as named in its client order ids.
type Start struct {
	Epoch  int64  // above every journalled one
	Random string // distinguishes two starts in the same second; empty in older journals
}

// Compare orders starts by their epochs, and starts of the same epoch by their random parts.
func (s Start) Compare(t Start) int {
	return cmp.Or(cmp.Compare(s.Epoch, t.Epoch), strings.Compare(s.Random, t.Random))
}

// String returns the start as it appears in ids.
func (s Start) String() string {
	epoch := strconv.FormatInt(s.Epoch, 36)
	if s.Random == "" {
		return epoch
	}
	return strings.Repeat("0", max(0, epochLength-len(epoch))) + epoch + s.Random
}

// ClientOrderID builds b<instance>-<epoch><random>-<sequence>, with the epoch in base 36. It panics if
// the id would exceed the exchange's limit. An instance of 10 characters leaves 8 digits for the
// sequence, 7 from 2038 on: a process that has used them up must restart.
func ClientOrderID(instance string, start Start, sequence int64) string {
	id := "b" + instance + "-" + start.String() + "-" + strconv.FormatInt(sequence, 10)
	if len(id) > maxClientOrderID {
		panic(fmt.Sprintf("placement: client order id %s has more than %d characters: restart botd, which counts from 1 again", id, maxClientOrderID))
	}
	return id
}

// Serial is the position of a client order id among those of its start.
type Serial struct {
	Start    Start
	Sequence int64
}

// ParseSerial parses a client order id of botd's form, with or without a random part, and reports
// whether it has that form. It ignores the suffix #n that marks a second order under the same id.
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
	epoch, random := id[middle+1:last], ""
	if at := len(epoch) - RandomLength; at >= epochLength {
		epoch, random = epoch[:at], epoch[at:]
	}
	number, err := strconv.ParseInt(epoch, 36, 64)
	sequence, failed := strconv.ParseInt(id[last+1:], 10, 64)
	return Serial{Start{number, random}, sequence}, err == nil && failed == nil
}

// RandomFrom converts a number to a random part. A start draws the number from the system's entropy, a
// simulation from its seed.
func RandomFrom(number uint64) string {
	var text [RandomLength]byte
	for i := range text {
		text[i] = "0123456789abcdefghijklmnopqrstuvwxyz"[number%36]
		number /= 36
	}
	return string(text[:])
}

// IsRandom reports whether a text is a random part.
func IsRandom(text string) bool {
	return len(text) == RandomLength && strings.Trim(text, "0123456789abcdefghijklmnopqrstuvwxyz") == ""
}
