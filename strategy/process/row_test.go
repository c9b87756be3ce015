package process

import (
	"bytes"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"botd/exchange"
)

// unpacked unpacks rows as docs/process.md describes.
func unpacked(t *testing.T, member json.RawMessage, numbers int) (rows [][]float64) {
	t.Helper()
	var text string
	if err := json.Unmarshal(member, &text); err != nil {
		t.Fatal(err)
	}
	data, err := base64.StdEncoding.DecodeString(text)
	if err != nil {
		t.Fatal(err)
	}
	for row := range slices.Chunk(data, 8*numbers) {
		var read []float64
		for i := range numbers {
			bits := binary.LittleEndian.Uint64(row[8*i:])
			if i == 0 || i == 7 {
				read = append(read, float64(int64(bits)))
			} else {
				read = append(read, math.Float64frombits(bits))
			}
		}
		rows = append(rows, read)
	}
	return rows
}

// Packed candles unpack to the candles of their text.
func TestPackedCandlesAreThoseOfTheText(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(7, 7))
	for _, scale := range []int{0, 1, 5, 12} {
		symbol := *symbolOf(t)
		symbol.PriceScale = scale
		for _, prices := range []bool{false, true} {
			text, packed := form{Prices: prices}, form{Prices: prices, Packed: true}
			var asText, asBytes []byte
			for range 500 {
				price := func() exchange.Price { return exchange.Price(random.Int64N(1 << (1 + random.IntN(52)))) }
				candle := exchange.Candle{OpenMS: random.Int64N(1 << 42), Open: price(), High: price(), Low: price(), Close: price(),
					Volume: random.ExpFloat64(), QuoteVolume: random.ExpFloat64() * 1e9, Trades: random.Int64N(1 << 30),
					TakerBase: random.Float64(), TakerQuote: math.SmallestNonzeroFloat64}
				asText, asBytes = text.append(asText, &symbol, &candle), packed.append(asBytes, &symbol, &candle)
			}
			var want [][]float64
			if err := json.NewDecoder(bytes.NewReader(text.member(asText))).Decode(&want); err != nil {
				t.Fatal(err)
			}
			have := unpacked(t, packed.member(asBytes), len(want[0]))
			if !slices.EqualFunc(want, have, slices.Equal) {
				t.Errorf("%d places, prices alone %t: packed candles differ from their text", scale, prices)
			}
		}
	}
}
