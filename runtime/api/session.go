package api

import (
	"net/http"
	"time"

	"botd/runtime/api/auth"
)

// Session is who asks, and what for.
type Session struct {
	Schema   int        `json:"schema"`
	Role     string     `json:"role"`
	By       string     `json:"by"`   // socket, token, session
	Ends     *time.Time `json:"ends"` // of a session that is not used; null for a token
	Mode     string     `json:"mode"`
	Instance string     `json:"instance"`
	Makes    bool       `json:"makes_tokens"` // it may make named tokens
}

func (s *Server) sessionOf(who auth.Identity) Session {
	out := Session{Schema: 1, Role: who.Role.String(), By: who.By, Mode: s.config.Board.Mode(), Instance: s.config.Board.Instance(), Makes: s.config.Keyring != nil && who.MakesTokens()}
	if !who.Ends.IsZero() {
		ends := who.Ends.UTC()
		out.Ends = &ends
	}
	return out
}

// showSession serves GET /api/v1/session.
func (s *Server) showSession(w http.ResponseWriter, r *http.Request) {
	answer(w, r, s.sessionOf(who(r)))
}

// login serves POST /api/v1/session: a token, or a one-time code, for a cookie.
func (s *Server) login(w http.ResponseWriter, r *http.Request) {
	var asked struct{ Token, Code string }
	if err := body(r, &asked); err != nil {
		problemOfBody(w, r, err)
		return
	}
	cookie, who, denied := s.guard.Login(r, asked.Token, asked.Code, time.Now())
	if denied != nil {
		deny(w, r, denied)
		return
	}
	http.SetCookie(w, cookie)
	w.Header().Set("Cache-Control", "no-store")
	answer(w, r, s.sessionOf(who))
}

// logout serves DELETE /api/v1/session.
func (s *Server) logout(w http.ResponseWriter, r *http.Request) {
	http.SetCookie(w, s.guard.Logout(r))
	w.WriteHeader(http.StatusNoContent)
}

// Link is a one-time code that logs an operator in.
type Link struct {
	Schema  int       `json:"schema"`
	Code    string    `json:"code"`
	Address string    `json:"address"` // of the dashboard; empty when it is not served
	Path    string    `json:"path"`    // behind it; the code is a fragment, which browsers do not send
	Ends    time.Time `json:"ends"`
}

// NewLink makes a one-time link.
func (s *Server) NewLink() Link {
	code, ends := s.guard.NewLink(time.Now())
	return Link{1, code, s.config.Address, "/login#" + code, ends.UTC()}
}

// makeLink serves POST /api/v1/session/link, over the socket alone.
func (s *Server) makeLink(w http.ResponseWriter, r *http.Request) {
	if who := who(r); !who.OnSocket() {
		problem(w, r, http.StatusForbidden, "role", "a link is made over the unix socket alone: botd login")
		return
	}
	w.Header().Set("Cache-Control", "no-store")
	answer(w, r, s.NewLink())
}
