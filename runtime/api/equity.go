package api

import (
	"fmt"
	"net/http"
	"strconv"
)

// equity serves GET /api/v1/equity.
func (s *Server) equity(w http.ResponseWriter, r *http.Request) {
	query, err := queryOf(r, "from", "to", "step")
	fromMS, toMS, stepMS := int64(0), int64(1<<62), int64(0)
	for name, into := range map[string]*int64{"from": &fromMS, "to": &toMS, "step": &stepMS} {
		if err == nil && query.Has(name) {
			*into, err = milliseconds(name, query.Get(name))
		}
	}
	if err != nil {
		problem(w, r, http.StatusBadRequest, "parameter", err.Error())
		return
	}
	out := s.config.Equity.Series(fromMS, toMS, stepMS)
	out.Marks = s.config.History.Marks(fromMS, toMS)
	answer(w, r, out)
}

func milliseconds(name, text string) (int64, error) {
	ms, err := strconv.ParseInt(text, 10, 64)
	if err != nil || ms < 0 || ms > 1<<52 {
		return 0, fmt.Errorf("%s %q is not a number of milliseconds", name, text)
	}
	return ms, nil
}
