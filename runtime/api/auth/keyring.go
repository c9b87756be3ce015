package api

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"sync"
	"time"

	"botd/runtime/engine"
)

// KeyringFile holds the named tokens, by their hashes alone.
const KeyringFile = "tokens.json"

// maxKeys is how many tokens a keyring holds.
const maxKeys = 100

// Key is a named token: who has it, and until when. The token itself is told once, when
// it is made, and kept nowhere.
type Key struct {
	Name string     `json:"name"`
	Role string     `json:"role"`
	Made time.Time  `json:"made"`
	Ends *time.Time `json:"ends"` // null: never

	Hash string `json:"hash"` // SHA-256 of the token, in hex
}

func (k *Key) over(now time.Time) bool { return k.Ends != nil && !now.Before(*k.Ends) }

func (k *Key) role() Role {
	if k.Role == Operator.String() {
		return Operator
	}
	return Viewer
}

// Keyring are the named tokens, besides the two that every data directory has. A nil one
// holds none.
type Keyring struct {
	path string

	mu   sync.Mutex // guards keys and the file
	keys []Key
}

// OpenKeyring reads the named tokens of a data directory.
func OpenKeyring(directory string) (*Keyring, error) {
	k := &Keyring{path: filepath.Join(directory, KeyringFile)}
	text, err := os.ReadFile(k.path)
	if errors.Is(err, os.ErrNotExist) {
		return k, nil
	}
	if err == nil {
		err = json.Unmarshal(text, &k.keys)
	}
	if err != nil {
		return nil, fmt.Errorf("read the named tokens: %w\nhint: without %s there are none, and botd token create makes new ones", err, k.path)
	}
	return k, nil
}

// find returns whose token it is, by name and hash.
func (k *Keyring) find(token string, now time.Time) (found Key, ok bool) {
	sum := sha256.Sum256([]byte(token))
	return k.held(hex.EncodeToString(sum[:]), now)
}

// held returns the key of a hash, while it is there and has not ended.
func (k *Keyring) held(hash string, now time.Time) (found Key, ok bool) {
	if k == nil {
		return Key{}, false
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	for i := range k.keys {
		if k.keys[i].Hash == hash && !k.keys[i].over(now) {
			return k.keys[i], true
		}
	}
	return Key{}, false
}

// list are all keys, those that have ended too, in the order they were made.
func (k *Keyring) list() []Key {
	if k == nil {
		return nil
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	return slices.Clone(k.keys)
}

func (k *Keyring) has(name string) bool {
	return slices.ContainsFunc(k.list(), func(key Key) bool { return key.Name == name })
}

// add makes a token, which is not told again.
func (k *Keyring) add(key Key) (token string, err error) {
	token = "botd_" + rand.Text()
	sum := sha256.Sum256([]byte(token))
	key.Hash = hex.EncodeToString(sum[:])
	k.mu.Lock()
	defer k.mu.Unlock()
	return token, k.keep(append(slices.Clone(k.keys), key))
}

func (k *Keyring) remove(name string) error {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.keep(slices.DeleteFunc(slices.Clone(k.keys), func(key Key) bool { return key.Name == name }))
}

// keep writes the keys durably, so that no power cut brings a revoked one back, and
// holds them once they are written.
func (k *Keyring) keep(keys []Key) error {
	text, err := json.MarshalIndent(keys, "", "  ")
	if err != nil {
		return err
	}
	file, err := os.OpenFile(k.path+".partial", os.O_CREATE|os.O_TRUNC|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	_, err = file.Write(append(text, '\n'))
	if err = errors.Join(err, file.Sync(), file.Close()); err == nil {
		err = os.Rename(file.Name(), k.path)
	}
	if err != nil {
		return errors.Join(err, os.Remove(file.Name()))
	}
	directory, err := os.Open(filepath.Dir(k.path))
	if err != nil {
		return err
	}
	if err := errors.Join(directory.Sync(), directory.Close()); err != nil {
		return err
	}
	k.keys = keys
	return nil
}

// NamedToken is a key as the API lists it.
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
	Token  string     `json:"token"` // told now, and never again
}

// TokenRequest is what is asked for.
type TokenRequest struct {
	Name string     `json:"name"`
	Role string     `json:"role"`
	Ends *time.Time `json:"ends,omitempty"`
}

var tokenName = regexp.MustCompile(`^[a-z0-9][a-z0-9-]{0,31}$`)

func (t *TokenRequest) check(now time.Time) error {
	switch {
	case !tokenName.MatchString(t.Name):
		return fmt.Errorf("name %q is not 1 to 32 of a-z, 0-9 and -", t.Name)
	case t.Role != Viewer.String() && t.Role != Operator.String():
		return fmt.Errorf("role %q is neither viewer nor operator", t.Role)
	case t.Ends != nil && !t.Ends.After(now):
		return fmt.Errorf("ends %s is past", t.Ends.UTC().Format(time.RFC3339))
	}
	return nil
}

// listTokens serves GET /api/v1/tokens.
func (s *Server) listTokens(w http.ResponseWriter, r *http.Request) {
	if !noQuery(w, r) {
		return
	}
	items := []NamedToken{}
	for _, k := range s.config.Keyring.list() {
		items = append(items, NamedToken{k.Name, k.Role, k.Made, k.Ends, k.over(time.Now())})
	}
	writeList(w, r, items, "")
}

// maxKeyLife is how long a token made by a browser is good at most.
const maxKeyLife = 366 * 24 * time.Hour

// createToken serves POST /api/v1/tokens, over the socket and to a session that a
// one-time link opened: whoever stole a token must not make himself others.
func (s *Server) createToken(w http.ResponseWriter, r *http.Request) {
	if !noQuery(w, r) {
		return
	}
	asker := who(r)
	if !asker.makes() || s.config.Keyring == nil {
		problem(w, r, http.StatusForbidden, "role", "a token makes no others: botd token create makes one, and so does who logged in by the link of botd login")
		return
	}
	var asked TokenRequest
	now := time.Now().UTC().Truncate(time.Second)
	err := body(r, &asked)
	if err == nil {
		err = asked.check(now)
	}
	if err == nil && asker.linked && (asked.Ends == nil || asked.Ends.Sub(now) > maxKeyLife) {
		err = errors.New("ends is needed, within 366 days: botd token create makes tokens without an end")
	}
	if err != nil {
		problemOfBody(w, r, err)
		return
	}
	switch keys := s.config.Keyring.list(); {
	case s.config.Keyring.has(asked.Name):
		problem(w, r, http.StatusConflict, "not_possible", fmt.Sprintf("there is a token %q already: botd token revoke %s ends it", asked.Name, asked.Name))
		return
	case len(keys) >= maxKeys:
		problem(w, r, http.StatusConflict, "not_possible", fmt.Sprintf("there are %d tokens, as many as there may be: botd token revoke ends one", maxKeys))
		return
	}
	if !s.sent(r.Context(), w, r, engine.Event{Kind: engine.EventAudit, Audit: audit(r, "token "+asked.Name, "a token for a "+asked.Role)}) {
		return
	}
	token, err := s.config.Keyring.add(Key{Name: asked.Name, Role: asked.Role, Made: now, Ends: asked.Ends})
	if err != nil {
		problem(w, r, http.StatusServiceUnavailable, "unwritten", "the token could not be kept, and is worth nothing: "+err.Error())
		return
	}
	w.Header().Set("Cache-Control", "no-store")
	answer(w, r, NewToken{1, asked.Name, asked.Role, asked.Ends, token})
}

// revokeToken serves DELETE /api/v1/tokens/{name}.
func (s *Server) revokeToken(w http.ResponseWriter, r *http.Request) {
	dry, ok := dryRun(w, r)
	if !ok {
		return
	}
	name := r.PathValue("name")
	if !s.config.Keyring.has(name) {
		problem(w, r, http.StatusNotFound, "not_found", fmt.Sprintf("there is no token %q", name))
		return
	}
	change := Change{1, dry, []string{"the token " + name + " is worth nothing from now on; sessions that it opened end"}}
	if dry {
		answerAs(w, http.StatusOK, change)
		return
	}
	if err := s.config.Keyring.remove(name); err != nil {
		problem(w, r, http.StatusServiceUnavailable, "unwritten", "the token is still good: "+err.Error())
		return
	}
	s.do(w, r, engine.Event{Kind: engine.EventAudit, Audit: audit(r, "token "+name, "revoked")}, change)
}
