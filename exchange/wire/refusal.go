package wire

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"

	"botd/exchange"
)

// ErrorOf turns an unsuccessful answer into an error of the taxonomy. A parsed
// venue error below 429 is a refusal. Everything else on a placement is
// uncertain, and on any other call unavailable.
func ErrorOf(operation exchange.Operation, status int, retryAfter string, body []byte) error {
	code, message, parsed := parseError(body)
	if parsed && (status == 400 || status == 401 || status == 403 || status == 404 || status == 405) {
		return &exchange.Refusal{Operation: operation, Status: status, Code: code, Message: message}
	}
	why := fmt.Sprintf("status %d", status)
	if status == 429 {
		why = "rate limited"
	}
	if operation.Places() {
		return &exchange.Uncertain{Why: why}
	}
	return &exchange.Unavailable{Operation: operation, Why: why, RetryAfterMS: retryMS(retryAfter)}
}

// retryMS reads Retry-After in whole seconds, an hour at most.
func retryMS(text string) int64 {
	seconds, err := strconv.ParseInt(strings.TrimSpace(text), 10, 64)
	if err != nil || seconds < 0 {
		return 0
	}
	return min(seconds, 3600) * 1000
}

// parseError reads an error body: {code, error}, {code, msg} or {code, message}.
func parseError(body []byte) (code int, message string, parsed bool) {
	var fields struct {
		Code    *whole `json:"code"`
		Error   string `json:"error"`
		Msg     string `json:"msg"`
		Message string `json:"message"`
	}
	if json.Unmarshal(body, &fields) != nil || fields.Code == nil {
		return 0, "", false
	}
	for _, message = range []string{fields.Error, fields.Msg, fields.Message, "no message"} {
		if message != "" {
			break
		}
	}
	const most = 300
	if len(message) > most {
		message = message[:most]
	}
	return int(*fields.Code), message, true
}

// EncodeRefusal writes the error body of both markets (interface, Spot error
// body; decisions.md for futures).
func EncodeRefusal(refusal *exchange.Refusal) []byte {
	body, err := json.Marshal(struct {
		Code  int    `json:"code"`
		Error string `json:"error"`
	}{refusal.Code, refusal.Message})
	if err != nil {
		panic("wire: " + err.Error()) // an int and a string
	}
	return body
}
