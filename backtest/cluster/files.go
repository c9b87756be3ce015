package cluster

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/nats-io/nats.go/jetstream"

	"botd/backtest/inputs"
	"botd/internal/failure"
)

// The roles of files.
const (
	roleData     = "data"
	roleOther    = "other" // candles of another symbol, named by the prefix
	roleDetail   = "detail"
	roleTrades   = "trades"
	roleFunding  = "funding"
	roleSignals  = "signals"
	roleColumns  = "columns"
	roleSymbols  = "symbols"
	roleStrategy = "strategy"
)

// part is a file with the location of its bytes.
type part struct {
	file
	path string // or
	text []byte
}

// partsOf lists all inputs of a sweep's trials.
func partsOf(trials *inputs.Trials) ([]part, error) {
	given, one := trials.Config.Inputs, &trials.Config.Inputs.Strategies[0]
	var parts []part
	add := func(role, path string) {
		if path != "" {
			name, prefix, _ := strings.Cut(path, "=")
			parts = append(parts, part{file: file{Role: role, Name: filepath.Base(name), Prefix: prefix}, path: name})
		}
	}
	add(roleData, one.Data.Path)
	for _, other := range one.Others {
		parts = append(parts, part{file: file{Role: roleOther, Name: filepath.Base(other.Path), Prefix: other.Symbol}, path: other.Path})
	}
	if one.Detail != nil {
		add(roleDetail, one.Detail.Path)
	}
	if one.Trades != nil {
		add(roleTrades, one.Trades.Path)
	}
	if given.Symbols != nil {
		add(roleSymbols, given.Symbols.Path)
	}
	for _, f := range one.Funding {
		add(roleFunding, f.Path)
	}
	for _, f := range given.Signals {
		add(roleSignals, f.Path)
	}
	for _, f := range given.Columns[:len(given.Columns)-len(trials.Base.ColumnPaths)] { // the others belong to the strategy's own files
		add(roleColumns, f.Path)
	}
	text, err := os.ReadFile(trials.Base.File)
	if err != nil {
		return nil, err
	}
	files, err := inputs.PortableFiles(trials.Base)
	if err != nil {
		return nil, err
	}
	parts = append(parts, part{file: file{Role: roleStrategy, Name: "strategy.yaml"}, text: text})
	for name, text := range files {
		parts = append(parts, part{file: file{Role: roleStrategy, Name: name}, text: text})
	}
	return parts, nil
}

// upload stores missing files on the server, by the hash of their content.
func (s *store) upload(ctx context.Context, parts []part) (files []file, sent int64, err error) {
	for i := range parts {
		p := &parts[i]
		var content io.ReadSeeker = bytes.NewReader(p.text)
		if p.path != "" {
			opened, err := os.Open(p.path)
			if err != nil {
				return nil, 0, failure.Wrap(failure.NoInput, err)
			}
			defer opened.Close()
			if about, err := opened.Stat(); err == nil && about.Size() > maxFile {
				return nil, 0, failure.New(failure.Data, "", "%s has %d bytes; %d at most are sent to workers", p.path, about.Size(), int64(maxFile))
			}
			content = opened
		}
		sum := sha256.New()
		if p.Bytes, err = io.Copy(sum, content); err != nil {
			return nil, 0, failure.Wrap(failure.IO, err)
		}
		p.SHA256 = hex.EncodeToString(sum.Sum(nil))
		files = append(files, p.file)
		if there, err := s.files.GetInfo(ctx, p.SHA256); err == nil && there.Size == uint64(p.Bytes) {
			continue
		}
		if _, err := content.Seek(0, io.SeekStart); err != nil {
			return nil, 0, failure.Wrap(failure.IO, err)
		}
		if _, err := s.files.Put(ctx, jetstream.ObjectMeta{Name: p.SHA256}, content); err != nil {
			return nil, 0, fmt.Errorf("send %s: %w", p.Name, err)
		}
		sent += p.Bytes
	}
	return files, sent, nil
}

// cache is a worker's own copies of files, by the hash of their content.
type cache struct{ directory string }

// place puts the files of a sweep into a folder and into the inputs of a backtest. It takes them from the cache, or
// else from the server.
func (c *cache) place(ctx context.Context, s *store, found *Sweep, folder string, into *inputs.Files) (received int64, err error) {
	for i := range found.Files {
		f := &found.Files[i]
		if !filepath.IsLocal(f.Name) || len(f.SHA256) != 2*sha256.Size || strings.ContainsAny(f.SHA256, "/.") || f.Bytes > maxFile {
			return received, fmt.Errorf("the sweep names a file outside its folder: %q", f.Name)
		}
		stored, n, err := c.file(ctx, s, f)
		if received += n; err != nil {
			return received, err
		}
		name := filepath.Join(f.Role, fmt.Sprint(i), f.Name) // keeps the base name, since its extension selects the reader
		if f.Role == roleStrategy {
			name = filepath.Join(f.Role, f.Name)
		}
		path := filepath.Join(folder, name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), os.Symlink(stored, path)); err != nil && !errors.Is(err, fs.ErrExist) {
			return received, err
		}
		addFile(into, f, path)
	}
	into.From, into.To, into.Repair = found.Spec.From, found.Spec.To, found.Spec.Repair
	return received, nil
}

// addFile adds a file to the inputs of a backtest, by its role.
func addFile(into *inputs.Files, f *file, path string) {
	switch f.Role {
	case roleData:
		into.Data = append(into.Data, path)
	case roleOther:
		into.Data = append(into.Data, f.Prefix+"="+path)
	case roleDetail:
		into.Detail = append(into.Detail, path)
	case roleTrades:
		into.Trades = append(into.Trades, path)
	case roleFunding:
		into.Funding = append(into.Funding, path)
	case roleSignals:
		into.Signals = append(into.Signals, path)
	case roleColumns:
		if f.Prefix != "" {
			path += "=" + f.Prefix
		}
		into.Columns = append(into.Columns, path)
	case roleSymbols:
		into.Symbols = path
	case roleStrategy:
		if f.Name == "strategy.yaml" {
			into.StrategyFiles = append(into.StrategyFiles, path)
		}
	}
}

// file returns the path of a cached file. It accepts a file from the server only with the right hash.
func (c *cache) file(ctx context.Context, s *store, f *file) (path string, received int64, err error) {
	path = filepath.Join(c.directory, f.SHA256)
	if found, err := os.Stat(path); err == nil && found.Size() == f.Bytes {
		return path, 0, nil
	}
	if err := os.MkdirAll(c.directory, 0o700); err != nil {
		return "", 0, err
	}
	object, err := s.files.Get(ctx, f.SHA256)
	if err != nil {
		return "", 0, fmt.Errorf("get %s: %w", f.Name, err)
	}
	defer object.Close()
	fresh, err := os.CreateTemp(c.directory, "new-*")
	if err != nil {
		return "", 0, err
	}
	defer os.Remove(fresh.Name())
	sum := sha256.New()
	received, err = io.Copy(io.MultiWriter(fresh, sum), io.LimitReader(object, maxFile))
	if err = errors.Join(err, fresh.Close()); err != nil {
		return "", received, fmt.Errorf("get %s: %w", f.Name, err)
	}
	if hex.EncodeToString(sum.Sum(nil)) != f.SHA256 {
		return "", received, fmt.Errorf("get %s: the server's copy does not have the hash that the sweep states", f.Name)
	}
	return path, received, os.Rename(fresh.Name(), path)
}
