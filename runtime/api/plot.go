package api

import (
	"context"
	"errors"
	"net/http"

	"botd/runtime/view"
	"botd/strategy"
)

// listPlots serves GET /api/v1/strategies/{name}/plots.
func (s *Server) listPlots(w http.ResponseWriter, r *http.Request) {
	query, err := queryOf(r, "from", "to", "limit")
	if err != nil {
		problem(w, r, http.StatusBadRequest, "parameter", err.Error())
		return
	}
	name := r.PathValue("name")
	symbol, interval, known := s.config.Board.Traded(name)
	if !known {
		missing(w, r, "strategy", name)
		return
	}
	fromMS, toMS, err := s.span(query, interval)
	if err != nil {
		problem(w, r, http.StatusBadRequest, "parameter", err.Error())
		return
	}
	var plots []strategy.Plot
	if s.config.Plots != nil && s.config.Market != nil {
		plots = s.config.Plots(name)
	}
	ctx, cancel := context.WithTimeout(r.Context(), marketTimeout)
	defer cancel()
	out, err := s.market.Plots(ctx, symbol, interval, plots, fromMS, toMS)
	var wrong *view.WrongPlot
	switch {
	case errors.As(err, &wrong):
		problem(w, r, http.StatusInternalServerError, "internal", err.Error())
		return
	case err != nil:
		unavailable(w, r, err)
		return
	}
	out.Strategy = name
	answer(w, r, out)
}
