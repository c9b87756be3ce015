package auth

import (
	"fmt"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"botd/internal/inbound"
)

// Config configures access to the API.
type Config struct {
	Tokens  Tokens
	Keyring *Keyring // tokens with names; nil for none
	Secure  bool     // TLS, here or at a declared proxy
	Hosts   []string // permitted host names, besides loopback ones
}

// Guard authenticates and admits requests. It is safe for concurrent use.
type Guard struct {
	config   Config
	cookie   string
	origins  *http.CrossOriginProtection
	sessions sessions
	delays   delays
	unknown  pace
	market   pace
}

// NewGuard returns a guard without sessions.
func NewGuard(config Config) *Guard {
	return &Guard{config: config, cookie: config.Tokens.cookieName(config.Secure), origins: http.NewCrossOriginProtection(),
		unknown: pace{perSecond: unknownPerSecond, burst: unknownBurst}, market: pace{perSecond: marketPerSecond, burst: marketBurst}}
}

// Denied is the reason why a request is rejected.
type Denied struct {
	Status       int
	Code, Detail string
	Wait         time.Duration // until the next permitted try; 0 without a limit
}

func (d *Denied) Error() string { return d.Detail }

func tooMany(wait time.Duration) *Denied {
	seconds := int(wait.Seconds()) + 1
	return &Denied{http.StatusTooManyRequests, "login_delay", fmt.Sprintf("too many wrong tokens from this address: try again in %d s", seconds),
		time.Duration(seconds) * time.Second}
}

// Check denies a request for a host that is not this daemon's, so that no web page can reach the
// API through a name under its control, and a request from a page of another site.
func (g *Guard) Check(r *http.Request) *Denied {
	switch {
	case !g.ownHost(r):
		return &Denied{Status: http.StatusMisdirectedRequest, Code: "host",
			Detail: "the Host header does not name a host of this botd; add it to access.hosts if it should"}
	case g.origins.Check(r) != nil:
		return &Denied{Status: http.StatusForbidden, Code: "cross_origin", Detail: "the request comes from another site's page"}
	}
	return nil
}

func (g *Guard) ownHost(r *http.Request) bool {
	if onSocket(r.Context()) {
		return true // no web page can speak to a unix socket
	}
	host := r.Host
	if name, _, err := net.SplitHostPort(host); err == nil {
		host = name
	}
	host = strings.Trim(host, "[]")
	ip := net.ParseIP(host)
	return host == "localhost" || host == g.config.Tokens.InstanceHost() || ip != nil && ip.IsLoopback() ||
		slices.ContainsFunc(g.config.Hosts, func(name string) bool { return strings.EqualFold(name, host) })
}

// Pace denies a request without a credential when its source sends too many. A login is never
// denied: a right token opens a session even while others flood from the same address.
func (g *Guard) Pace(r *http.Request, requester *Identity, now time.Time) *Denied {
	if requester.Role != Public || r.Method == http.MethodPost && r.URL.Path == LoginPath || g.unknown.allow(inbound.Source(r.RemoteAddr), now) {
		return nil
	}
	return &Denied{Status: http.StatusTooManyRequests, Code: "rate_limit", Wait: time.Second,
		Detail: "too many requests without a token or a session from this address"}
}

// PaceMarket denies market data to a credential that exceeds its request quota, regardless of the
// number of its sessions and connections.
func (g *Guard) PaceMarket(requester *Identity, now time.Time) *Denied {
	if g.market.allow(requester.Credential(), now) {
		return nil
	}
	return &Denied{Status: http.StatusTooManyRequests, Code: "rate_limit", Wait: time.Second,
		Detail: fmt.Sprintf("more than %d requests for market data a second with this token, or the sessions it opened", marketPerSecond)}
}

// LoginPath is where a session begins.
const LoginPath = "/api/v1/session"

// Admit denies an identity whose role is below minimum.
func (i *Identity) Admit(minimum Role) *Denied {
	switch {
	case minimum == Public:
		return nil
	case i.wait > 0:
		return tooMany(i.wait)
	case i.Role == Public:
		return &Denied{Status: http.StatusUnauthorized, Code: "credentials",
			Detail: "log in: botd login prints a link; or send Authorization: Bearer with the token in data_dir"}
	case i.Role < minimum:
		return &Denied{Status: http.StatusForbidden, Code: "role", Detail: fmt.Sprintf("a %s can only read, not change or run anything", i.Role)}
	}
	return nil
}

// Identify identifies the sender of a request. A wrong token delays the next wrong one.
func (g *Guard) Identify(r *http.Request, now time.Time) Identity {
	requester, wait := g.identify(r, now)
	requester.wait = wait
	switch requester.Role {
	case Operator:
		inbound.Promote(r.Context(), inbound.Operator)
	case Viewer:
		inbound.Promote(r.Context(), inbound.Viewer)
	}
	return requester
}

func (g *Guard) identify(r *http.Request, now time.Time) (requester Identity, wait time.Duration) {
	if caller, inside := CallerOf(r.Context()); inside {
		return Identity{Role: caller.Role, By: caller.By, From: caller.From}, 0
	}
	requester.From = sourceOf(r)
	if onSocket(r.Context()) {
		return Identity{Role: Operator, By: bySocket, From: "unix socket"}, 0
	}
	if token, found := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer "); found {
		requester.By, requester.Role = "token", g.config.Tokens.role(token)
		if key, named := g.config.Keyring.find(token, now); named && requester.Role == Public {
			requester.Key, requester.Role = key, key.role()
		}
		if requester.Role == Public {
			wait = g.delays.wrong(requester.From, now)
		}
		return requester, wait
	}
	if cookie, err := r.Cookie(g.cookie); err == nil && fromOwnPage(r) {
		return g.fromCookie(cookie.Value, r.Host, requester, now), 0
	}
	return requester, 0
}

// fromOwnPage reports whether the browser's headers permit the use of the cookie. A page of another
// origin, such as another port of the same host, also sends the cookie but may not use it. A page
// that a person opens by navigation may use it, regardless of the origin of the link.
func fromOwnPage(r *http.Request) bool {
	switch r.Header.Get("Sec-Fetch-Site") {
	case "cross-site", "same-site":
		return r.Header.Get("Sec-Fetch-Mode") == "navigate" && r.Method == http.MethodGet
	}
	origin, err := url.Parse(r.Header.Get("Origin"))
	return r.Header.Get("Origin") == "" || err == nil && origin.Host == r.Host
}

func (g *Guard) fromCookie(value, host string, requester Identity, now time.Time) Identity {
	one, ends := g.sessions.find(value, now)
	if one.host != host { // it was opened under another name or port
		return Identity{From: requester.From}
	}
	if one.key != "" {
		key, valid := g.config.Keyring.Find(one.key, now)
		if !valid { // revoked, or at its end
			g.sessions.end(value)
			return Identity{From: requester.From}
		}
		requester.Key = key
	}
	requester.By, requester.Role, requester.Ends, requester.linked = "session", one.role, ends, one.linked
	return requester
}

// Login opens a session for a token or a one-time code, and returns its cookie.
func (g *Guard) Login(r *http.Request, token, code string, now time.Time) (*http.Cookie, Identity, *Denied) {
	source := sourceOf(r)
	one := session{role: g.config.Tokens.role(token)}
	if key, named := g.config.Keyring.find(token, now); named && one.role == Public {
		one.role, one.key = key.role(), key.Hash
	}
	if code != "" && g.sessions.redeem(code, now) {
		one = session{role: Operator, linked: true}
	}
	if one.role == Public {
		if wait := g.delays.wrong(source, now); wait > 0 {
			return nil, Identity{}, tooMany(wait)
		}
		return nil, Identity{}, &Denied{Status: http.StatusUnauthorized, Code: "credentials",
			Detail: "the token is wrong, or the link was already used or is older than 10 minutes; botd login makes a new one"}
	}
	g.delays.right(source)
	one.host = r.Host
	cookie := g.newCookie(g.sessions.begin(one, now), int(sessionLimit.Seconds()))
	return cookie, Identity{Role: one.role, By: "session", Ends: now.Add(sessionIdle), linked: one.linked}, nil
}

// Logout ends the session of a request, and returns the cookie that deletes its cookie.
func (g *Guard) Logout(r *http.Request) *http.Cookie {
	if cookie, err := r.Cookie(g.cookie); err == nil {
		g.sessions.end(cookie.Value)
	}
	return g.newCookie("", -1)
}

func (g *Guard) newCookie(value string, maxAge int) *http.Cookie {
	return &http.Cookie{Name: g.cookie, Value: value, Path: "/", HttpOnly: true, Secure: g.config.Secure, SameSite: http.SameSiteStrictMode, MaxAge: maxAge}
}

// NewLink creates a one-time code that logs an operator in.
func (g *Guard) NewLink(now time.Time) (code string, ends time.Time) { return g.sessions.link(now) }

// sourceOf returns the source address of a request, without its port.
func sourceOf(r *http.Request) string {
	host, _, err := net.SplitHostPort(r.RemoteAddr)
	if err != nil {
		return r.RemoteAddr
	}
	return host
}
