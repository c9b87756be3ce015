package auth

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"sync"
	"time"

	"botd/internal/privatefile"
)

// KeyringFile holds only the hashes of the named tokens.
const KeyringFile = "tokens.json"

// maxStore is the longest file of tokens or sessions that is read, in bytes.
const maxStore = 1 << 20

// maxKeys is the maximum number of tokens in a keyring.
const maxKeys = 100

// Key is a named token: its name, role and expiry. The token itself is shown once, when it is
// created, and is not stored.
type Key struct {
	Name string     `json:"name"`
	Role string     `json:"role"`
	Made time.Time  `json:"made"`
	Ends *time.Time `json:"ends"` // null: never

	Hash string `json:"hash"` // SHA-256 of the token, in hex
}

// Expired reports whether a key has ended.
func (k *Key) Expired(now time.Time) bool { return k.Ends != nil && !now.Before(*k.Ends) }

func (k *Key) role() Role {
	if k.Role == Operator.String() {
		return Operator
	}
	return Viewer
}

var keyName = regexp.MustCompile(`^[a-z0-9][a-z0-9-]{0,31}$`)

// Check reports an invalid field of a requested key.
func (k *Key) Check() error {
	_, known := ParseRole(k.Role)
	switch {
	case !keyName.MatchString(k.Name):
		return fmt.Errorf("name %q is not 1 to 32 of a-z, 0-9 and -", k.Name)
	case !known:
		return fmt.Errorf("role %q is neither viewer nor operator", k.Role)
	case k.Expired(k.Made):
		return fmt.Errorf("ends %s is in the past", k.Ends.UTC().Format(time.RFC3339))
	}
	return nil
}

// Keyring holds the named tokens, in addition to the two of every data directory. A nil one is
// empty. Safe for several goroutines.
type Keyring struct {
	path string

	mu   sync.Mutex // guards keys and the file
	keys []Key
}

// OpenKeyring reads the named tokens of a data directory.
func OpenKeyring(directory string) (*Keyring, error) {
	k := &Keyring{path: filepath.Join(directory, KeyringFile)}
	text, err := privatefile.Read(k.path, maxStore)
	if errors.Is(err, os.ErrNotExist) {
		return k, nil
	}
	if err == nil {
		k.keys, err = parseKeys(text)
	}
	if err != nil {
		return nil, fmt.Errorf("read the named tokens: %w\nhint: without %s there are none, and botd token create makes new ones", err, k.path)
	}
	return k, nil
}

func parseKeys(text []byte) (keys []Key, err error) {
	err = json.Unmarshal(text, &keys)
	return keys, err
}

// find returns the key of a token.
func (k *Keyring) find(token string, now time.Time) (Key, bool) { return k.Find(hashOf(token), now) }

func hashOf(token string) string {
	sum := sha256.Sum256([]byte(token))
	return hex.EncodeToString(sum[:])
}

// Find returns the key of a hash, unless it was revoked or has ended.
func (k *Keyring) Find(hash string, now time.Time) (Key, bool) {
	for _, key := range k.List() {
		if key.Hash == hash && !key.Expired(now) {
			return key, true
		}
	}
	return Key{}, false
}

// List returns all keys, including expired ones, in the order of their creation.
func (k *Keyring) List() []Key {
	if k == nil {
		return nil
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	return slices.Clone(k.keys)
}

// Has reports whether a key has the name.
func (k *Keyring) Has(name string) bool {
	return slices.ContainsFunc(k.List(), func(key Key) bool { return key.Name == name })
}

// Room returns the reason that no key of a name can be added; nil if one can.
func (k *Keyring) Room(name string) error {
	switch {
	case k.Has(name):
		return fmt.Errorf("token %q already exists: botd token revoke %s revokes it", name, name)
	case len(k.List()) >= maxKeys:
		return fmt.Errorf("there are already %d tokens, the maximum: botd token revoke removes one", maxKeys)
	}
	return nil
}

// Add makes a token for a key. The token is not shown again.
func (k *Keyring) Add(key Key) (token string, err error) {
	token = newToken()
	key.Hash = hashOf(token)
	k.mu.Lock()
	defer k.mu.Unlock()
	return token, k.save(append(slices.Clone(k.keys), key))
}

// Remove revokes the token of a name.
func (k *Keyring) Remove(name string) error {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.save(slices.DeleteFunc(slices.Clone(k.keys), func(key Key) bool { return key.Name == name }))
}

// save writes the keys durably, so that no power failure restores a revoked one, and applies them
// once they are written.
func (k *Keyring) save(keys []Key) error {
	text, err := json.MarshalIndent(keys, "", "  ")
	if err != nil {
		return err
	}
	if err := privatefile.Write(k.path, append(text, '\n')); err != nil {
		return err
	}
	k.keys = keys
	return nil
}
