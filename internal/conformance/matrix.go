package conformance

import (
	"strconv"
	"strings"

	"botd/exchange"
	"botd/exchange/sim"
)

// Row counts the cases of one item that the suite must cover. The tests of the suite fail for an item without
// a case.
type Row struct {
	What   string `json:"what"` // operation, subject, refusal, status, state, field, limit
	Name   string `json:"name"`
	Cases  int    `json:"cases"`
	Wired  int    `json:"http_only"` // cases on the server only: they send raw HTTP
	Checks int    `json:"checks"`
	Text   string `json:"text"` // a summary in a few words
}

// matrix counts cases per row.
type matrix struct {
	rows []Row
	at   map[[2]string]int
}

// statuses are the statuses of the interface, and those that docs/exchange.md adds: 404, 405.
var statuses = []string{"200", "201", "400", "401", "403", "404", "405", "429", "500", "503"}

// httpCodes are errors that only a server can return: the common codes of the interface, and those of an invalid request.
var httpCodes = [][2]string{
	{"-1021", "invalid timestamp"}, {"-1022", "invalid signature"}, {"malformed", "a body or a parameter cannot be read"},
	{"404", "an unknown path"}, {"405", "a wrong method"}, {"429", "rate limited"},
}

// limited are the operations with a limit, with the interface's default and maximum (Limits; positions history has no maximum there).
var limited = []struct {
	operation exchange.Operation
	text      string
}{
	{exchange.FuturesDepth, "default 100, max 1000"},
	{exchange.FuturesTrades, "default 500, max 1000"},
	{exchange.FuturesCandles, "default 500, max 1500"},
	{exchange.FuturesPositionsHistory, "default 30"},
	{exchange.SpotDepth, "default 100, valid 5, 10, 20, 50, 100"},
	{exchange.SpotTrades, "default 500, max 1000"},
	{exchange.SpotCandles, "default 100, max 500"},
	{exchange.SpotOrderHistory, "default 500, max 1000"},
	{exchange.SpotUserTrades, "default 500, max 1000"},
}

// Matrix counts the cases of each row, in the order of the interface.
func Matrix(cases []Case) []Row {
	m := emptyMatrix()
	for i := range cases {
		m.count(&cases[i])
	}
	return m.rows
}

func emptyMatrix() *matrix {
	m := &matrix{at: map[[2]string]int{}}
	for _, operation := range exchange.Operations() {
		m.add("operation", operation.String(), "")
	}
	for _, subject := range subjects {
		m.add("subject", subject.Key, subject.Text+" ["+subject.Section+"]")
	}
	for _, rule := range sim.Rules() {
		m.add("refusal", rule.Name, rule.Sentence)
	}
	for _, code := range httpCodes {
		m.add("refusal", code[0], code[1])
	}
	for _, status := range statuses {
		m.add("status", status, "")
	}
	for _, each := range records {
		for _, state := range strings.Fields(each.states) {
			m.add("state", each.name+" "+state, "")
		}
	}
	for _, each := range records {
		for _, field := range strings.Fields(each.fields) {
			m.add("field", each.name+" "+field, "")
		}
	}
	for _, each := range limited {
		m.add("limit", each.operation.String(), each.text)
		m.add("limit", each.operation.String()+" beyond", "above the maximum, below 1")
	}
	return m
}

func (m *matrix) add(what, name, text string) {
	m.at[[2]string{what, name}] = len(m.rows)
	m.rows = append(m.rows, Row{What: what, Name: name, Text: text})
}

// count adds one case to each of its rows.
func (m *matrix) count(c *Case) {
	checks := map[int]int{}
	note := func(what, name string, n int) {
		if at, found := m.at[[2]string{what, name}]; found && n > 0 {
			checks[at] += n
		}
	}
	total := 0
	for i := range c.steps {
		total += c.steps[i].count(c.Subject, note)
	}
	note("subject", c.Subject, total)
	for at, n := range checks {
		m.rows[at].Cases++
		m.rows[at].Checks += n
		if c.Wired() {
			m.rows[at].Wired++
		}
	}
}

// count records the expectations of a step and returns the number of checks.
func (s *step) count(subject string, note func(what, name string, n int)) int {
	n := len(s.wants)
	if (s.outcome != outcome{}) {
		n++
	}
	operation := s.operation()
	note("operation", operation.String(), n)
	if s.outcome.status != 0 {
		note("status", strconv.Itoa(s.outcome.status), 1)
	}
	if s.outcome.code != "" {
		note("refusal", ruleOf(s.outcome.code), 1)
	}
	about := recordOf(operation)
	for i := range s.wants {
		w := &s.wants[i]
		field := about.field(w)
		if field != "" {
			note("field", about.name+" "+field, 1)
		}
		if field == "status" && w.operator == '=' {
			note("state", about.name+" "+strings.Trim(w.value, `"`), 1)
		}
	}
	switch subject {
	case "limits-default":
		note("limit", operation.String(), n)
	case "limits-maximum":
		note("limit", operation.String()+" beyond", n)
	}
	return n
}

// ruleOf returns the name of a numeric code.
func ruleOf(code string) string {
	for _, rule := range sim.Rules() {
		if rule.Code == codeOf(code) {
			return rule.Name
		}
	}
	return code
}
