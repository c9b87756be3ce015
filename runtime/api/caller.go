package api

import (
	"bytes"
	"context"
	"encoding/json"
	"net/http"
)

// Asker is somebody inside this process who asks for others: whom he speaks for is
// known to him by other means than a token.
type Asker struct {
	Role      Role
	By, From  string // as the audit tells it: telegram, user 123
	RequestID string // names the request in the audit, so that it can be found again
}

// Ask answers a request of somebody inside this process. It goes the way of every
// other one: by role, with its trial, its audit and its bounds.
func (s *Server) Ask(ctx context.Context, asker Asker, method, path string, body any) (status int, answer []byte) {
	var text []byte
	if body != nil {
		var err error
		if text, err = json.Marshal(body); err != nil {
			return http.StatusBadRequest, nil
		}
	}
	request, err := http.NewRequestWithContext(context.WithValue(ctx, vouched, asker), method, "http://localhost"+path, bytes.NewReader(text))
	if err != nil {
		return http.StatusBadRequest, nil
	}
	if body != nil {
		request.Header.Set("Content-Type", "application/json")
	}
	kept := &keptAnswer{header: http.Header{}, status: http.StatusOK}
	s.handler.ServeHTTP(kept, request)
	return kept.status, kept.body.Bytes()
}

// Asked reports whether a change under a request's id is in the journal, from this
// run or one before.
func (s *Server) Asked(requestID string) bool { return s.config.History.Asked(requestID) }

// keptAnswer is an answer that goes nowhere.
type keptAnswer struct {
	header http.Header
	status int
	body   bytes.Buffer
}

func (k *keptAnswer) Header() http.Header                  { return k.header }
func (k *keptAnswer) WriteHeader(status int)               { k.status = status }
func (k *keptAnswer) Write(text []byte) (n int, err error) { return k.body.Write(text) }
