package web

import (
	"cmp"
	"net/http"
	"net/http/httptest"
	"net/url"
	"regexp"
	"strings"
	"testing"

	"botd/docs"
)

var (
	anchors = regexp.MustCompile(`<[a-z0-9]+[^>]* id="([^"]+)"`)
	links   = regexp.MustCompile(`<(?:a|img)[^>]* (?:href|src)="([^"]+)"`)
)

// The links lead to existing pages and headings, and not to files of the repository, which is not served. The policy of pages refuses
// nothing in a document.
func TestEveryDocumentIsServedAndItsLinksLeadSomewhere(t *testing.T) {
	t.Parallel()
	handler := Handler()
	get := func(path string) (int, string) {
		answer := httptest.NewRecorder()
		handler.ServeHTTP(answer, httptest.NewRequest(http.MethodGet, path, nil))
		return answer.Code, answer.Body.String()
	}
	pages, ids := map[string]string{}, map[string]bool{}
	for _, section := range docs.Contents() {
		for _, name := range section.Pages {
			code, page := get("/docs/" + name)
			if code != http.StatusOK || !strings.Contains(page, "<h1 id=") || strings.Contains(page, " style=") || strings.Contains(page, "<script>") {
				t.Errorf("%s: want a page with a heading, without styles and scripts of its own, have status %d", name, code)
			}
			pages["/docs/"+name] = page
			for _, match := range anchors.FindAllStringSubmatch(page, -1) {
				ids["/docs/"+name+"#"+match[1]] = true
			}
		}
	}
	for from, page := range pages {
		for _, match := range links.FindAllStringSubmatch(page, -1) {
			to := match[1]
			path, part, marked := strings.Cut(to, "#")
			switch {
			case strings.HasPrefix(to, "https://"), to == "/", strings.HasPrefix(to, "/static/"):
			case strings.HasPrefix(to, "pictures/"):
				if code, content := get("/docs/" + to); code != http.StatusOK || !strings.HasPrefix(content, "\x89PNG") {
					t.Errorf("%s: want the picture %s, have status %d", from, to, code)
				}
			case path != "" && pages[path] == "", marked && !ids[cmp.Or(path, from)+"#"+part]:
				t.Errorf("%s leads to %s, which is not there", from, to)
			}
		}
	}
	for name, title := range map[string]string{"risk": "Limits and rules that can block an order", "exactly-once": "Exactly once"} {
		for _, want := range []string{"<title>" + title + " · botd</title>", `<a href="/docs/` + name + `" aria-current="page">` + title + "</a>"} {
			if !strings.Contains(pages["/docs/"+name], want) {
				t.Errorf("%s: want %s", name, want)
			}
		}
	}
	if code, index := get("/docs"); code != http.StatusOK || index != pages["/docs/index"] {
		t.Errorf("want the first document at /docs, have status %d", code)
	}
	if code, _ := get("/docs/openapi.go"); code != http.StatusNotFound {
		t.Errorf("want no other file, have status %d", code)
	}
}

// Every word is searched, in headings first. The query is shown as text, never as markup.
func TestDocumentsAreSearched(t *testing.T) {
	t.Parallel()
	handler := Handler()
	get := func(query string) string {
		answer := httptest.NewRecorder()
		handler.ServeHTTP(answer, httptest.NewRequest(http.MethodGet, "/docs/?q="+url.QueryEscape(query), nil))
		if answer.Code != http.StatusOK {
			t.Errorf("%q: want a page, have status %d", query, answer.Code)
		}
		return answer.Body.String()
	}
	page := get("Kill  SWITCH flatten")
	first := regexp.MustCompile(`<section class="found"><h2><a href="/docs/([a-z-]+)#([^"]+)">`).FindStringSubmatch(page)
	if first == nil {
		t.Fatalf("want passages found, have %.2000s", page)
	}
	there := httptest.NewRecorder()
	handler.ServeHTTP(there, httptest.NewRequest(http.MethodGet, "/docs/"+first[1], nil))
	if !strings.Contains(there.Body.String(), `id="`+first[2]+`"`) {
		t.Errorf("want the heading %s in %s", first[2], first[1])
	}
	for query, want := range map[string]string{
		"price_collar":                `href="/docs/configuration`, // in tables and code, too
		"nothing has zyxw":            "No passage contains",
		" ":                           "Enter search words",
		"<script>alert(1)</script>":   "&lt;script&gt;alert(1)&lt;/script&gt;",
		strings.Repeat("stop ", 1000): "passages with",
		"\xff\xfe":                    "No passage contains",
	} {
		if have := get(query); !strings.Contains(have, want) || strings.Contains(have, "<script>alert") || len(have) > 100<<10 {
			t.Errorf("%.40q: want %q in a page of at most 100 KB, have %d bytes: %.600s", query, want, len(have), have[strings.Index(have, "<article>"):])
		}
	}
}
