package server

import (
	"bytes"
	"errors"
	"fmt"
	"hash/crc32"
	"strconv"
)

// A state file is text, one record a line: a title, then a snapshot, then the changes since, oldest
// first. Each record begins with the checksum of its content, which detects a line that a crash
// truncated.
const stateTitle = "botd exchange state 2\n"

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// checksumSize is the number of hex digits plus a space.
const checksumSize = 9

// appendRecord appends a record. Its content is JSON on one line.
func appendRecord(lines, content []byte) []byte {
	lines = fmt.Appendf(lines, "%08x ", crc32.Checksum(content, castagnoli))
	return append(append(lines, content...), '\n')
}

// stateContent is the content of a state file.
type stateContent struct {
	snapshot []byte
	changes  [][]byte
	torn     int // bytes after the last whole record: an incomplete write
}

var errNoState = errors.New("it is not a state file of botd exchange; give another --state, or move it away to start over")

// parseState parses a state file. Only the last record can be truncated by a crash; it was never
// acknowledged and is ignored. Damage anywhere else is an error.
func parseState(content []byte) (stateContent, error) {
	var s stateContent
	if bytes.HasPrefix(content, []byte("{")) { // versions before 2 wrote only a snapshot
		s.snapshot = content
		return s, nil
	}
	lines, titled := bytes.CutPrefix(content, []byte(stateTitle))
	if !titled {
		return s, errNoState
	}
	for len(lines) > 0 {
		line, rest, whole := bytes.Cut(lines, []byte{'\n'})
		record, ok := recordOf(line)
		switch {
		case whole && ok && s.snapshot == nil:
			s.snapshot = record
		case whole && ok:
			s.changes = append(s.changes, record)
		case s.snapshot != nil && (!whole || len(rest) == 0 && bytes.IndexByte(line, 0) >= 0):
			// Either truncated or, after a power failure, complete in length but with pages that
			// were never written.
			s.torn = len(lines)
			return s, nil
		default:
			return s, fmt.Errorf("the record at byte %d is damaged: restore the file from a copy, or move it away to start over", len(content)-len(lines))
		}
		lines = rest
	}
	if s.snapshot == nil {
		return s, errNoState
	}
	return s, nil
}

// recordOf returns a line's content if its checksum is right.
func recordOf(line []byte) ([]byte, bool) {
	if len(line) <= checksumSize || line[checksumSize-1] != ' ' {
		return nil, false
	}
	sum, err := strconv.ParseUint(string(line[:checksumSize-1]), 16, 32)
	content := line[checksumSize:]
	return content, err == nil && uint32(sum) == crc32.Checksum(content, castagnoli)
}
