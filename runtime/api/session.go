package api

import (
	"net"
	"net/http"
	"strings"
	"time"

	"botd/runtime/api/auth"
)

var sessionRoutes = []route{
	{id: "session", tag: "session", method: "GET", path: "/api/v1/session", minimum: auth.Viewer, endpoint: read((*Server).session),
		summary: "Who asks, and with which role."},
	{id: "login", tag: "session", method: "POST", path: auth.LoginPath, minimum: auth.Nobody, endpoint: secret((*Server).login),
		summary: "Exchanges a token, or the code of a one-time link, for a session cookie.", fails: []int{401, 413, 429}},
	{id: "logout", tag: "session", method: "DELETE", path: "/api/v1/session", minimum: auth.Viewer, endpoint: raw("", (*Server).logout),
		summary: "Ends the session."},
	{id: "link", tag: "session", method: "POST", path: "/api/v1/session/link", minimum: auth.Operator, endpoint: secret((*Server).makeLink),
		summary: "Makes a one-time link that logs an operator in. Over the unix socket alone."},
}

// Session is who asks, and what for.
type Session struct {
	Schema   int        `json:"schema"`
	Role     string     `json:"role"` // viewer | operator
	By       string     `json:"by"`   // socket | token | session
	Ends     *time.Time `json:"ends"` // of a session that is not used; null for a token
	Mode     string     `json:"mode"`
	Instance string     `json:"instance"`
	Makes    bool       `json:"makes_tokens"` // it may make named tokens
}

func (s *Server) sessionOf(who auth.Identity) Session {
	out := Session{Schema: 1, Role: who.Role.String(), By: who.By, Mode: s.config.Board.Mode(), Instance: s.config.Board.Instance(),
		Makes: s.config.Keyring != nil && who.MakesTokens()}
	if !who.Ends.IsZero() {
		ends := who.Ends.UTC()
		out.Ends = &ends
	}
	return out
}

func (s *Server) session(r *request) (Session, error) { return s.sessionOf(who(r.Request)), nil }

// LoginRequest is a token, or the code of a one-time link.
type LoginRequest struct {
	Token string `json:"token,omitempty"`
	Code  string `json:"code,omitempty"` // of a one-time link
}

func (s *Server) login(r *request, body *LoginRequest) (Session, error) {
	cookie, who, denied := s.guard.Login(r.Request, body.Token, body.Code, time.Now())
	if denied != nil {
		return Session{}, denied
	}
	http.SetCookie(r.writer, cookie)
	return s.sessionOf(who), nil
}

func (s *Server) logout(w http.ResponseWriter, r *request) error {
	http.SetCookie(w, s.guard.Logout(r.Request))
	w.WriteHeader(http.StatusNoContent)
	return nil
}

// Link is a one-time code that logs an operator in.
type Link struct {
	Schema  int       `json:"schema"`
	Code    string    `json:"code"`
	Address string    `json:"address"` // of the dashboard, at a name that is this botd's alone where that is possible; empty when it is not served
	Plain   string    `json:"plain"`   // the same without such a name, for what does not find names below localhost on this machine
	Path    string    `json:"path"`    // behind it; the code is a fragment, which browsers do not send
	Ends    time.Time `json:"ends"`
}

// OpenSessions finds the sessions of the run before this one, and saves them from now on.
func (s *Server) OpenSessions(directory string, warn func(error)) (closing func()) {
	return s.guard.OpenSessions(directory, time.Now(), warn)
}

// NewLink makes a one-time link.
func (s *Server) NewLink() Link {
	code, ends := s.guard.NewLink(time.Now())
	return Link{1, code, s.instanceAddress(), s.config.Address, "/login#" + code, ends.UTC()}
}

// instanceAddress is the dashboard's address at a name below localhost that no other program
// has: ports do not separate cookies, names do. Under TLS the cookie's prefix does that.
func (s *Server) instanceAddress() string {
	plain, secure := strings.CutPrefix(s.config.Address, "http://")
	host, port, err := net.SplitHostPort(plain)
	if !secure || s.config.Access.secure() || err != nil {
		return s.config.Address
	}
	if ip := net.ParseIP(host); host != "localhost" && (ip == nil || !ip.IsLoopback()) {
		return s.config.Address
	}
	return "http://" + net.JoinHostPort(s.config.Tokens.InstanceHost(), port)
}

func (s *Server) makeLink(r *request, _ *nothing) (Link, error) {
	if who := who(r.Request); !who.OnSocket() {
		return Link{}, &failure{http.StatusForbidden, "role", "a link is made over the unix socket alone: botd login"}
	}
	return s.NewLink(), nil
}
