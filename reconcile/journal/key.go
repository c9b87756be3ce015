package journal

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"strings"
)

// Key makes the links of a journal's chain ones that nobody else can make. Without it whoever
// can write the file can compute the whole chain again. nil is none: the links are plain hashes.
type Key struct{ secret []byte }

// NewKey returns the key of a secret; nil when there is none.
func NewKey(secret []byte) *Key {
	if len(secret) == 0 {
		return nil
	}
	return &Key{secret}
}

// What a journal proves when all of its links are right.
const (
	ProvesConsistency  = "consistency"  // its records fit each other; whoever can write it can rebuild them all
	ProvesAuthenticity = "authenticity" // from the first keyed record on, who wrote them had the key
)

// codeMark stands between a link's hash, which everybody can check, and its code, which only
// who has the key can.
const codeMark = "."

// keyed reports whether a link carries a code. Such a link is followed by no other kind.
func keyed(hash string) bool { return strings.Contains(hash, codeMark) }

// link is the hash of a record, of the hash before it and its own text, and its code.
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

// Coder returns what makes codes of texts of one kind that lie beside the journal; nil without a key.
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

// fits checks a link. Without the key a code is not checked.
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

// What is wrong with a link.
var (
	errAltered = errors.New("was altered or one before it is missing")
	errForged  = errors.New("has a link that the configured key did not make: the journal was rewritten, or the key is another one")
)

// KeyError means that a journal and the configured key do not go together.
type KeyError struct {
	Path    string
	Records int64
	Keyed   bool // the journal is: the key is missing
}

// Error says which of the two is missing.
func (e *KeyError) Error() string {
	if e.Keyed {
		return fmt.Sprintf("journal %s is keyed, and journal_key_file is not set: no record can be added without the key", e.Path)
	}
	return fmt.Sprintf("journal %s is not keyed, though journal_key_file is set: its %d records may have been rewritten", e.Path, e.Records)
}

// Hint says what to do.
func (e *KeyError) Hint() string {
	if e.Keyed {
		return "set journal_key_file in botd.yaml to the key's file; a journal once keyed goes on keyed"
	}
	return "if it never was keyed, botd journal key begins with its next record; if it was, somebody replaced it: restore a backup (botd restore)"
}

// checkKey refuses to write a journal that is keyed without its key, and one that is not
// keyed where a key is configured, unless keying is to begin.
func (j *Journal) checkKey(begin bool) error {
	if j.sequence == 0 || keyed(j.hash) == (j.key != nil) || begin && j.key != nil {
		return nil
	}
	return &KeyError{Path: j.path, Records: j.sequence, Keyed: keyed(j.hash)}
}
