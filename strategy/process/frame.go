// Package process communicates with a strategy that runs in its own process, in any language.
// Messages are JSON objects, each preceded by its length as a 4-byte big-endian integer.
// docs/process.md describes them. Remote is botd's end, a strategy.Strategy; Serve is the other
// end, of strategies written in Go or Starlark.
package process

import (
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"
)

// Protocol is the version of the messages.
const Protocol = 1

// Bounds of a message, in bytes. botd reads a program's answer into memory, where it takes up to a
// hundred times its length. The longest plan, of 10,000 orders, needs about half the bound.
const (
	maxFrame  = 16 << 20 // from botd
	maxAnswer = 2 << 20  // from a program
)

// writeFrame writes one message, or returns an error if it exceeds the bound.
func writeFrame(w io.Writer, buffer []byte, message any, bound int) ([]byte, error) {
	buffer, err := appendMessage(append(buffer[:0], 0, 0, 0, 0), message)
	if err != nil {
		return buffer, err
	}
	length := len(buffer) - 4
	if length > bound {
		return buffer, fmt.Errorf("a message of %d bytes is longer than the bound of %d", length, bound)
	}
	binary.BigEndian.PutUint32(buffer, uint32(length))
	_, err = w.Write(buffer)
	return buffer, err
}

func appendMessage(buffer []byte, message any) ([]byte, error) {
	if q, is := message.(*question); is {
		return q.append(buffer)
	}
	text, err := json.Marshal(message)
	if err != nil {
		return buffer, fmt.Errorf("write a message: %w", err)
	}
	return append(buffer, text...), nil
}

// readFrame reads one message's text into the buffer. The buffer grows as the text arrives, so a
// length alone reserves no memory.
func readFrame(r io.Reader, buffer []byte, bound int) ([]byte, error) {
	var head [4]byte
	if _, err := io.ReadFull(r, head[:]); err != nil {
		return buffer[:0], err
	}
	length := int(binary.BigEndian.Uint32(head[:]))
	if length > bound {
		return buffer[:0], fmt.Errorf("a message of %d bytes is longer than the bound of %d: is something else written to stdout?", length, bound)
	}
	const step = 64 << 10
	buffer = buffer[:0]
	for len(buffer) < length {
		from, more := len(buffer), min(step, length-len(buffer))
		if cap(buffer) < from+more {
			buffer = append(buffer, make([]byte, more)...)
		}
		buffer = buffer[:from+more]
		if _, err := io.ReadFull(r, buffer[from:]); err != nil {
			return buffer[:0], fmt.Errorf("a message of %d bytes ends early: %w", length, err)
		}
	}
	return buffer, nil
}
