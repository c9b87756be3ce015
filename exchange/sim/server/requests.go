package server

import (
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"sync"

	"botd/exchange/wire"
)

const (
	requestsPath = "/control/v1/requests"
	maxRequests  = 5_000 // remembered requests
	maxBodyShown = 2_048 // bytes of a remembered body
)

// requestRecord is one request of the interface as received, in order of arrival.
type requestRecord struct {
	ID      int64  `json:"id"`
	TimeMS  int64  `json:"time"` // time of the exchange
	Method  string `json:"method"`
	Path    string `json:"path"`
	Query   string `json:"query,omitempty"`
	Body    string `json:"body,omitempty"`
	Account string `json:"account,omitempty"` // the key, as sent
	Status  int    `json:"status"`            // 0: no answer has been sent
	Pending bool   `json:"pending,omitempty"` // the answer is pending
	Fault   string `json:"fault,omitempty"`   // the injected fault
}

// requests is the journal of received requests, newest last.
type requests struct {
	mu     sync.Mutex // guards all below, and the records
	last   int64
	record []*requestRecord
}

// recording is a request in the journal whose answer is recorded later; nil if the journal is not
// exposed.
type recording struct {
	journal *requests
	record  *requestRecord
}

// journal records a received request if the control interface can query it.
func (s *Server) journal(r *http.Request, body []byte) *recording {
	if !s.control {
		return nil
	}
	record := &requestRecord{Method: r.Method, Path: r.URL.Path, Query: r.URL.RawQuery, Body: string(body[:min(len(body), maxBodyShown)]),
		Account: r.Header.Get(wire.HeaderKey), Pending: true}
	s.requests.add(record, s.clock.nowMS)
	return &recording{&s.requests, record}
}

// add appends a record. The time is read in the order of the ids.
func (j *requests) add(record *requestRecord, nowMS func() int64) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.last++
	record.ID, record.TimeMS = j.last, nowMS()
	if len(j.record) == 2*maxRequests {
		rest := copy(j.record, j.record[maxRequests:])
		clear(j.record[rest:])
		j.record = j.record[:rest]
	}
	j.record = append(j.record, record)
}

// recordAnswer records a request's answer and the fault that affected it.
func (e *recording) recordAnswer(status int, fault string) {
	if e == nil {
		return
	}
	e.journal.mu.Lock()
	defer e.journal.mu.Unlock()
	e.record.Status, e.record.Fault, e.record.Pending = status, fault, false
}

func (j *requests) clear() {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.record = nil
}

// listRequests answers with the requests that pass the filters of the query, oldest first: match
// (as of faults), account, status, after (an id), limit (the newest n).
func (s *Server) listRequests(r *http.Request, _ []byte) reply {
	query, err := url.ParseQuery(r.URL.RawQuery)
	if err != nil {
		return badControl("query: %v", err)
	}
	f := Fault{Match: query.Get("match")}
	if f.Match != "" {
		if err := checkMatch(f.Match, s.symbols); err != nil {
			return badControl("%v", err)
		}
	}
	numbers := map[string]int64{"after": 0, "limit": maxRequests, "status": -1}
	for name := range numbers {
		if text := query.Get(name); text != "" {
			n, err := strconv.ParseInt(text, 10, 64)
			if err != nil || n < 0 {
				return badControl("%s %.40q is not a number", name, text)
			}
			numbers[name] = n
		}
	}
	for name := range query {
		if _, known := numbers[name]; !known && name != "match" && name != "account" {
			return badControl("filter %.40q is unknown (known: match, account, status, after, limit)", name)
		}
	}
	s.requests.mu.Lock()
	defer s.requests.mu.Unlock()
	list := []requestRecord{}
	for _, one := range s.requests.record {
		if one.ID > numbers["after"] && (f.Match == "" || f.matches(one.Method+" "+one.Path)) &&
			(numbers["status"] < 0 || int64(one.Status) == numbers["status"]) &&
			(!query.Has("account") || strings.EqualFold(one.Account, query.Get("account"))) {
			list = append(list, *one)
		}
	}
	list = list[max(0, len(list)-int(min(numbers["limit"], maxRequests))):]
	return success(map[string][]requestRecord{"requests": list})
}
