package web

import (
	"compress/gzip"
	"io"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"path"
	"regexp"
	"strings"
	"testing"
	"testing/fstest"
)

func ask(t *testing.T, h http.Handler, path string, change func(*http.Request)) *http.Response {
	t.Helper()
	r := httptest.NewRequest(http.MethodGet, path, nil)
	if change != nil {
		change(r)
	}
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	return w.Result()
}

func text(t *testing.T, r *http.Response) string {
	t.Helper()
	body, err := io.ReadAll(r.Body)
	if err != nil {
		t.Fatal(err)
	}
	return string(body)
}

func TestEveryPathIsThePage(t *testing.T) {
	t.Parallel()
	h := Handler()
	want := text(t, ask(t, h, "/", nil))
	if !strings.Contains(want, `<main id="main"`) {
		t.Fatalf("want the page, have %.200s", want)
	}
	for _, path := range []string{"/strategies/trend", "/strategies/v1.2", "/intents/bmain-1-2", "/risk", "/nowhere"} {
		r := ask(t, h, path, nil)
		if have := text(t, r); r.StatusCode != 200 || have != want {
			t.Errorf("%s: want the page, have %d %.100s", path, r.StatusCode, have)
		}
		if have := r.Header.Get("Cache-Control"); have != "no-cache" {
			t.Errorf("%s: want the page asked for each time, have Cache-Control %q", path, have)
		}
	}
	if have := text(t, ask(t, h, "/login", nil)); !strings.Contains(have, `id="token"`) {
		t.Errorf("/login: want its form, have %.100s", have)
	}
	for _, path := range []string{"/favicon.ico", "/robots.txt", "/static/", "/static/0/js/app.js", "/static/../web.go"} {
		if r := ask(t, h, path, nil); r.StatusCode != 404 {
			t.Errorf("%s: want 404, have %d", path, r.StatusCode)
		}
	}
}

// TestPagesNameOnlyFilesThatExist follows every address in pages, styles and modules, and finds none of
// another host.
func TestPagesNameOnlyFilesThatExist(t *testing.T) {
	t.Parallel()
	s, err := build(static)
	if err != nil {
		t.Fatal(err)
	}
	address := regexp.MustCompile(`(?:href|src)="([^"#]+)"`)
	for name, page := range map[string]*file{"index.html": s.page, "login.html": s.login} {
		found := address.FindAllStringSubmatch(string(page.plain), -1)
		if len(found) < 4 {
			t.Errorf("%s: want its styles and scripts, have %d addresses", name, len(found))
		}
		for _, match := range found {
			if r := ask(t, s, match[1], nil); r.StatusCode != 200 || !strings.HasPrefix(match[1], s.base+"/") {
				t.Errorf("%s: %s: want one of its own files, have %d", name, match[1], r.StatusCode)
			}
		}
	}
	imported := regexp.MustCompile(`(?:from|import)\s*\(?\s*"(\.[^"]+)"`)
	for name, f := range s.files {
		if !strings.HasSuffix(name, ".js") || strings.HasPrefix(name, "vendor/") {
			continue
		}
		for _, match := range imported.FindAllStringSubmatch(string(f.plain), -1) {
			path := "js/" + strings.TrimPrefix(match[1], "./")
			if strings.HasPrefix(name, "js/page/") {
				path = strings.Replace(strings.Replace("js/page/"+match[1], "page/../", "", 1), "/./", "/", 1)
			}
			if s.files[path] == nil {
				t.Errorf("%s imports %s, which does not exist", name, match[1])
			}
		}
	}
}

func TestCommonModulesArePreloaded(t *testing.T) {
	t.Parallel()
	s, err := build(static)
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]bool{"dom.js": true, "router.js": true, "settings.js": true, "app.js": false, "chart.js": false, "halt.js": false,
		"page/overview.js": false} {
		if have := strings.Contains(string(s.page.plain), `<link rel="modulepreload" href="`+s.base+"/js/"+name); have != want {
			t.Errorf("%s: want it fetched at once %v, have %v", name, want, have)
		}
	}
}

// TestPagesContainNoInlineCode checks the pages against the policy, so that text from an exchange can never
// run.
func TestPagesContainNoInlineCode(t *testing.T) {
	t.Parallel()
	banned := regexp.MustCompile(`innerHTML|outerHTML|insertAdjacentHTML|document\.write|` +
		`\beval\(|new Function|<script>|<style|\son[a-z]+="|\sstyle="|javascript:`)
	outside := regexp.MustCompile(`https?://[^"'\s)]+`)
	err := fs.WalkDir(static, "static", func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		content, err := fs.ReadFile(static, name)
		if have := banned.FindString(string(content)); have != "" {
			t.Errorf("%s has %q", name, have)
		}
		for _, have := range outside.FindAllString(string(content), -1) {
			if have != "http://www.w3.org/2000/svg" && have != "https://www.tradingview.com/" { // a name, and the link that a license requires
				t.Errorf("%s names %s", name, have)
			}
		}
		return err
	})
	if err != nil {
		t.Error(err)
	}
}

func TestFilesAreCachedByTheirContent(t *testing.T) {
	t.Parallel()
	one := fstest.MapFS{"static/index.html": {Data: []byte(`<link href="@/a.css">`)}, "static/document.html": {},
		"static/login.html": {}, "static/a.css": {Data: []byte("a{}")}}
	first, err := build(one)
	if err != nil {
		t.Fatal(err)
	}
	one["static/a.css"] = &fstest.MapFile{Data: []byte("b{}")}
	second, err := build(one)
	if err != nil {
		t.Fatal(err)
	}
	if first.base == second.base {
		t.Errorf("want another address for other content, have %s twice", first.base)
	}
	r := ask(t, first, first.base+"/a.css", nil)
	if have := r.Header.Get("Cache-Control"); !strings.Contains(have, "immutable") || text(t, r) != "a{}" {
		t.Errorf("want the file to keep, have Cache-Control %q", have)
	}
	again := ask(t, first, first.base+"/a.css", func(q *http.Request) { q.Header.Set("If-None-Match", r.Header.Get("ETag")) })
	if again.StatusCode != http.StatusNotModified {
		t.Errorf("want 304 for what a browser has, have %d", again.StatusCode)
	}
	zipped := ask(t, first, first.base+"/a.css", func(q *http.Request) { q.Header.Set("Accept-Encoding", "gzip") })
	reader, err := gzip.NewReader(zipped.Body)
	if err != nil {
		t.Fatal(err)
	}
	if have, err := io.ReadAll(reader); err != nil || string(have) != "a{}" || zipped.Header.Get("Vary") != "Accept-Encoding" {
		t.Errorf("want the same text when unzipped, have %q, %v", have, err)
	}
}

func TestThePagesAreOnlyRead(t *testing.T) {
	t.Parallel()
	w := httptest.NewRecorder()
	Handler().ServeHTTP(w, httptest.NewRequest(http.MethodPost, "/risk", nil))
	if w.Code != http.StatusMethodNotAllowed || w.Header().Get("Allow") != "GET, HEAD" {
		t.Errorf("want 405 with Allow, have %d %q", w.Code, w.Header().Get("Allow"))
	}
}

// TestImportedNamesAreExported reads every import of the page's modules: a browser refuses a complete
// module because of one name that its source does not export.
func TestImportedNamesAreExported(t *testing.T) {
	t.Parallel()
	modules := map[string]string{}
	err := fs.WalkDir(static, "static/js", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || path.Ext(name) != ".js" {
			return err
		}
		text, err := fs.ReadFile(static, name)
		modules[name] = string(text)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	declared := regexp.MustCompile(`(?m)^export\s+(?:async\s+)?(?:function\*?|const|let|class)\s+(\w+)`)
	imported := regexp.MustCompile(`(?s)import\s*\{([^}]*)\}\s*from\s*"([^"]+)"`)
	checked := 0
	for name, text := range modules {
		for _, m := range imported.FindAllStringSubmatch(text, -1) {
			source := path.Join(path.Dir(name), m[2])
			exports := map[string]bool{}
			for _, e := range declared.FindAllStringSubmatch(modules[source], -1) {
				exports[e[1]] = true
			}
			for each := range strings.SplitSeq(m[1], ",") {
				each, _, _ = strings.Cut(strings.TrimSpace(each), " as ")
				if each != "" && !exports[each] {
					t.Errorf("%s imports %s, which %s does not export", name, each, source)
				}
				checked++
			}
		}
	}
	if checked < 100 {
		t.Errorf("want the imports of every module read, have %d names", checked)
	}
}
