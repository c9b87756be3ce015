package api

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"botd/runtime/view"
)

// Bounds of a page.
const (
	defaultLimit = 100
	maxLimit     = 1_000
	maxRequest   = 64 << 10 // bytes of a body
)

// Problem is the answer of every request that failed (RFC 9457).
type Problem struct {
	Type      string `json:"type"`
	Title     string `json:"title"`
	Status    int    `json:"status"`
	Detail    string `json:"detail"`
	Code      string `json:"code"` // what kind of failure, for programs
	RequestID string `json:"request_id"`
}

// Codes are the kinds of failure.
var Codes = []string{"host", "cross_origin", "credentials", "role", "login_delay", "parameter", "body", "too_large", "not_found", "method", "not_quarantined", "not_possible", "idempotency_key",
	"exchange", "stopped", "unwritten", "stream", "internal"}

func problem(w http.ResponseWriter, r *http.Request, status int, code, detail string) {
	text, err := json.Marshal(Problem{"about:blank", http.StatusText(status), status, detail, code, requestID(r)})
	if err != nil {
		panic("api: a problem that is no JSON: " + err.Error())
	}
	w.Header().Set("Content-Type", "application/problem+json")
	w.Header().Set("Cache-Control", "no-store")
	w.WriteHeader(status)
	_, _ = w.Write(append(text, '\n')) // a client that is gone gets no answer
}

// answer writes a document that a client may have already.
func answer(w http.ResponseWriter, r *http.Request, value any) {
	text, err := json.Marshal(value)
	if err != nil {
		panic(fmt.Sprintf("api: %T: %v", value, err))
	}
	sum := sha256.Sum256(text)
	zips := len(text) >= worthZipping && takesGzip(r)
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

// deliver sends an answer, compressed where that is worth it.
func deliver(w http.ResponseWriter, text []byte, zips bool) {
	if !zips {
		send(w, http.StatusOK, text)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Content-Encoding", "gzip")
	_, _ = w.Write(zipped(append(text, '\n'))) // a client that is gone gets no answer
}

// answerAs writes the answer of a change, which nobody may keep.
func answerAs(w http.ResponseWriter, status int, value any) {
	text, err := json.Marshal(value)
	if err != nil {
		panic(fmt.Sprintf("api: %T: %v", value, err))
	}
	w.Header().Set("Cache-Control", "no-store")
	send(w, status, text)
}

func send(w http.ResponseWriter, status int, text []byte) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_, _ = w.Write(append(text, '\n')) // a client that is gone gets no answer
}

// List is a page of things, newest first.
type List[T any] struct {
	Schema int     `json:"schema"`
	Items  []T     `json:"items"`
	Next   *string `json:"next"` // for after; null when there is nothing older
}

func listOf[T any](items []T, next string) List[T] {
	if items == nil {
		items = []T{}
	}
	list := List[T]{Schema: 1, Items: items}
	if next != "" {
		list.Next = &next
	}
	return list
}

// Items is a whole list as the API answers one.
func Items[T any](items []T) List[T] { return listOf(items, "") }

// page reads limit and after, and refuses parameters that nobody reads.
func pageOf(w http.ResponseWriter, r *http.Request, known ...string) (url.Values, view.Page, bool) {
	page := view.Page{Limit: defaultLimit}
	query, err := queryOf(r, append(known, "limit", "after")...)
	if err == nil && query.Has("limit") {
		page.Limit, err = whole(query, "limit", 1, maxLimit)
	}
	if err == nil && query.Has("after") {
		page.After, err = strconv.ParseInt(query.Get("after"), 10, 64)
		if err != nil || page.After < 1 {
			err = fmt.Errorf("after %q is no cursor: take next of the page before", query.Get("after"))
		}
	}
	if err != nil {
		problem(w, r, http.StatusBadRequest, "parameter", err.Error())
		return nil, page, false
	}
	return query, page, true
}

// query reads the query; every name must be known, and given once.
func queryOf(r *http.Request, known ...string) (url.Values, error) {
	query, err := url.ParseQuery(r.URL.RawQuery)
	if err != nil {
		return nil, fmt.Errorf("query: %w", err)
	}
	for name, values := range query {
		switch {
		case len(known) == 0:
			return nil, fmt.Errorf("parameter %q is unknown: this path takes none", name)
		case !slices.Contains(known, name):
			slices.Sort(known)
			return nil, fmt.Errorf("parameter %q is unknown (known: %s)", name, strings.Join(known, ", "))
		case len(values) > 1:
			return nil, fmt.Errorf("parameter %q is given %d times", name, len(values))
		}
	}
	return query, nil
}

func whole(query url.Values, name string, least, most int) (int, error) {
	n, err := strconv.Atoi(query.Get(name))
	if err != nil || n < least || n > most {
		return 0, fmt.Errorf("%s %q is not a whole number from %d to %d", name, query.Get(name), least, most)
	}
	return n, nil
}

// chosen applies the filters most lists have.
func chosen(query url.Values, strategy, market, symbol string) bool {
	for name, have := range map[string]string{"strategy": strategy, "market": market, "symbol": symbol} {
		if want := query.Get(name); want != "" && want != have {
			return false
		}
	}
	return true
}

// writeList answers with a page.
func writeList[T any](w http.ResponseWriter, r *http.Request, items []T, next string) {
	answer(w, r, listOf(items, next))
}

func missing(w http.ResponseWriter, r *http.Request, what, name string) {
	problem(w, r, http.StatusNotFound, "not_found", fmt.Sprintf("%s %q is not known", what, name))
}

// body reads a JSON object; fields that nobody knows are refused.
func body(r *http.Request, into any) error {
	decoder := json.NewDecoder(r.Body)
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(into); err != nil {
		return fmt.Errorf("read body: %w", err)
	}
	if _, err := decoder.Token(); !errors.Is(err, io.EOF) {
		return errors.New("read body: something follows the object")
	}
	return nil
}

// tooLarge reports whether a body could not be read for its size.
func tooLarge(err error) bool {
	var large *http.MaxBytesError
	return errors.As(err, &large)
}

// problemOfBody answers a request whose body can not be taken.
func problemOfBody(w http.ResponseWriter, r *http.Request, err error) {
	if tooLarge(err) {
		problem(w, r, http.StatusRequestEntityTooLarge, "too_large", fmt.Sprintf("the body is larger than %d KiB", maxRequest>>10))
		return
	}
	problem(w, r, http.StatusBadRequest, "body", err.Error())
}

// optional reads a body that may be missing.
func optional(r *http.Request, into any) error {
	if r.ContentLength == 0 {
		return nil
	}
	return body(r, into)
}
