package tape

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"botd/exchange"
)

// Cache stores parsed candles in columns, so that a file is parsed only once. An entry is
// identified by the file's content and the read options, regardless of its path. If the cache
// fails, the file itself is read.
type Cache struct {
	Directory string
	MaxBytes  int64 // on disk: the oldest entries beyond it are removed; 0 is defaultCacheBytes
	writing   sync.WaitGroup
}

const (
	defaultCacheBytes = 2 << 30
	minCachedBytes    = 1 << 20 // minimum size of a file that is worth caching
	cacheEnding       = ".columns"
)

// OpenCache returns the user's cache: $BOTD_CACHE, or the system's cache directory; nil when
// BOTD_CACHE is off, or there is no directory.
func OpenCache() *Cache {
	switch directory := os.Getenv("BOTD_CACHE"); directory {
	case "off":
		return nil
	case "":
	default:
		return &Cache{Directory: directory}
	}
	directory, err := os.UserCacheDir()
	if err != nil {
		return nil
	}
	return &Cache{Directory: filepath.Join(directory, "botd", "candles")}
}

// Wait returns when all writes have finished.
func (c *Cache) Wait() {
	if c != nil {
		c.writing.Wait()
	}
}

// request identifies a cached tape.
type request struct {
	path     string
	size     int64
	scale    int // decimal places of prices that the symbol requires
	interval exchange.Interval
	repair   bool
}

// name is an entry's file name. The size comes first, since it is known without reading.
func (r *request) name(sha string) string {
	key := sha256.Sum256(fmt.Appendf(nil, "%d %s %d %d %t", columnsVersion, sha, r.scale, r.interval, r.repair))
	return fmt.Sprintf("%d-%s%s", r.size, hex.EncodeToString(key[:16]), cacheEnding)
}

// load returns the cached tape of a file, or nil. The file is hashed nevertheless, in parallel with
// the unpacking: a tape never belongs to an earlier content.
func (c *Cache) load(r *request, symbol *exchange.Symbol) *Tape {
	if c == nil || r.size < minCachedBytes {
		return nil
	}
	found, err := filepath.Glob(filepath.Join(c.Directory, fmt.Sprintf("%d-*%s", r.size, cacheEnding)))
	if err != nil || len(found) == 0 {
		return nil
	}
	guess := make(chan *stored, 1)
	go func() {
		var s *stored
		if len(found) == 1 {
			s, _ = readColumns(found[0])
		}
		guess <- s
	}()
	sha, err := hashFile(r.path)
	s := <-guess
	if err != nil {
		return nil
	}
	own := filepath.Join(c.Directory, r.name(sha))
	if s == nil || found[0] != own {
		if !slices.Contains(found, own) {
			return nil
		}
		if s, err = readColumns(own); err != nil {
			os.Remove(own)
			return nil
		}
	}
	with, err := symbol.WithScales(s.scale, 0)
	if err != nil {
		return nil
	}
	now := time.Now() // the oldest entries are removed first: this one is fresh again
	_ = os.Chtimes(own, now, now)
	return &Tape{Symbol: with, Candles: s.candles, Holes: s.header.Holes, Repaired: s.header.Repaired, Warnings: s.header.Warnings, SHA256: sha}
}

// save stores a tape in the background.
func (c *Cache) save(r *request, t *Tape) {
	if c == nil || r.size < minCachedBytes {
		return
	}
	c.writing.Go(func() {
		path := filepath.Join(c.Directory, r.name(t.SHA256))
		if err := replaceFile(path, func(w io.Writer) error { return writeColumns(w, t) }); err == nil {
			c.prune(path)
		}
	})
}

// prune removes the least recently used entries beyond the maximum size.
func (c *Cache) prune(keep string) {
	entries, err := os.ReadDir(c.Directory)
	if err != nil {
		return
	}
	var all []fs.FileInfo
	total := int64(0)
	for _, entry := range entries {
		if info, err := entry.Info(); err == nil && strings.HasSuffix(entry.Name(), cacheEnding) {
			all, total = append(all, info), total+info.Size()
		}
	}
	slices.SortFunc(all, func(a, b fs.FileInfo) int { return a.ModTime().Compare(b.ModTime()) })
	maximum := c.MaxBytes
	if maximum == 0 {
		maximum = defaultCacheBytes
	}
	for _, info := range all {
		if total <= maximum {
			return
		}
		if path := filepath.Join(c.Directory, info.Name()); path != keep && os.Remove(path) == nil {
			total -= info.Size()
		}
	}
}

func hashFile(path string) (string, error) {
	file, err := os.Open(path)
	if err != nil {
		return "", err
	}
	hash := sha256.New()
	_, err = io.Copy(hash, file)
	return hex.EncodeToString(hash.Sum(nil)), errors.Join(err, file.Close())
}
