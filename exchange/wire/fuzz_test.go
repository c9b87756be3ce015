package wire

import (
	"encoding/json"
	"errors"
	"net/url"
	"testing"

	"github.com/google/go-cmp/cmp"

	"botd/exchange"
)

// operationOf picks an operation by a fuzzed byte.
func operationOf(b byte) exchange.Operation {
	all := exchange.Operations()
	return all[int(b)%len(all)]
}

func FuzzDecodeAnswer(f *testing.F) {
	for i, operation := range exchange.Operations() {
		f.Add(byte(i), 200, golden(f, operation))
		f.Add(byte(i), 400, []byte(`{"code":-1,"error":"no"}`))
	}
	symbols := testTable(f)
	f.Fuzz(func(t *testing.T, which byte, status int, body []byte) {
		operation := operationOf(which)
		request := goldenRequest(operation)
		answer, err := DecodeAnswer(request, HTTPResponse{Status: status, Body: body}, symbols)
		if err != nil {
			if kind := exchange.ErrorKind(err); kind == "other" || operation.Places() && kind != "refusal" && kind != "uncertain" {
				t.Fatalf("%s %d %q: have %#v", operation, status, body, err)
			}
			return
		}
		// A decoded answer can be encoded, and decodes to the same answer.
		_, written, err := EncodeAnswer(&answer, request, symbols)
		var unknown *UnknownSymbolError
		if err != nil {
			t.Fatalf("%s %q: %v", operation, body, err)
		}
		again, err := DecodeAnswer(request, HTTPResponse{Status: 200, Body: written}, symbols)
		if err != nil && !errors.As(err, &unknown) {
			t.Fatalf("%s %q became %q: %v", operation, body, written, err)
		}
		_, rewritten, err := EncodeAnswer(&again, request, symbols)
		if err != nil || string(rewritten) != string(written) && ofThisAge(&answer) {
			t.Fatalf("%s %q became %q, then %q, %v", operation, body, written, rewritten, err)
		}
	})
}

// ofThisAge reports whether all times are between 1973 and 5138: outside that range seconds and
// milliseconds are ambiguous.
func ofThisAge(a *exchange.Answer) bool {
	times := []int64{}
	if a.Candles != nil {
		times = append(times, a.Candles.OpenMS...)
	}
	orders := []exchange.Order{a.Order}
	if a.Orders.Done() {
		orders = append(orders, a.Orders.Items()...)
	}
	for i := range orders {
		times = append(times, orders[i].CreatedMS)
	}
	if a.Positions.Done() {
		for _, p := range a.Positions.Items() {
			times = append(times, p.CreatedMS, p.UpdatedMS)
		}
	}
	for _, ms := range times {
		if ms != 0 && (ms <= laterThanSeconds || ms > 1000*laterThanSeconds) {
			return false
		}
	}
	return true
}

func FuzzDecodeRequest(f *testing.F) {
	symbols := testTable(f)
	for _, c := range requestCases(symbols) {
		f.Add(byte(c.request.Operation-1), "symbol=BTC-USDT&interval=1m&limit=5", []byte(c.body))
	}
	f.Fuzz(func(t *testing.T, which byte, rawQuery string, body []byte) {
		operation := operationOf(which)
		query, err := url.ParseQuery(rawQuery)
		if err != nil {
			return
		}
		request, err := DecodeRequest(operation, "BTC-USDT", query, body, symbols)
		var refusal *exchange.Refusal
		if err != nil {
			if !errors.As(err, &refusal) || refusal.Status != 400 || refusal.Code == 0 || refusal.Message == "" || !json.Valid(EncodeRefusal(refusal)) {
				t.Fatalf("%s %q %q: have %#v", operation, rawQuery, body, err)
			}
			return
		}
		if request.Limit < 0 || request.Limit > 1500 || request.StartMS < 0 || request.EndMS < 0 || request.Offset < 0 {
			t.Fatalf("%s %q: out of bounds: %+v", operation, rawQuery, request)
		}
	})
}

func FuzzScanCandles(f *testing.F) {
	f.Add([]byte("[" + plainCandle + "]"))
	f.Add(golden(f, exchange.FuturesCandles))
	f.Add(manyCandles(2))
	symbol := testTable(f)[btcKey]
	f.Fuzz(func(t *testing.T, body []byte) {
		scanned := &exchange.Candles{Interval: exchange.Minute1}
		if !scanCandles(body, symbol, scanned) {
			return
		}
		d := answerDecoder{request: goldenRequest(exchange.FuturesCandles), body: body}
		long, err := d.readCandles(symbol)
		if err != nil || long.Len() != scanned.Len() {
			t.Fatalf("%q: the scanner read %d candles, the long way %v", body, scanned.Len(), err)
		}
		for i := range long.Len() {
			if difference := cmp.Diff(long.At(i), scanned.At(i)); difference != "" {
				t.Fatalf("%q (-long +scanned):\n%s", body, difference)
			}
		}
	})
}

func FuzzSignerTemplate(f *testing.F) {
	f.Add("{timestamp}{method}{path}{body}")
	f.Add("{query}{key}}{")
	f.Fuzz(func(t *testing.T, template string) {
		signer := Signer{Template: template}
		if signer.Check() == nil && !signer.Verify([]byte("secret"), signed, signer.Sign([]byte("secret"), signed)) {
			t.Fatalf("%q does not verify its own signature", template)
		}
	})
}
