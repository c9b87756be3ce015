package api

import (
	"errors"
	"net/http"
	"time"

	"botd/runtime/api/auth"
)

var tokenRoutes = []route{
	{id: "tokens", tag: "session", method: "GET", path: "/api/v1/tokens", minimum: auth.Viewer, endpoint: all(of(credentialsOf, (*credentials).tokens)),
		summary: "The named tokens, in the order of their creation. The tokens themselves are not stored."},
	{id: "create_token", tag: "session", method: "POST", path: "/api/v1/tokens", minimum: auth.Operator,
		endpoint: secret(by(credentialsOf, (*credentials).createToken)),
		// not repeated under a key: its answer is shown once
		summary: "Creates a token with a name, a role and an expiry, and shows it this once. " +
			"Over the unix socket, and in a session that the link of `botd login` opened " +
			"(ends is then required, within 366 days): a token cannot create others.", fails: []int{409, 413, 503}},
	{id: "revoke_token", tag: "session", method: "DELETE", path: "/api/v1/tokens/{name}", minimum: auth.Operator,
		endpoint: change(by(credentialsOf, (*credentials).revokeToken)),
		summary:  "Revokes a named token, and ends the sessions that it opened.", fails: []int{404}},
}

// NamedToken is a named token as the API lists it.
type NamedToken struct {
	Name    string     `json:"name"`
	Role    string     `json:"role"` // viewer | operator
	Created time.Time  `json:"created" was:"made"`
	Ends    *time.Time `json:"ends"` // null if it never expires
	Ended   bool       `json:"ended"`
}

// NewToken is a token that was made.
type NewToken struct {
	Schema int        `json:"schema"`
	Name   string     `json:"name"`
	Role   string     `json:"role"` // viewer | operator
	Ends   *time.Time `json:"ends"`
	Token  string     `json:"token"` // the token, which is shown only once
}

// TokenRequest is a request for a named token.
type TokenRequest struct {
	Name string     `json:"name"`
	Role string     `json:"role"` // viewer | operator
	Ends *time.Time `json:"ends,omitempty"`
}

func (c *credentials) tokens(*request) ([]NamedToken, error) {
	items := []NamedToken{}
	for _, k := range c.config.Keyring.List() {
		items = append(items, NamedToken{k.Name, k.Role, k.Made, k.Ends, k.Expired(time.Now())})
	}
	return items, nil
}

// maxTokenLife bounds the life of a token that is made in a browser.
const maxTokenLife = 366 * 24 * time.Hour

func (c *credentials) createToken(r *request, body *TokenRequest) (NewToken, error) {
	requester := requester(r.Request)
	if !requester.MakesTokens() || c.config.Keyring == nil { // a stolen token must not make others
		return NewToken{}, &failure{http.StatusForbidden, "role", "a token cannot create others: use botd token create, or log in with the link of botd login"}
	}
	key := auth.Key{Name: body.Name, Role: body.Role, Made: time.Now().UTC().Truncate(time.Second), Ends: body.Ends}
	err := key.Check()
	if err == nil && requester.Linked() && (key.Ends == nil || key.Ends.Sub(key.Made) > maxTokenLife) {
		err = errors.New("ends is required, within 366 days: botd token create can create tokens without an expiry")
	}
	if err != nil {
		return NewToken{}, badBody(err.Error())
	}
	if err := c.config.Keyring.Room(key.Name); err != nil {
		return NewToken{}, notPossible(err.Error())
	}
	if err := c.controls.record(r, "token "+key.Name, "a token for a "+key.Role); err != nil {
		return NewToken{}, err
	}
	token, err := c.config.Keyring.Add(key)
	if err != nil {
		return NewToken{}, unwritten("the token could not be saved, and does not work: " + err.Error())
	}
	return NewToken{1, key.Name, key.Role, key.Ends, token}, nil
}

func (c *credentials) revokeToken(r *request, _ *nothing) (Change, error) {
	name := r.PathValue("name")
	if !c.config.Keyring.Has(name) {
		return Change{}, notFound("token", name)
	}
	if !r.dryRun {
		if err := c.config.Keyring.Remove(name); err != nil {
			return Change{}, unwritten("the token is still valid: " + err.Error())
		}
	}
	done, err := c.controls.do(r, r.audited("token "+name, "revoked", nil), "the token "+name+" no longer works; sessions that it opened end")
	if err != nil {
		err = unwritten("the token no longer works; that it was revoked cannot be written to the journal now")
	}
	return done, err
}
