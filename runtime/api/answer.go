package api

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"botd/internal/jsonalias"
	"botd/runtime/view"
)

// List is a page of a list, newest first.
type List[T any] struct {
	Schema int     `json:"schema"`
	Items  []T     `json:"items"`
	Next   *string `json:"next"` // the value of `after` for the next page; null when there is nothing older
}

func listOf[T any](items []T, next string) List[T] {
	list := List[T]{Schema: 1, Items: view.OrEmpty(items)}
	if next != "" {
		list.Next = &next
	}
	return list
}

// Items returns a complete list in the form of an API answer.
func Items[T any](items []T) List[T] { return listOf(items, "") }

// answer writes a document that the client may have cached.
func answer(w http.ResponseWriter, r *http.Request, value any) {
	text := encode(value)
	sum := sha256.Sum256(text)
	zips := len(text) >= worthZipping && acceptsGzip(r)
	tag := hex.EncodeToString(sum[:8])
	if zips { // another form is another tag
		tag += "-gzip"
	}
	tag = `"` + tag + `"`
	w.Header().Set("ETag", tag)
	w.Header().Set("Vary", "Accept-Encoding")
	w.Header().Set("Cache-Control", "no-cache") // keep, but ask
	if slices.Contains(strings.Split(r.Header.Get("If-None-Match"), ", "), tag) {
		w.WriteHeader(http.StatusNotModified)
		return
	}
	deliver(w, text, zips)
}

// deliver sends an answer, compressed if that saves enough.
func deliver(w http.ResponseWriter, text []byte, zips bool) {
	if !zips {
		send(w, http.StatusOK, text)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Content-Encoding", "gzip")
	_, _ = w.Write(zipped(line(text))) // a disconnected client gets no answer
}

// answerAs writes an answer that must not be cached.
func answerAs(w http.ResponseWriter, status int, value any) {
	w.Header().Set("Cache-Control", "no-store")
	send(w, status, encode(value))
}

func encode(value any) []byte {
	text, err := jsonalias.Marshal(value)
	if err != nil {
		panic(fmt.Sprintf("api: %T: %v", value, err)) // a type of botd that does not marshal to JSON
	}
	return text
}

func send(w http.ResponseWriter, status int, text []byte) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_, _ = w.Write(line(text)) // a disconnected client gets no answer
}

// line returns a text with an end of line, in memory of its own: several answers may share the
// text.
func line(text []byte) []byte { return append(slices.Clip(text), '\n') }
