package api

import (
	"bytes"
	"context"
	"encoding/json"
	"net/http"

	"botd/runtime/api/auth"
)

// Call answers a request from inside this process. The role, the dry run, the audit and the limits
// apply as for every other request.
func (s *Server) Call(ctx context.Context, caller auth.Caller, method, path string, body any) (status int, answer []byte) {
	var text []byte
	if body != nil {
		var err error
		if text, err = json.Marshal(body); err != nil {
			return http.StatusBadRequest, nil
		}
	}
	request, err := http.NewRequestWithContext(auth.WithCaller(ctx, caller), method, "http://localhost"+path, bytes.NewReader(text))
	if err != nil {
		return http.StatusBadRequest, nil
	}
	if body != nil {
		request.Header.Set("Content-Type", "application/json")
	}
	inMemory := &answerInMemory{header: http.Header{}, status: http.StatusOK}
	s.handler.ServeHTTP(inMemory, request)
	return inMemory.status, inMemory.body.Bytes()
}

// Journaled reports whether a change under a request's id is in the journal, from this
// run or an earlier one.
func (s *Server) Journaled(requestID string) bool { return s.config.History.Journaled(requestID) }

// answerInMemory is an answer that is not sent.
type answerInMemory struct {
	header http.Header
	status int
	body   bytes.Buffer
}

func (a *answerInMemory) Header() http.Header                  { return a.header }
func (a *answerInMemory) WriteHeader(status int)               { a.status = status }
func (a *answerInMemory) Write(text []byte) (n int, err error) { return a.body.Write(text) }
