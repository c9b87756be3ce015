package api

import (
	"botd/runtime/api/auth"
	"botd/runtime/view"
)

var previewRoutes = []route{
	{id: "explain", tag: "strategies", method: "GET", path: "/api/v1/strategies/{name}/explain", minimum: auth.Viewer, endpoint: read((*Server).explain),
		summary: "Why a strategy trades or does not: data, conditions, plan, intents rule by rule with their figures, and what blocks it.", fails: []int{404,
			503}},
	{id: "plan", tag: "strategies", method: "GET", path: "/api/v1/plan", minimum: auth.Viewer, endpoint: all((*Server).previews),
		summary: "What the next tick of each strategy, and the round after it, would do, based on what is known now. Nothing is sent.", fails: []int{503}},
}

// previews returns the engine's previews of each strategy's next tick.
func (s *Server) previews(r *request) ([]view.TickPreview, error) {
	items := []view.TickPreview{}
	err := s.controls.query(r, func() {
		for _, o := range s.config.Engine.PreviewTicks() {
			items = append(items, view.TickPreviewOf(&o))
		}
	})
	return items, err
}

func (s *Server) explain(r *request) (view.OneTickPreview, error) {
	items, err := s.previews(r)
	if err != nil {
		return view.OneTickPreview{}, err
	}
	for _, p := range items {
		if p.Strategy == r.PathValue("name") {
			return view.OneTickPreview{Schema: 1, TickPreview: p}, nil
		}
	}
	return view.OneTickPreview{}, notFound("strategy", r.PathValue("name"))
}
