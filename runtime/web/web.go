// Package web serves the dashboard: pages in the binary that show what the API returns.
//
// The pages are plain embedded files: there is no build step, and nothing is fetched from other hosts.
// Except for the pages themselves, the addresses of files change with their content, so a browser can
// cache them and never mixes two versions.
package web

import (
	"bytes"
	"cmp"
	"compress/gzip"
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"fmt"
	"io/fs"
	"mime"
	"net/http"
	"path"
	"regexp"
	"slices"
	"strings"
	"sync"

	"botd/internal/chart"
)

//go:embed static
var static embed.FS

// file is one file as it is sent.
type file struct {
	kind   string
	plain  []byte
	zipped func() []byte
	tag    string
}

// site is all files, and under which address.
type site struct {
	base  string // of everything but the pages: /static/VERSION
	files map[string]*file
	page  *file
	login *file
	docs  map[string]func() *file
	found func(query string) *file // the results of a search of the documents
}

// Handler serves the dashboard: its files, and the page itself at every other path. The page
// selects its content by its address.
func Handler() http.Handler {
	s, err := build(static)
	if err != nil {
		panic("web: " + err.Error()) // of embedded files
	}
	return s
}

// build reads the files and fills in their address.
func build(from fs.FS) (*site, error) {
	s := &site{files: map[string]*file{}}
	sum := sha256.New()
	err := fs.WalkDir(from, "static", func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		text, err := fs.ReadFile(from, name)
		if err != nil {
			return err
		}
		fmt.Fprintf(sum, "%s %d\n%s", name, len(text), text)
		name = strings.TrimPrefix(name, "static/")
		s.files[name] = newFile(name, text)
		return nil
	})
	if err != nil {
		return nil, err
	}
	sum.Write(chart.Library)
	s.files["vendor/lightweight-charts.js"] = newFile("lightweight-charts.js", chart.Library)
	s.files["vendor/LICENSE-lightweight-charts"] = newFile("LICENSE.txt", []byte(chart.Notice+"\n\n"+chart.License))
	s.base = "/static/" + hex.EncodeToString(sum.Sum(nil)[:6])
	s.page, s.login = s.filled("index.html", s.needs("js/app.js")), s.filled("login.html", nil)
	shell := s.filled("document.html", nil)
	s.docs, err = s.documents(string(shell.plain))
	return s, err
}

var imported = regexp.MustCompile(`(?m)^import [^"]* from "\./([^"]+)";$`)

// needs lists a module's imports, direct and indirect: every page has them, so the page has the
// browser fetch them at once.
func (s *site) needs(module string) []string {
	all, seen := []string{module}, map[string]bool{module: true}
	for i := 0; i < len(all); i++ {
		if f := s.files[all[i]]; f != nil {
			for _, match := range imported.FindAllSubmatch(f.plain, -1) {
				if name := path.Join(path.Dir(all[i]), string(match[1])); !seen[name] {
					all, seen[name] = append(all, name), true
				}
			}
		}
	}
	return slices.Sorted(slices.Values(all[1:]))
}

// filled returns a page with the address of its files, and the modules that the browser is to fetch at
// once instead of one after another.
func (s *site) filled(name string, modules []string) *file {
	var preload strings.Builder
	for _, module := range modules {
		fmt.Fprintf(&preload, "<link rel=\"modulepreload\" href=\"@/%s\">\n", module)
	}
	text := strings.Replace(string(s.files[name].plain), "@preload\n", preload.String(), 1)
	delete(s.files, name)
	return newFile(name, []byte(strings.ReplaceAll(text, "\"@/", "\""+s.base+"/")))
}

func newFile(name string, text []byte) *file {
	kind := mime.TypeByExtension(path.Ext(name))
	switch path.Ext(name) { // the machine's own table of types is not used for these
	case ".js":
		kind = "text/javascript; charset=utf-8"
	case ".css":
		kind = "text/css; charset=utf-8"
	case ".html":
		kind = "text/html; charset=utf-8"
	case ".svg":
		kind = "image/svg+xml"
	case ".txt":
		kind = "text/plain; charset=utf-8"
	}
	sum := sha256.Sum256(text)
	return &file{kind, text, sync.OnceValue(func() []byte { return zip(text) }), `"` + hex.EncodeToString(sum[:8]) + `"`}
}

func zip(text []byte) []byte {
	var out bytes.Buffer
	w, _ := gzip.NewWriterLevel(&out, gzip.BestCompression) // a level that exists
	_, _ = w.Write(text)                                    // into memory
	_ = w.Close()
	return out.Bytes()
}

// ServeHTTP implements http.Handler.
func (s *site) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.Method != http.MethodGet && r.Method != http.MethodHead {
		w.Header().Set("Allow", "GET, HEAD")
		http.Error(w, "the dashboard is only read; changes go to /api/v1", http.StatusMethodNotAllowed)
		return
	}
	if rest, found := strings.CutPrefix(r.URL.Path, "/static/"); found {
		version, name, _ := strings.Cut(rest, "/")
		f := s.files[name]
		if f == nil || "/static/"+version != s.base {
			http.NotFound(w, r)
			return
		}
		w.Header().Set("Cache-Control", "public, max-age=31536000, immutable")
		f.send(w, r)
		return
	}
	w.Header().Set("Cache-Control", "no-cache")
	if name, found := strings.CutPrefix(r.URL.Path+"/", documentsAt); found {
		s.sendDocument(w, r, strings.TrimSuffix(name, "/"))
		return
	}
	switch {
	case r.URL.Path == "/login":
		s.login.send(w, r)
	case path.Ext(r.URL.Path) == ".ico" || path.Ext(r.URL.Path) == ".txt": // requested by browsers and robots
		http.NotFound(w, r)
	default:
		s.page.send(w, r)
	}
}

// sendDocument sends one of the documents, or the first if none is named.
func (s *site) sendDocument(w http.ResponseWriter, r *http.Request, name string) {
	if r.URL.Query().Has("q") {
		s.found(r.URL.Query().Get("q")).send(w, r)
		return
	}
	make, found := s.docs[cmp.Or(name, "index")]
	if !found {
		http.NotFound(w, r)
		return
	}
	make().send(w, r)
}

func (f *file) send(w http.ResponseWriter, r *http.Request) {
	header := w.Header()
	header.Set("ETag", f.tag)
	header.Set("Vary", "Accept-Encoding")
	if slices.Contains(strings.Split(r.Header.Get("If-None-Match"), ", "), f.tag) {
		w.WriteHeader(http.StatusNotModified)
		return
	}
	header.Set("Content-Type", f.kind)
	text := f.plain
	if strings.Contains(r.Header.Get("Accept-Encoding"), "gzip") {
		header.Set("Content-Encoding", "gzip")
		text = f.zipped()
	}
	_, _ = w.Write(text) // a disconnected client gets no answer
}
