package signals

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"botd/exchange"
	"botd/internal/inbound"
	"botd/strategy"
)

// message is a signal in the sender's form. TradingView fills in its placeholders, with or without
// quotes, so that a value may be a text or a number.
type message struct {
	Token    string `json:"token"`
	ID       scalar `json:"id"`
	Strategy string `json:"strategy"`
	Position string `json:"position"` // long, short, flat
	Action   string `json:"action"`   // buy, sell, close: for senders that do not know the position
	Size     scalar `json:"size"`
	Time     scalar `json:"time"`
	Expires  scalar `json:"expires"`
	Symbol   string `json:"symbol"`
	Comment  string `json:"comment"`
}

// String returns the request in words, without the token.
func (m *message) String() string {
	text := fmt.Sprintf("id %s: %s%s", m.ID, m.Position, m.Action)
	if m.Size != "" {
		text += ", size " + string(m.Size)
	}
	if m.Comment != "" {
		text += ": " + m.Comment
	}
	return text
}

// scalar is a text or a number, as written.
type scalar string

var errScalar = errors.New("id, size, time and expires are texts or numbers")

// UnmarshalJSON takes a text or a number.
func (s *scalar) UnmarshalJSON(text []byte) error {
	if len(text) > 0 && text[0] == '"' {
		var inner string
		if err := json.Unmarshal(text, &inner); err != nil {
			return err
		}
		*s = scalar(strings.TrimSpace(inner))
		return nil
	}
	if len(text) == 0 || text[0] != '-' && (text[0] < '0' || text[0] > '9') {
		return errScalar
	}
	*s = scalar(text)
	return nil
}

// read parses a body. Its errors do not repeat the body, which may hold the token. The message holds
// the token even when the rest is wrong, since the token is
// checked first.
func read(text []byte) (*message, error) {
	var m message
	var first struct {
		Token string `json:"token"`
	}
	if err := json.Unmarshal(text, &first); err != nil {
		return nil, errors.New("the body is not one JSON object, or its token is not a string")
	}
	strict := json.NewDecoder(bytes.NewReader(text))
	strict.DisallowUnknownFields()
	err := strict.Decode(&m)
	m.Token = first.Token
	keys := inbound.CheckKeys(text)
	var wrong *json.UnmarshalTypeError
	switch {
	case errors.Is(keys, inbound.ErrSpelling):
		return &m, errUnknown
	case keys != nil:
		return &m, keys
	case errors.As(err, &wrong):
		return &m, fmt.Errorf("%q is a %s", wrong.Field, wrong.Value)
	case errors.Is(err, errScalar):
		return &m, errScalar
	case err != nil:
		return &m, errUnknown
	}
	return &m, nil
}

var errUnknown = errors.New("the body has an unknown key; the known ones are token, id, strategy, position, action, size, time, expires, " +
	"symbol, comment")

// Bounds of texts.
const (
	maxID      = 128
	maxComment = 200
)

var positions = map[string]int{"long": 1, "short": -1, "flat": 0}

var actions = map[string]int{"buy": 1, "sell": -1, "close": 0}

// signal returns the signal that the message describes.
func (m *message) signal() (*strategy.Signal, error) {
	s := &strategy.Signal{ID: string(m.ID), Share: exchange.RateOne}
	side, known := positions[strings.ToLower(m.Position)]
	action, acts := actions[strings.ToLower(m.Action)]
	switch {
	case m.ID == "" || len(m.ID) > maxID:
		return nil, errors.New(`"id" is missing or longer than 128 bytes: it makes a signal count only once, for example "{{strategy.order.id}} {{timenow}}"`)
	case m.Strategy == "":
		return nil, errors.New(`"strategy" is missing: the name of a strategy of kind signal`)
	case m.Position == "" && m.Action == "":
		return nil, errors.New(`"position" (long, short, flat) or "action" (buy, sell, close) is missing`)
	case m.Position != "" && !known:
		return nil, errors.New(`"position" must be long, short or flat`)
	case m.Action != "" && !acts:
		return nil, errors.New(`"action" must be buy, sell or close`)
	case len(m.Comment) > maxComment:
		return nil, errors.New(`"comment" is longer than 200 bytes`)
	}
	s.Side = side
	if m.Position == "" {
		s.Side = action
	}
	var err error
	if m.Size != "" {
		if s.Share, err = parseShare(string(m.Size)); err != nil {
			return nil, err
		}
	}
	if s.AtMS, err = moment(string(m.Time)); err != nil {
		return nil, fmt.Errorf(`"time": %w`, err)
	}
	s.ExpiresMS, err = m.expires(s.AtMS)
	return s, err
}

func parseShare(text string) (exchange.Rate, error) {
	text = strings.ReplaceAll(text, " ", "")
	if len(text) <= 20 && !strings.ContainsAny(text, "eE") {
		if rate, err := exchange.ParseRate(text); err == nil && rate > 0 && rate <= exchange.RateOne {
			return rate, nil
		}
	}
	return 0, errors.New(`"size" is a share of the configured size, above 0 and at most 1 or 100%`)
}

// moment reads RFC 3339, as TradingView's {{timenow}}, or milliseconds since 1970.
func moment(text string) (int64, error) {
	if at, err := time.Parse(time.RFC3339, text); err == nil {
		return at.UnixMilli(), nil
	}
	if ms, err := strconv.ParseInt(text, 10, 64); err == nil && ms > 1e12 && ms < 1e14 {
		return ms, nil
	}
	return 0, errors.New(`want a time such as 2026-01-31T12:00:00Z ("{{timenow}}"), or milliseconds since 1970`)
}

// longest is how far away an expiry may lie.
const longest = 366 * 24 * time.Hour

// expires reads a time, or a duration from the signal's own time.
func (m *message) expires(at int64) (int64, error) {
	if m.Expires == "" {
		return 0, nil
	}
	ends, err := moment(string(m.Expires))
	if err != nil {
		holds, err := time.ParseDuration(string(m.Expires))
		if err != nil {
			return 0, errors.New(`"expires" is neither a time nor a duration such as 4h`)
		}
		ends = at + holds.Milliseconds()
	}
	if ends <= at || ends > at+longest.Milliseconds() {
		return 0, errors.New(`"expires" is not after "time", or more than a year after it`)
	}
	return ends, nil
}

// plainSymbol reduces the common spellings of a symbol (BTC-USDT, BTCUSDT, BINANCE:BTCUSDT.P) to one.
func plainSymbol(symbol string) string {
	if _, after, found := strings.Cut(symbol, ":"); found {
		symbol = after
	}
	symbol = strings.TrimSuffix(strings.ToUpper(symbol), ".P")
	return strings.NewReplacer("-", "", "/", "", "_", "").Replace(symbol)
}
