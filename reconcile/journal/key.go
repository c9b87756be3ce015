package journal

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"strings"
)

// Key makes the links of a journal's chain unforgeable. Without it, anyone who can write the file
// can recompute the whole chain. A nil key means plain hashes.
type Key struct{ secret []byte }

// NewKey returns the key of a secret, or nil if it is empty.
func NewKey(secret []byte) *Key {
	if len(secret) == 0 {
		return nil
	}
	return &Key{secret}
}

// Guarantees of a journal whose links are all valid.
const (
	ProvesConsistency  = "consistency"  // its records are consistent; anyone who can write it can rebuild them all
	ProvesAuthenticity = "authenticity" // from the first keyed record on, the author had the key
)

// codeMark separates a link's hash, which anyone can check, from its code, which only the owner of
// the key can check.
const codeMark = "."

// keyed reports whether a link carries a code. All later links then carry one too.
func keyed(hash string) bool { return strings.Contains(hash, codeMark) }

// link returns the hash of a record, computed from the previous hash and its own text, and its
// code.
func (k *Key) link(previous string, body []byte) string {
	if k == nil {
		return chain(previous, body)
	}
	return chain(previous, body) + codeMark + k.code(previous, body)
}

func (k *Key) code(previous string, body []byte) string {
	sum := hmac.New(sha256.New, k.secret)
	sum.Write([]byte("botd journal link\n"))
	sum.Write([]byte(previous))
	sum.Write(body)
	return hex.EncodeToString(sum.Sum(nil))
}

// Coder returns a function that computes codes for one kind of text stored next to the journal, or
// nil without a key.
func (k *Key) Coder(kind string) func(text []byte) string {
	if k == nil {
		return nil
	}
	return func(text []byte) string {
		sum := hmac.New(sha256.New, k.secret)
		sum.Write([]byte("botd " + kind + "\n"))
		sum.Write(text)
		return hex.EncodeToString(sum.Sum(nil))
	}
}

// fits returns an error if a link does not follow from the previous one and the record's text. Without
// the key it checks the hash, not the code.
func (k *Key) fits(previous string, body []byte, hash string) error {
	plain, code, coded := strings.Cut(hash, codeMark)
	switch {
	case plain != chain(previous, body) || !coded && keyed(previous):
		return errAltered
	case coded && k != nil && !hmac.Equal([]byte(code), []byte(k.code(previous, body))):
		return errForged
	}
	return nil
}

// The faults of a link, each completing the sentence "record N ...".
var (
	errAltered = errors.New("was altered or one before it is missing")
	errForged  = errors.New("has a link that was not made with the configured key: the journal was rewritten, or the key is the wrong one")
)

// KeyError means that a journal and the configured key do not match.
type KeyError struct {
	Path    string
	Records int64
	Keyed   bool // the journal is keyed, but the key is missing
}

// Error names the missing part.
func (e *KeyError) Error() string {
	if e.Keyed {
		return fmt.Sprintf("journal %s is keyed, but journal_key_file is not set: no record can be added without the key", e.Path)
	}
	return fmt.Sprintf("journal %s is not keyed, although journal_key_file is set: its %d records may have been rewritten", e.Path, e.Records)
}

// Hint returns what a person can do about the error.
func (e *KeyError) Hint() string {
	if e.Keyed {
		return "set journal_key_file in botd.yaml to the key's file; a keyed journal stays keyed"
	}
	return "if it was never keyed, \"botd journal key\" keys it from its next record on; if it was, somebody replaced it: restore a backup (botd restore)"
}

// checkKey refuses to write a keyed journal without a key, and an unkeyed one with a key unless begin is
// set. An empty journal takes either.
func (j *Journal) checkKey(begin bool) error {
	if j.sequence == 0 || keyed(j.hash) == (j.key != nil) || begin && j.key != nil {
		return nil
	}
	return &KeyError{Path: j.path, Records: j.sequence, Keyed: keyed(j.hash)}
}
