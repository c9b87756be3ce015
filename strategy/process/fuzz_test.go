package process

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"errors"
	"io"
	"testing"

	"botd/strategy"
)

// FuzzAnswer reads arbitrary output of a program. The result is a plan within the symbol's units that reads
// back unchanged, or an error. A length alone allocates nothing.
func FuzzAnswer(f *testing.F) {
	for _, seed := range []string{
		`{"type":"plan","plan":{"target":{"quantity":"0.5"},"reason":"r","memory":{"a":1}}}`, `{"type":"plan","plan":{"target":{"equity":0.5}}}`,
		`{"type":"plan","plan":{"orders":[{"key":"k","side":"BUY","price":"1.1","quantity":"0.001"}],"protection":{"stop_loss":{"share":"0.02"}}}}`,
		`{"type":"plan","plan":{"target":{"quantity":1e999999999}}}`, `{"type":"plan","plan":{"target":{"quantity":"1","equity":"1"}}}`,
		`{"type":"error","message":"m","file":"f","line":-1}`, `{"type":"hello","protocol":1,"warmup":-5}`, `{"plan":null}`, `{}`,
	} {
		f.Add(framed(seed))
	}
	f.Add([]byte{0xff, 0xff, 0xff, 0xff})
	f.Add([]byte{0, 0xff, 0xff, 0xff, '{'})
	s := symbolOf(f)
	f.Fuzz(func(t *testing.T, stream []byte) {
		text, err := readFrame(bytes.NewReader(stream), nil, maxAnswer)
		if err != nil {
			return
		}
		if cap(text) > 2*len(stream)+128<<10 {
			t.Fatalf("want no more memory than was sent, have %d for %d", cap(text), len(stream))
		}
		var a answer
		if json.Unmarshal(text, &a) != nil {
			return
		}
		_ = a.err().Error()
		var plan, again strategy.Plan
		if a.Plan == nil || a.Plan.into(&plan, s) != nil {
			return
		}
		if plan.OutOfBounds(s, 1000) != "" {
			return
		}
		if err := newPlan(&plan, s).into(&again, s); err != nil || again.Target != plan.Target || len(again.Orders) != len(plan.Orders) {
			t.Errorf("%q: want the plan back, have %+v and %+v, %v", text, plan, again, err)
		}
	})
}

func framed(texts ...string) (stream []byte) {
	for _, text := range texts {
		stream = append(binary.BigEndian.AppendUint32(stream, uint32(len(text))), text...)
	}
	return stream
}

// FuzzServe reads arbitrary input from the other end of the protocol. It is answered, or ends with an error.
func FuzzServe(f *testing.F) {
	var hello bytes.Buffer
	setting := &strategy.Setting{Symbol: symbolOf(f), Interval: 60_000}
	if _, err := writeFrame(&hello, nil, NewHello("one", setting, nil), maxFrame); err != nil {
		f.Fatal(err)
	}
	for _, seed := range []string{`{"type":"candles","candles":[[0,1.0,2.0,0.5,1.5,1,1,1,1,1]]}`,
		`{"type":"decide","now_ms":60000,"last":"1.5","view":{}}`,
		`{"type":"explain"}`, `{"type":"candles","candles":[[0]]}`, `{"type":"decide","last":"1.23456789"}`,
		`{"type":"decide","view":{"memory":{"a":1}}}`, `{`} {
		f.Add(append(bytes.Clone(hello.Bytes()), framed(seed)...))
		f.Add(framed(seed))
	}
	f.Fuzz(func(t *testing.T, stream []byte) {
		var out bytes.Buffer
		err := Serve(bytes.NewReader(stream), &out, func(h *Hello) (strategy.Strategy, []strategy.Parameter, error) {
			if h.Symbol == nil {
				return nil, nil, errors.New("no symbol")
			}
			return idle{}, nil, nil
		})
		_ = err
		for {
			text, err := readFrame(&out, nil, maxAnswer)
			if errors.Is(err, io.EOF) {
				return
			}
			if err != nil || !json.Valid(text) {
				t.Fatalf("want whole messages of JSON, have %q, %v", text, err)
			}
		}
	})
}

// idle is a strategy that requests nothing.
type idle struct{}

func (idle) Warmup() int                           { return 0 }
func (idle) Candle(*strategy.View)                 {}
func (idle) Decide(*strategy.View, *strategy.Plan) {}
