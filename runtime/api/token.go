package api

import (
	"errors"
	"fmt"
	"net/http"
	"time"

	"botd/runtime/api/auth"
)

// NamedToken is a named token as the API lists it.
type NamedToken struct {
	Name  string     `json:"name"`
	Role  string     `json:"role"`
	Made  time.Time  `json:"made"`
	Ends  *time.Time `json:"ends"` // null: never
	Ended bool       `json:"ended"`
}

// NewToken is a token that was made.
type NewToken struct {
	Schema int        `json:"schema"`
	Name   string     `json:"name"`
	Role   string     `json:"role"`
	Ends   *time.Time `json:"ends"`
	Token  string     `json:"token"` // shown now, and never again
}

// TokenRequest is what is asked for.
type TokenRequest struct {
	Name string     `json:"name"`
	Role string     `json:"role"`
	Ends *time.Time `json:"ends,omitempty"`
}

// listTokens serves GET /api/v1/tokens.
func (s *Server) listTokens(w http.ResponseWriter, r *http.Request) {
	if !noQuery(w, r) {
		return
	}
	items := []NamedToken{}
	for _, k := range s.config.Keyring.List() {
		items = append(items, NamedToken{k.Name, k.Role, k.Made, k.Ends, k.Expired(time.Now())})
	}
	writeList(w, r, items, "")
}

// maxTokenLife bounds the life of a token that is made in a browser.
const maxTokenLife = 366 * 24 * time.Hour

// createToken serves POST /api/v1/tokens, over the socket and to a session that a
// one-time link opened: a stolen token must not make others.
func (s *Server) createToken(w http.ResponseWriter, r *http.Request) {
	if !noQuery(w, r) {
		return
	}
	who := who(r)
	if !who.MakesTokens() || s.config.Keyring == nil {
		problem(w, r, http.StatusForbidden, "role", "a token makes no others: botd token create makes one, and so does who logged in by the link of botd login")
		return
	}
	var asked TokenRequest
	err := body(r, &asked)
	key := auth.Key{Name: asked.Name, Role: asked.Role, Made: time.Now().UTC().Truncate(time.Second), Ends: asked.Ends}
	if err == nil {
		err = key.Check()
	}
	if err == nil && who.Linked() && (key.Ends == nil || key.Ends.Sub(key.Made) > maxTokenLife) {
		err = errors.New("ends is needed, within 366 days: botd token create makes tokens without an end")
	}
	if err != nil {
		problemOfBody(w, r, err)
		return
	}
	if err := s.config.Keyring.Room(key.Name); err != nil {
		problem(w, r, http.StatusConflict, "not_possible", err.Error())
		return
	}
	if !s.sent(r.Context(), w, r, audited(r, "token "+key.Name, "a token for a "+key.Role, nil)) {
		return
	}
	token, err := s.config.Keyring.Add(key)
	if err != nil {
		problem(w, r, http.StatusServiceUnavailable, "unwritten", "the token could not be saved, and is worth nothing: "+err.Error())
		return
	}
	w.Header().Set("Cache-Control", "no-store")
	answer(w, r, NewToken{1, key.Name, key.Role, key.Ends, token})
}

// revokeToken serves DELETE /api/v1/tokens/{name}.
func (s *Server) revokeToken(w http.ResponseWriter, r *http.Request) {
	dry, ok := dryRun(w, r)
	if !ok {
		return
	}
	name := r.PathValue("name")
	if !s.config.Keyring.Has(name) {
		problem(w, r, http.StatusNotFound, "not_found", fmt.Sprintf("there is no token %q", name))
		return
	}
	change := Change{1, dry, []string{"the token " + name + " is worth nothing from now on; sessions that it opened end"}}
	if dry {
		answerAs(w, http.StatusOK, change)
		return
	}
	if err := s.config.Keyring.Remove(name); err != nil {
		problem(w, r, http.StatusServiceUnavailable, "unwritten", "the token is still good: "+err.Error())
		return
	}
	s.do(w, r, audited(r, "token "+name, "revoked", nil), change)
}
