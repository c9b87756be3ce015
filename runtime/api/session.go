package api

import (
	"net"
	"net/http"
	"strings"
	"time"

	"botd/runtime/api/auth"
)

var sessionRoutes = []route{
	{id: "session", tag: "session", method: "GET", path: "/api/v1/session", minimum: auth.Viewer, endpoint: read(of(credentialsOf, (*credentials).session)),
		summary: "The caller's name and role."},
	{id: "login", tag: "session", method: "POST", path: auth.LoginPath, minimum: auth.Public, endpoint: secret(by(credentialsOf, (*credentials).login)),
		summary: "Exchanges a token, or the code of a one-time link, for a session cookie.", fails: []int{401, 413, 429}},
	{id: "logout", tag: "session", method: "DELETE", path: "/api/v1/session", minimum: auth.Viewer, endpoint: raw("", (*Server).logout),
		summary: "Ends the session."},
	{id: "link", tag: "session", method: "POST", path: "/api/v1/session/link", minimum: auth.Operator,
		endpoint: secret(by(credentialsOf, (*credentials).makeLink)),
		summary:  "Makes a one-time link that logs an operator in. Only over the unix socket."},
}

// Session is the description of the sender and its permissions.
type Session struct {
	Schema     int        `json:"schema"`
	Role       string     `json:"role"`                // viewer | operator
	Credential string     `json:"credential" was:"by"` // socket | token | session
	Ends       *time.Time `json:"ends"`                // when a session that is not used ends; null for a token
	Mode       string     `json:"mode"`
	Instance   string     `json:"instance"`
	Makes      bool       `json:"makes_tokens"` // whether the sender may create named tokens
}

// credentials serves the means of identification: named tokens, sessions, and links that open one.
type credentials struct {
	config   *Config
	guard    *auth.Guard
	controls controls
}

func credentialsOf(s *Server) *credentials { return &s.credentials }

func (c *credentials) sessionOf(requester auth.Identity) Session {
	out := Session{Schema: 1, Role: requester.Role.String(), Credential: requester.By, Mode: c.config.Board.Mode(), Instance: c.config.Board.Instance(),
		Makes: c.config.Keyring != nil && requester.MakesTokens()}
	if !requester.Ends.IsZero() {
		out.Ends = new(requester.Ends.UTC())
	}
	return out
}

func (c *credentials) session(r *request) (Session, error) {
	return c.sessionOf(requester(r.Request)), nil
}

// LoginRequest is a token, or the code of a one-time link.
type LoginRequest struct {
	Token string `json:"token,omitempty"`
	Code  string `json:"code,omitempty"` // the code of a one-time link
}

func (c *credentials) login(r *request, body *LoginRequest) (Session, error) {
	cookie, requester, denied := c.guard.Login(r.Request, body.Token, body.Code, time.Now())
	if denied != nil {
		return Session{}, denied
	}
	http.SetCookie(r.writer, cookie)
	return c.sessionOf(requester), nil
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
	Address string    `json:"address"` // the address of the dashboard, with a name of this botd's own if possible; empty when it is not served
	Plain   string    `json:"plain"`   // the same without such a name, for clients that do not resolve names below localhost to this machine
	Path    string    `json:"path"`    // the path behind the address; the code is a fragment, which browsers do not send
	Ends    time.Time `json:"ends"`
}

// OpenSessions restores the sessions of the previous run, and saves them from now on.
func (s *Server) OpenSessions(directory string, warn func(error)) (closing func()) {
	return s.guard.OpenSessions(directory, time.Now(), warn)
}

// NewLink creates a one-time link.
func (s *Server) NewLink() Link { return s.credentials.newLink() }

func (c *credentials) newLink() Link {
	code, ends := c.guard.NewLink(time.Now())
	return Link{1, code, c.instanceAddress(), c.config.Address, "/login#" + code, ends.UTC()}
}

// instanceAddress returns the dashboard's address at a name below localhost that no other program uses:
// names separate cookies, ports do not. Under TLS the cookie's prefix separates them.
func (c *credentials) instanceAddress() string {
	plain, secure := strings.CutPrefix(c.config.Address, "http://")
	host, port, err := net.SplitHostPort(plain)
	if !secure || c.config.Access.secure() || err != nil {
		return c.config.Address
	}
	if ip := net.ParseIP(host); host != "localhost" && (ip == nil || !ip.IsLoopback()) {
		return c.config.Address
	}
	return "http://" + net.JoinHostPort(c.config.Tokens.InstanceHost(), port)
}

func (c *credentials) makeLink(r *request, _ *nothing) (Link, error) {
	if requester := requester(r.Request); !requester.OnSocket() {
		return Link{}, &failure{http.StatusForbidden, "role", "a link can be made only over the unix socket: botd login"}
	}
	return c.newLink(), nil
}
