package api

import (
	"context"
	"crypto/subtle"
	"net"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/prometheus/client_golang/prometheus/promhttp"
	dto "github.com/prometheus/client_model/go"

	"botd/internal/inbound"
	"botd/runtime/api/auth"
	"botd/runtime/ops"
)

// withoutMoney gathers the metrics that every client may see.
type withoutMoney struct{ *ops.Metrics }

// Gather leaves out the families that show amounts.
func (g withoutMoney) Gather() ([]*dto.MetricFamily, error) {
	all, err := g.Registry.Gather()
	return slices.DeleteFunc(all, func(f *dto.MetricFamily) bool { return ops.ShowsMoney(f.GetName()) }), err
}

// metricsHandler serves the metrics, with readiness as of the scrape. Metrics that show money need
// the role of a viewer unless access.metrics_open is set.
func (s *Server) metricsHandler() http.HandlerFunc {
	everything, public := s.exposition(), promhttp.HandlerFor(withoutMoney{s.metrics}, promhttp.HandlerOpts{})
	return func(w http.ResponseWriter, r *http.Request) {
		if identity := requester(r); s.config.Access.MetricsOpen || identity.Role >= auth.Viewer {
			everything.ServeHTTP(w, r)
			return
		}
		s.metrics.Scraped(s.config.Board.Checks())
		public.ServeHTTP(w, r)
	}
}

// exposition serves all metrics.
func (s *Server) exposition() http.Handler {
	handler := promhttp.HandlerFor(s.metrics.Registry, promhttp.HandlerOpts{})
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.metrics.Scraped(s.config.Board.Checks())
		handler.ServeHTTP(w, r)
	})
}

// ServeMetrics serves all metrics, and nothing else, to holders of their token until the context
// ends. The address is separate, and its token opens nothing else.
func (s *Server) ServeMetrics(ctx context.Context, listener net.Listener, token string) error {
	all := s.exposition()
	mux := http.NewServeMux()
	mux.HandleFunc("GET /metrics", func(w http.ResponseWriter, r *http.Request) {
		given, _ := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
		if subtle.ConstantTimeCompare([]byte(given), []byte(token)) != 1 {
			w.Header().Set("WWW-Authenticate", "Bearer")
			http.Error(w, "the token of metrics.token_file is required", http.StatusUnauthorized)
			return
		}
		inbound.Promote(r.Context(), inbound.Viewer)
		all.ServeHTTP(w, r)
	})
	return inbound.Serve(ctx, inbound.NewServer(mux, 10*time.Second), func() {}, listener)
}
