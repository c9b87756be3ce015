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
	maxRequests  = 5_000 // remembered
	maxBodyShown = 2_048 // bytes of a remembered body
)

// requestRecord is one request of the interface, as it came.
type requestRecord struct {
	ID      int64  `json:"id"`
	TimeMS  int64  `json:"time"` // the exchange's
	Method  string `json:"method"`
	Path    string `json:"path"`
	Query   string `json:"query,omitempty"`
	Body    string `json:"body,omitempty"`
	Account string `json:"account,omitempty"` // the key, as sent
	Status  int    `json:"status"`            // 0: no answer was sent
	Fault   string `json:"fault,omitempty"`   // what was done to it
}

// requests is the journal of what was asked, newest last.
type requests struct {
	mu     sync.Mutex // guards all below
	last   int64
	record []requestRecord
}

// noteRequest remembers a request where somebody can ask for it.
func (s *Server) noteRequest(r *http.Request, body []byte, nowMS int64, status int, fault string) {
	if s.control {
		s.requests.note(r, body, nowMS, status, fault)
	}
}

// note remembers a request.
func (j *requests) note(r *http.Request, body []byte, nowMS int64, status int, fault string) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.last++
	if len(j.record) == 2*maxRequests {
		j.record = j.record[:copy(j.record, j.record[maxRequests:])]
	}
	j.record = append(j.record, requestRecord{ID: j.last, TimeMS: nowMS, Method: r.Method, Path: r.URL.Path, Query: r.URL.RawQuery,
		Body: string(body[:min(len(body), maxBodyShown)]), Account: r.Header.Get(wire.HeaderKey), Status: status, Fault: fault})
}

func (j *requests) clear() {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.record = nil
}

// listRequests answers with the requests that pass the filters of the query, oldest first: match (as
// of faults), account, status, after (an id), limit (the newest so many).
func (s *Server) listRequests(r *http.Request, _ []byte) reply {
	query, err := url.ParseQuery(r.URL.RawQuery)
	if err != nil {
		return badControl("query: %v", err)
	}
	f := Fault{Match: query.Get("match")}
	if f.Match != "" {
		if err := checkMatch(f.Match); err != nil {
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
			list = append(list, one)
		}
	}
	list = list[max(0, len(list)-int(min(numbers["limit"], maxRequests))):]
	return answered(map[string][]requestRecord{"requests": list})
}
