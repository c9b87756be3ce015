package web

import (
	"fmt"
	"html/template"
	"mime"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"botd/internal/chart"
)

// chapter is a document with everything that the documents use.
const chapter = `# The *gate* of risk

Every order passes
the gate.

## Limits, and ` + "`rearm`" + `

| name | unit |
|---|--:|
| max_orders | 3 |

    botd rearm
    botd status

### Of a strategy

- one of [its own](configuration.md#strategies)
- [elsewhere](https://example.com/a.md), [below](#limits), [a file](../configs/a.yaml), [a room](docs/x.md)

## Halts
`

func TestPassagesAreHeadingsWithTheTextBelow(t *testing.T) {
	t.Parallel()
	source := []byte("before any heading\n\n" + chapter)
	have := passagesOf(parsed(source), source, "risk", "Risk")
	want := []passage{
		{id: "the-gate-of-risk", title: "The gate of risk", text: "Every order passes the gate."},
		{id: "limits-and-rearm", title: "Limits, and rearm", text: "name unit max_orders 3 botd rearm botd status"},
		{id: "of-a-strategy", title: "Of a strategy", text: "one of its own elsewhere, below, a file, a room"},
		{id: "halts", title: "Halts"},
	}
	for i := range want {
		want[i].document, want[i].page, want[i].lower = "Risk", "risk", strings.ToLower(want[i].title+" "+want[i].text)
	}
	if !slices.Equal(have, want) {
		t.Errorf("want\n%+v, have\n%+v", want, have)
	}
}

// TestADocumentsPage covers the sidebar with the parts of the current page, and links that lead to pages.
func TestADocumentsPage(t *testing.T) {
	t.Parallel()
	layout := template.Must(template.New("page").Parse(
		`{{.Title}}|{{range .Sections}}{{.Name}}:{{range .Pages}} {{.Name}}={{.Title}}{{if .Current}}*{{range .Parts}} #{{.ID}} {{.Title}};{{end}}{{end}}{{end}}
{{end}}{{.Body}}`))
	page := string((&site{}).document(layout, "risk", []byte(chapter), map[string]string{"risk": "Risk", "security": "Security"}).plain)
	for _, want := range []string{
		"Risk|:",
		"Trade: configuration= risk=Risk* #limits-and-rearm Limits, and rearm; #halts Halts; exactly-once= dashboard= telegram=\n",
		" security=Security api=",
		`<a href="/docs/configuration#strategies">its own</a>`,
		`<a href="https://example.com/a.md">elsewhere</a>, <a href="#limits">below</a>, a file, a room`,
		`<div class="scroll" tabindex="0"><table>`, `<th class="num">unit</th>`, `<pre tabindex="0"><code>botd rearm`,
	} {
		if !strings.Contains(page, want) {
			t.Errorf("want %q in the page, have\n%s", want, page)
		}
	}
	if strings.Contains(page, " style=") {
		t.Errorf("want no style of its own, have\n%s", page)
	}
}

func TestAPassageIsFoundByEveryWordAndRanked(t *testing.T) {
	t.Parallel()
	of := func(title, text string) passage {
		return passage{title: title, text: text, lower: strings.ToLower(title + " " + text)}
	}
	all := []passage{
		of("Once", "a stop"), of("Often", strings.Repeat("stop ", 10)+"now"), of("More often", strings.Repeat("stop ", 15)),
		of("The STOP", ""), of("Two stops", "and a stop of them"), of("Nothing", "of it"),
	}
	for _, c := range []struct{ query, want string }{
		{"stop", "Two stops, The STOP, Often, More often, Once"}, // a heading counts 100, a word 1, up to 10 times
		{"Stop NOW", "Often"},
		{"stops stop", "Two stops"},
		{"  ", ""},
		{"sto", "Two stops, The STOP, Often, More often, Once"},
	} {
		found, count := find(all, c.query)
		var have []string
		for _, one := range found {
			have = append(have, one.title)
		}
		if got := strings.Join(have, ", "); got != c.want || count != len(found) {
			t.Errorf("%q: want %s, have %s of %d", c.query, c.want, got, count)
		}
	}
	many := make([]passage, 31)
	for i := range many {
		many[i] = of("Stop", "")
	}
	for _, c := range []struct{ has, want int }{{29, 29}, {30, 30}, {31, 30}} {
		if found, count := find(many[:c.has], "stop"); len(found) != c.want || count != c.has {
			t.Errorf("of %d: want %d shown, have %d of %d", c.has, c.want, len(found), count)
		}
	}
}

func TestAnExcerptSurroundsTheWord(t *testing.T) {
	t.Parallel()
	before, after := strings.Repeat("abcd ", 40), strings.Repeat("wxyz ", 60) // 200 and 300 characters
	for _, c := range []struct{ name, text, query, want string }{
		{"a short text", "the gate refuses", "gate", "the gate refuses"},
		{"no word of the query", "the gate refuses", "other", "the gate refuses"},
		{"a text of 220 characters", strings.Repeat("wxyz", 55), "w", strings.Repeat("wxyz", 55)},
		{"a longer one ends with a whole word", after, "other", strings.Repeat("wxyz ", 44) + "..."},
		// The word is at 200: a third of 220 before it, from the next whole word; 220 from the word on.
		{"a word in the middle", before + "HALT " + after, "halt", strings.Repeat("abcd ", 14) + "HALT " + strings.Repeat("wxyz ", 43) + "..."},
		{"its last word", before + "halt", "nothing halt", strings.Repeat("abcd ", 14) + "halt"},
		{"a word at 72 shows the beginning", strings.Repeat("abcd ", 14) + "- halt", "halt", strings.Repeat("abcd ", 14) + "- halt"},
		{"a word at 73 does not", strings.Repeat("abcd ", 14) + "-- halt", "halt", strings.Repeat("abcd ", 13) + "-- halt"},
		{"the first word of the query that is there", before + "halt", "other abcd halt", before + "halt"},
		{"within a word that is longer than an excerpt", strings.Repeat("a", 80) + strings.Repeat("b", 400), "b", strings.Repeat("b", 220) + " ..."},
		{"at the end of a word that is longer", strings.Repeat("a", 80) + "bc d", "bc", "bc d"},
		{"characters of two bytes are not cut", "a" + strings.Repeat("é", 300), "", "a" + strings.Repeat("é", 109) + " ..."},
	} {
		if have := excerpt(c.text, c.query); have != c.want {
			t.Errorf("%s: want\n%q, have\n%q", c.name, c.want, have)
		}
	}
}

func TestASearchReportsWhatItFound(t *testing.T) {
	t.Parallel()
	layout := template.Must(template.New("page").Parse(`{{.Title}}|{{.Query}}|{{len .Sections}}|{{.Body}}`))
	one := passage{document: "Risk of trading", page: "risk", id: "halts", title: "Halts", text: "stop & go", lower: "halts stop & go"}
	title := one
	title.id = ""
	many := slices.Repeat([]passage{one}, 31)
	for _, c := range []struct {
		query string
		all   []passage
		want  string
	}{
		{"stop", many[:1], "1 passages with &#34;stop&#34;.</p>\n<section class=\"found\"><h2><a href=\"/docs/risk#halts\">Halts</a></h2>\n" +
			"<p class=\"note\">Risk of trading</p><p>stop &amp; go</p></section>"},
		{"stop", []passage{title}, `<a href="/docs/risk">Halts</a>`},
		{"stop", many[:30], "<p>30 passages with &#34;stop&#34;.</p>"},
		{"stop", many, "<p>31 passages with &#34;stop&#34;; the best 30:</p>"},
		{"stop", nil, "<p>No passage contains &#34;stop&#34;. A passage must contain all words; parts of words match too.</p>"},
		{strings.Repeat("é", 100), nil, "&#34;" + strings.Repeat("é", 100) + "&#34;"},
		{strings.Repeat("é", 101), nil, "&#34;" + strings.Repeat("é", 100) + "&#34;"},
		{" ", many, "<p>Enter search words: a passage must contain all of them.</p>"},
	} {
		page := string((&site{}).search(layout, nil, func() []passage { return c.all })(c.query).plain)
		if !strings.HasPrefix(page, "Search|") || !strings.Contains(page, "|7|") || !strings.Contains(page, c.want) {
			t.Errorf("%.20q in %d: want %s, have\n%s", c.query, len(c.all), c.want, page)
		}
	}
}

// TestAModuleThatTwoImportIsPreloadedOnce uses modules that import one another.
func TestAModuleThatTwoImportIsPreloadedOnce(t *testing.T) {
	t.Parallel()
	s, err := build(fstest.MapFS{
		"static/index.html": {Data: []byte("@preload\n")}, "static/document.html": {}, "static/login.html": {},
		"static/js/app.js":    {Data: []byte("import { a } from \"./one.js\";\nimport { b } from \"./two.js\";\n")},
		"static/js/one.js":    {Data: []byte("import { b } from \"./two.js\";\nimport { c } from \"./sub/three.js\";\n")},
		"static/js/two.js":    {Data: []byte("import { x } from \"./app.js\";\nimport { a } from \"./one.js\";\nimport { c } from \"./sub/three.js\";\n")},
		"static/js/unused.js": {},
	})
	if err != nil {
		t.Fatal(err)
	}
	want := ""
	for _, name := range []string{"one.js", "sub/three.js", "two.js"} {
		want += fmt.Sprintf("<link rel=\"modulepreload\" href=\"%s/js/%s\">\n", s.base, name)
	}
	if have := string(s.page.plain); have != want {
		t.Errorf("want\n%s, have\n%s", want, have)
	}
}

// TestTheKindOfAFile covers the kinds that a browser demands: it refuses a module or a style of another, whatever the table of
// the machine reports.
func TestTheKindOfAFile(t *testing.T) {
	for _, extension := range []string{".js", ".css", ".html", ".svg", ".txt"} {
		if err := mime.AddExtensionType(extension, "application/x-machine"); err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range []struct{ name, want string }{
		{"a.js", "text/javascript; charset=utf-8"}, {"a.css", "text/css; charset=utf-8"}, {"a.html", "text/html; charset=utf-8"},
		{"a.svg", "image/svg+xml"}, {"a.txt", "text/plain; charset=utf-8"}, {"a.png", "image/png"},
	} {
		for _, zipped := range []string{"", "gzip"} {
			r, w := httptest.NewRequest("GET", "/", nil), httptest.NewRecorder()
			r.Header.Set("Accept-Encoding", zipped)
			newFile(c.name, []byte("x")).send(w, r)
			if have := w.Header().Get("Content-Type"); have != c.want || w.Header().Get("Content-Encoding") != zipped {
				t.Errorf("%s: want %q, have %q encoded as %q", c.name, c.want, have, w.Header().Get("Content-Encoding"))
			}
		}
	}
}

func TestTheChartLibraryIsServedWithItsLicense(t *testing.T) {
	t.Parallel()
	s, err := build(static)
	if err != nil {
		t.Fatal(err)
	}
	if have := text(t, ask(t, s, s.base+"/vendor/lightweight-charts.js", nil)); have != string(chart.Library) {
		t.Errorf("want the library, have %d bytes", len(have))
	}
	license := text(t, ask(t, s, s.base+"/vendor/LICENSE-lightweight-charts", nil))
	if !strings.HasPrefix(license, chart.Notice+"\n") || !strings.HasSuffix(license, chart.License) {
		t.Errorf("want the notice and the license, have %.200s", license)
	}
}

func TestAPageThatCannotBeMadeEndsTheStart(t *testing.T) {
	t.Parallel()
	for name, files := range map[string]fstest.MapFS{
		"no files":             {},
		"a layout that breaks": {"static/index.html": {}, "static/login.html": {}, "static/document.html": {Data: []byte("{{")}},
	} {
		if s, err := build(files); err == nil {
			t.Errorf("%s: want an error, have %v", name, s)
		}
	}
}
