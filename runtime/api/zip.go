package api

import (
	"bytes"
	"compress/gzip"
	"net/http"
	"strings"
	"sync"
)

// worthZipping is the length from which an answer is compressed, in bytes: a
// thousand candles shrink to a third, a short one would only grow.
const worthZipping = 2 << 10

var zippers = sync.Pool{New: func() any {
	w, _ := gzip.NewWriterLevel(nil, gzip.BestSpeed) // a level that exists
	return w
}}

// acceptsGzip reports whether a client reads compressed answers.
func acceptsGzip(r *http.Request) bool {
	for _, coding := range strings.Split(r.Header.Get("Accept-Encoding"), ",") {
		name, quality, _ := strings.Cut(strings.TrimSpace(coding), ";")
		if name == "gzip" && strings.Trim(strings.TrimPrefix(strings.TrimSpace(quality), "q="), "0.") != "" || name == "gzip" && quality == "" {
			return true
		}
	}
	return false
}

func zipped(text []byte) []byte {
	var out bytes.Buffer
	w := zippers.Get().(*gzip.Writer)
	defer zippers.Put(w)
	w.Reset(&out)
	_, _ = w.Write(text) // into memory
	_ = w.Close()
	return out.Bytes()
}
