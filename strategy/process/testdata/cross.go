// A strategy for botd in Go, with nothing but the standard library (docs/process.md): cross.py once more.
//
// Long while the fast average of closes is above the slow one, flat otherwise.
package main

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
)

// message is what botd sends: a hello, candles or a decide.
type message struct {
	Type    string            `json:"type"`
	Params  map[string]string `json:"params"`
	Size    map[string]string `json:"size"`
	Candles [][]float64       `json:"candles"` // open time, open, high, low, close, ...
}

type plan struct {
	Target map[string]string `json:"target"`
	Reason string            `json:"reason"`
}

func read(m *message) error {
	var length [4]byte
	if _, err := io.ReadFull(os.Stdin, length[:]); err != nil {
		return err
	}
	text := make([]byte, binary.BigEndian.Uint32(length[:]))
	if _, err := io.ReadFull(os.Stdin, text); err != nil {
		return err
	}
	return json.Unmarshal(text, m)
}

func write(answer map[string]any) error {
	text, err := json.Marshal(answer)
	if err != nil {
		return err
	}
	_, err = os.Stdout.Write(append(binary.BigEndian.AppendUint32(nil, uint32(len(text))), text...))
	return err
}

func whole(params map[string]string, name string, otherwise int) (int, error) {
	if params[name] == "" {
		return otherwise, nil
	}
	return strconv.Atoi(params[name])
}

func mean(values []float64) (sum float64) {
	for _, value := range values {
		sum += value
	}
	return sum / float64(len(values))
}

func run() error {
	var hello message
	if err := read(&hello); err != nil {
		return err
	}
	fast, err := whole(hello.Params, "fast", 5)
	if err != nil {
		return err
	}
	slow, err := whole(hello.Params, "slow", 20)
	if err != nil {
		return err
	}
	if len(hello.Size) == 0 {
		hello.Size = map[string]string{"equity": "1"}
	}
	parameters := []map[string]string{
		{"name": "fast", "kind": "int", "default": "5", "min": "1", "help": "candles of the fast average"},
		{"name": "slow", "kind": "int", "default": "20", "min": "2", "help": "candles of the slow average"},
	}
	if err := write(map[string]any{"type": "hello", "protocol": 1, "warmup": slow, "parameters": parameters}); err != nil {
		return err
	}
	var closes []float64
	for {
		var question message
		if err := read(&question); err != nil {
			return err
		}
		for _, row := range question.Candles {
			closes = append(closes, row[4])
		}
		closes = closes[max(0, len(closes)-slow):]
		if question.Type != "decide" {
			continue
		}
		decided := plan{map[string]string{"quantity": "0"}, "fast below slow"}
		if len(closes) < slow {
			decided.Reason = "too few candles"
		} else if mean(closes[slow-fast:]) > mean(closes) {
			decided = plan{hello.Size, "fast above slow"}
		}
		if err := write(map[string]any{"type": "plan", "plan": decided}); err != nil {
			return err
		}
	}
}

func main() {
	if err := run(); err != nil && !errors.Is(err, io.EOF) { // at its end botd no longer needs the program
		_ = write(map[string]any{"type": "error", "message": err.Error()})
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
