package web

import (
	"bytes"
	"cmp"
	"fmt"
	"html/template"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/yuin/goldmark/ast"
)

// Bounds of a search.
const (
	maxQuery   = 100 // characters
	maxFound   = 30  // passages
	maxExcerpt = 220 // characters
)

// passage is a heading with the text below it, until the next heading.
type passage struct {
	document, page  string // its title, and its name
	id, title, text string
	lower           string // title and text, to search in
	weight          int    // how well it was found
}

// passagesOf returns the passages of a parsed document.
func passagesOf(tree ast.Node, source []byte, page, document string) (all []passage) {
	for node := tree.FirstChild(); node != nil; node = node.NextSibling() {
		if heading, is := node.(*ast.Heading); is {
			one := passage{document: document, page: page, title: plain(heading, source)}
			if id, found := heading.AttributeString("id"); found {
				one.id = string(id.([]byte))
			}
			all = append(all, one)
		} else if len(all) > 0 {
			var text strings.Builder
			written(&text, node, source)
			all[len(all)-1].text += text.String() + " "
		}
	}
	for i := range all {
		one := &all[i]
		one.text = strings.Join(strings.Fields(one.text), " ")
		one.lower = strings.ToLower(one.title + " " + one.text)
	}
	return all
}

// written appends the text of a block: words of a sentence, cells of a table, lines of code.
func written(text *strings.Builder, node ast.Node, source []byte) {
	if node.Type() == ast.TypeBlock && node.FirstChild() == nil && node.Lines() != nil {
		text.Write(node.Lines().Value(source))
	}
	for child := node.FirstChild(); child != nil; child = child.NextSibling() {
		if leaf, is := child.(*ast.Text); is {
			text.Write(leaf.Segment.Value(source))
			if leaf.SoftLineBreak() || leaf.HardLineBreak() {
				text.WriteByte(' ')
			}
			continue
		}
		written(text, child, source)
		if child.Type() == ast.TypeBlock {
			text.WriteByte(' ')
		}
	}
}

// find returns the passages that contain every word of a query, those with more of them in their heading first, and their
// number.
func find(all []passage, query string) (found []passage, count int) {
	words := strings.Fields(strings.ToLower(query))
	if len(words) == 0 {
		return nil, 0
	}
	for _, one := range all {
		if slices.ContainsFunc(words, func(word string) bool { return !strings.Contains(one.lower, word) }) {
			continue
		}
		title := strings.ToLower(one.title)
		for _, word := range words {
			one.weight += min(strings.Count(one.lower, word), 10)
			if strings.Contains(title, word) {
				one.weight += 100
			}
		}
		found = append(found, one)
	}
	slices.SortStableFunc(found, func(a, b passage) int { return cmp.Compare(b.weight, a.weight) })
	return found[:min(maxFound, len(found))], len(found)
}

// excerpt returns the text around the first word that is found in it, from word to word where words are shorter than it.
func excerpt(text, query string) string {
	at, lower := 0, strings.ToLower(text)
	for _, word := range strings.Fields(strings.ToLower(query)) {
		if i := strings.Index(lower, word); i >= 0 && len(lower) == len(text) {
			at = i
			break
		}
	}
	begin := 0
	if at >= maxExcerpt/3 {
		begin = at - maxExcerpt/3
		begin = min(at, begin+strings.IndexByte(text[begin:]+" ", ' ')+1)
	}
	if len(text) <= at+maxExcerpt {
		return text[begin:]
	}
	end := at + maxExcerpt
	for !utf8.RuneStart(text[end]) {
		end--
	}
	if word := strings.LastIndexByte(text[at:end], ' '); word > 0 {
		end = at + word
	}
	return text[begin:end] + " ..."
}

var results = template.Must(template.New("results").Parse(`<h1 id="search">Search</h1>
<p>{{.Summary}}</p>
{{range .Found}}<section class="found"><h2><a href="/docs/{{.Page}}{{if .ID}}#{{.ID}}{{end}}">{{.Title}}</a></h2>
<p class="note">{{.Document}}</p><p>{{.Excerpt}}</p></section>
{{end}}`))

// search renders the page of a query's results.
func (s *site) search(layout *template.Template, titles map[string]string, passages func() []passage) func(query string) *file {
	type result struct{ Page, ID, Title, Document, Excerpt string }
	return func(query string) *file {
		if cut := []rune(query); len(cut) > maxQuery {
			query = string(cut[:maxQuery])
		}
		found, count := find(passages(), query)
		content := struct {
			Summary string
			Found   []result
		}{Summary: fmt.Sprintf("%d passages with %q.", count, query)}
		switch {
		case strings.TrimSpace(query) == "":
			content.Summary = "Enter search words: a passage must contain all of them."
		case count == 0:
			content.Summary = fmt.Sprintf("No passage contains %q. A passage must contain all words; parts of words match too.", query)
		case count > len(found):
			content.Summary = fmt.Sprintf("%d passages with %q; the best %d:", count, query, len(found))
		}
		for _, one := range found {
			content.Found = append(content.Found, result{one.page, one.id, one.title, one.document, excerpt(one.text, query)})
		}
		var body, page bytes.Buffer
		err := results.Execute(&body, content)
		view := documentPage{Title: "Search", Query: query, Sections: contents("", titles, nil),
			Body: template.HTML(body.String())} //nolint:gosec // made by a template
		if err == nil {
			err = layout.Execute(&page, view)
		}
		if err != nil {
			panic("search: " + err.Error())
		}
		return newFile("document.html", page.Bytes())
	}
}
