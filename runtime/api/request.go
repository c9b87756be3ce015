package api

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"botd/internal/inbound"
	"botd/runtime/view"
)

// Limits of a request.
const (
	defaultLimit = 100
	maxLimit     = 1_000
	maxRequest   = 64 << 10 // bytes of a body
	maxReason    = 500      // bytes
	maxMS        = 1 << 52
)

// request is a request to a route, its query read and checked.
type request struct {
	*http.Request
	query  url.Values
	page   view.Page
	dryRun bool
	writer http.ResponseWriter
}

// extend extends the server's limit for the answer.
func (r *request) extend(timeout time.Duration) {
	// A writer without deadlines, as in a test, is accepted.
	_ = http.NewResponseController(r.writer).SetWriteDeadline(time.Now().Add(timeout))
}

// parameter is one parameter of a query.
type parameter struct {
	name, text string
	kind       kind
	values     []string // of a choice
	fallback   int64    // for a missing number
	maximum    int64    // of a number, from 1 on
	required   bool
}

type kind uint8

const (
	text kind = iota
	boolean
	number
	milliseconds
	cursor
)

// Parameters of many routes.
var (
	ofStrategy  = parameter{name: "strategy", text: "Only of this strategy."}
	ofMarket    = parameter{name: "market", text: "Only of this market.", values: []string{"futures", "spot"}}
	ofSymbol    = parameter{name: "symbol", text: "Only of this symbol."}
	pageLimit   = parameter{name: "limit", text: "Maximum number of items.", kind: number, fallback: defaultLimit, maximum: maxLimit}
	pageAfter   = parameter{name: "after", text: "The `next` value of the previous page: only older items.", kind: cursor}
	dryRunQuery = parameter{name: "dry_run", text: "Returns exactly what would be done, and does nothing.", kind: boolean}
)

// parameters returns all query parameters of a route.
func (e *route) parameters() []parameter {
	all := slices.Clone(e.takes)
	if e.paged {
		all = append(all, pageLimit, pageAfter)
	}
	if e.changes {
		all = append(all, dryRunQuery)
	}
	return all
}

// readRequest reads a query; every parameter must be known, and given once.
func readRequest(each *route, r *http.Request) (*request, error) {
	query, err := url.ParseQuery(r.URL.RawQuery)
	if err != nil {
		return nil, badParameter("query: " + err.Error())
	}
	known := each.parameters()
	for _, name := range slices.Sorted(maps.Keys(query)) {
		at := slices.IndexFunc(known, func(p parameter) bool { return p.name == name })
		switch {
		case len(known) == 0:
			return nil, badParameter(fmt.Sprintf("parameter %q is unknown: this path takes none", name))
		case at < 0:
			return nil, badParameter(fmt.Sprintf("parameter %q is unknown (known: %s)", name, names(known)))
		case len(query[name]) > 1:
			return nil, badParameter(fmt.Sprintf("parameter %q is given %d times", name, len(query[name])))
		}
		if err := known[at].check(query.Get(name)); err != nil {
			return nil, badParameter(err.Error())
		}
	}
	out := &request{Request: r, query: query, dryRun: query.Get("dry_run") == "true"}
	if each.paged {
		out.page = view.Page{Limit: int(out.number("limit", defaultLimit)), After: out.number("after", 0)}
	}
	return out, nil
}

func names(known []parameter) string {
	var all []string
	for _, p := range known {
		all = append(all, p.name)
	}
	slices.Sort(all)
	return strings.Join(all, ", ")
}

// check refuses a value that does not match the parameter's kind.
func (p *parameter) check(value string) error {
	n, err := strconv.ParseInt(value, 10, 64)
	switch {
	case len(p.values) > 0 && value != "" && !slices.Contains(p.values, value):
		return fmt.Errorf("%s %q is not one of %s", p.name, value, strings.Join(p.values, ", "))
	case p.kind == boolean && value != "true" && value != "false":
		return fmt.Errorf("%s %q is neither true nor false", p.name, value)
	case p.kind == number && (err != nil || n < 1 || n > p.maximum):
		return fmt.Errorf("%s %q is not an integer from 1 to %d", p.name, value, p.maximum)
	case p.kind == milliseconds && (err != nil || n < 0 || n > maxMS):
		return fmt.Errorf("%s %q is not a number of milliseconds", p.name, value)
	case p.kind == cursor && (err != nil || n < 1):
		return fmt.Errorf("%s %q is not a cursor: use next of the previous page", p.name, value)
	}
	return nil
}

// number returns a number of the query, which was checked.
func (r *request) number(name string, fallback int64) int64 {
	n, err := strconv.ParseInt(r.query.Get(name), 10, 64)
	if err != nil { // it is not given
		return fallback
	}
	return n
}

// is reports whether a filter of the query lets a value pass.
func (r *request) is(name, have string) bool { return cmp.Or(r.query.Get(name), have) == have }

// isFlag reports whether a filter of the query lets a flag pass.
func (r *request) isFlag(name string, have bool) bool { return r.is(name, strconv.FormatBool(have)) }

// isOf applies the filters that most lists have.
func (r *request) isOf(strategy, market, symbol string) bool {
	return r.is("strategy", strategy) && r.is("market", market) && r.is("symbol", symbol)
}

// read reads the body of a change, which may be missing. The body may also request a dry run.
func (r *request) read(into any) error {
	if _, none := into.(*nothing); none || r.ContentLength == 0 {
		return nil
	}
	if err := decode(r.Request, into); err != nil {
		return err
	}
	if given, reasoned := into.(interface{ given() *ReasonRequest }); reasoned {
		reason := given.given()
		if len(reason.Reason) > maxReason {
			return badBody(fmt.Sprintf("reason is %d bytes long, the maximum is %d", len(reason.Reason), maxReason))
		}
		r.dryRun = r.dryRun || reason.DryRun
	}
	return nil
}

// decode reads a JSON object. It refuses an unknown field, and a field that appears twice or in
// another spelling, since Go's decoder would take the last one.
func decode(r *http.Request, into any) error {
	text, err := io.ReadAll(r.Body)
	if err != nil {
		return bodyError(err)
	}
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(into); err != nil {
		return bodyError(err)
	}
	if _, err := decoder.Token(); !errors.Is(err, io.EOF) {
		return badBody("read body: something follows the object")
	}
	if err := inbound.CheckKeys(text); err != nil {
		return bodyError(err)
	}
	return nil
}

func bodyError(err error) error {
	if _, ok := errors.AsType[*http.MaxBytesError](err); ok {
		return &failure{http.StatusRequestEntityTooLarge, "too_large", fmt.Sprintf("the body is larger than %d KiB", maxRequest>>10)}
	}
	return badBody("read body: " + err.Error())
}
