package wire

import (
	"cmp"
	"encoding/json"
	"strconv"
	"strings"

	"botd/exchange"
	"botd/internal/printable"
)

// reasonMalformed is the reason for an uncertain placement whose answer cannot be parsed.
const reasonMalformed = "malformed answer"

// errorOf converts an unsuccessful answer to an error. A readable venue error is a refusal, except
// for the statuses after which the outcome is unknown (exactly-once.md, cases 1, 3 and 4).
func errorOf(operation exchange.Operation, response HTTPResponse) error {
	switch response.Status {
	case 400, 401, 403, 404, 405:
		if code, message, parsed := parseError(response.Body); parsed {
			return &exchange.Refusal{Operation: operation, Status: response.Status, Code: code, Message: message}
		}
	}
	why := "status " + strconv.Itoa(response.Status)
	if response.Status == 429 {
		why = exchange.ReasonRateLimited
	}
	if operation.Places() {
		return &exchange.Uncertain{Reason: why}
	}
	return &exchange.Unavailable{Operation: operation, Reason: why, RetryAfterMS: response.RetryAfterMS()}
}

// RetryAfterMS returns the pause that the venue requests: Retry-After in whole seconds, at most an
// hour, 0 for none.
func (r HTTPResponse) RetryAfterMS() int64 {
	seconds, err := strconv.ParseInt(strings.TrimSpace(r.RetryAfter), 10, 64)
	if err != nil || seconds < 0 {
		return 0
	}
	return min(seconds, 3600) * 1000
}

// maxMessage bounds the venue's text in logs.
const maxMessage = 300 // bytes

// parseError reads an error body: {code, error}, {code, msg} or {code, message}.
func parseError(body []byte) (code int, message string, parsed bool) {
	var fields struct {
		Code    *whole `json:"code"`
		Error   string `json:"error"`
		Msg     string `json:"msg"`
		Message string `json:"message"`
	}
	if unmarshal(WithoutMark(body), &fields) != nil || fields.Code == nil {
		return 0, "", false
	}
	message = printable.Text(cmp.Or(fields.Error, fields.Msg, fields.Message, "no message"))
	if len(message) > maxMessage {
		message = strings.ToValidUTF8(message[:maxMessage], "")
	}
	return int(*fields.Code), message, true
}

// EncodeRefusal writes the error body of both markets (interface, Spot error
// body; docs/exchange.md, error bodies, for futures).
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
