package server

import (
	"encoding/json"
	"net/http"
	"strconv"
	"time"
)

// writeTimeout bounds the time in which a client must read its answer.
const writeTimeout = 30 * time.Second

// reply is one answer, ready to be sent.
type reply struct {
	status       int
	retrySeconds int    // Retry-After, when above zero
	allow        string // Allow, when not empty
	body         []byte
}

// refused is a reply with the error body of both markets (docs/exchange.md, error bodies).
func refused(status, code int, text string) reply {
	body, err := json.Marshal(struct {
		Code  int    `json:"code"`
		Error string `json:"error"`
	}{code, text})
	if err != nil {
		panic("server: error body: " + err.Error()) // an int and a string always marshal
	}
	return reply{status: status, body: body}
}

// success is a reply of 200 with a JSON body.
func success(content any) reply {
	body, err := json.Marshal(content)
	if err != nil {
		return refused(http.StatusInternalServerError, http.StatusInternalServerError, "encode answer: "+err.Error())
	}
	return reply{status: http.StatusOK, body: body}
}

// send writes the reply. half truncates its body and closes the connection.
func (p *reply) send(w http.ResponseWriter, half bool) {
	// A listener whose connections do not support deadlines has none here either.
	_ = http.NewResponseController(w).SetWriteDeadline(time.Now().Add(writeTimeout))
	header := w.Header()
	header.Set("Content-Type", "application/json")
	header.Set("Cache-Control", "no-store")
	header.Set("Content-Length", strconv.Itoa(len(p.body)))
	if p.retrySeconds > 0 {
		header.Set("Retry-After", strconv.Itoa(p.retrySeconds))
	}
	if p.allow != "" {
		header.Set("Allow", p.allow)
	}
	w.WriteHeader(p.status)
	if !half {
		_, _ = w.Write(p.body) // the client has disconnected; there is no one to report to
		return
	}
	_, _ = w.Write(p.body[:len(p.body)/2])
	_ = http.NewResponseController(w).Flush()
	panic(http.ErrAbortHandler)
}
