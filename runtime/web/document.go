package web

import (
	"bytes"
	"fmt"
	"html/template"
	"io/fs"
	"strings"
	"sync"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/renderer/html"
	markdown "github.com/yuin/goldmark/text"
	"github.com/yuin/goldmark/util"

	"botd/docs"
)

// documentsAt is where the documents are served.
const documentsAt = "/docs/"

// documents returns the pages made of docs, each rendered at its first request.
func (s *site) documents(shell string) (map[string]func() *file, error) {
	layout, err := template.New("document").Parse(shell)
	if err != nil {
		return nil, err
	}
	titles, all := map[string]string{}, map[string]func() *file{}
	var parse []func() []passage
	for _, section := range docs.Contents() {
		for _, name := range section.Pages {
			source, err := fs.ReadFile(docs.Files(), name+".md")
			if err != nil {
				return nil, err
			}
			titles[name] = titleOf(source)
			all[name] = sync.OnceValue(func() *file { return s.document(layout, name, source, titles) })
			parse = append(parse, func() []passage { return passagesOf(parsed(source), source, name, titles[name]) })
		}
	}
	s.found = s.search(layout, titles, sync.OnceValue(func() (every []passage) {
		for _, one := range parse {
			every = append(every, one()...)
		}
		return every
	}))
	pictures, err := fs.Glob(docs.Files(), "pictures/*.png")
	if err != nil {
		return nil, err
	}
	for _, name := range pictures {
		content, err := fs.ReadFile(docs.Files(), name)
		if err != nil {
			return nil, err
		}
		all[name] = sync.OnceValue(func() *file { return newFile(name, content) })
	}
	return all, nil
}

// titleOf returns the first heading.
func titleOf(source []byte) string {
	line, _, _ := bytes.Cut(source, []byte("\n"))
	return string(bytes.TrimSpace(bytes.TrimPrefix(line, []byte("#"))))
}

// documentPage is the data of a document's page.
type documentPage struct {
	Name, Title string
	Query       string // of a search
	Sections    []navigationSection
	Body        template.HTML
}

type navigationSection struct {
	Name  string
	Pages []navigationPage
}

type navigationPage struct {
	Name, Title string
	Current     bool
	Parts       []navigationPart // of the current one
}

type navigationPart struct{ ID, Title string }

// document renders one document. A document that cannot be rendered is a fault of the program; a test
// renders all of them.
func (s *site) document(layout *template.Template, name string, source []byte, titles map[string]string) *file {
	tree := parsed(source)
	var body, page bytes.Buffer
	err := engine().Renderer().Render(&body, source, tree)
	view := documentPage{Name: name, Title: titles[name], Sections: contents(name, titles, partsOf(tree, source)),
		Body: template.HTML(narrow(body.String()))} //nolint:gosec // botd's own documents
	if err == nil {
		err = layout.Execute(&page, view)
	}
	if err != nil {
		panic(fmt.Sprintf("document %s: %v", name, err))
	}
	return newFile("document.html", page.Bytes())
}

func engine() goldmark.Markdown {
	return goldmark.New(goldmark.WithExtensions(extension.Table, extension.Strikethrough),
		goldmark.WithParserOptions(parser.WithAutoHeadingID(), parser.WithASTTransformers(util.Prioritized(relinked{}, 1))),
		goldmark.WithRendererOptions(html.WithUnsafe())) // they are botd's own, and written in part with <br> and comments
}

func parsed(source []byte) ast.Node { return engine().Parser().Parse(markdown.NewReader(source)) }

// contents lists all documents, with the parts of the current one.
func contents(current string, titles map[string]string, parts []navigationPart) (all []navigationSection) {
	for _, section := range docs.Contents() {
		listed := navigationSection{Name: section.Name}
		for _, one := range section.Pages {
			entry := navigationPage{Name: one, Title: titles[one], Current: one == current}
			if entry.Current {
				entry.Parts = parts
			}
			listed.Pages = append(listed.Pages, entry)
		}
		all = append(all, listed)
	}
	return all
}

// narrow makes wide tables and code scroll by themselves, by keyboard too, and removes styles that the page's policy refuses.
func narrow(body string) string {
	return strings.NewReplacer("<table>", `<div class="scroll" tabindex="0"><table>`, "</table>", "</table></div>", "<th></th>", "<td></td>",
		"<pre>", `<pre tabindex="0">`,
		` style="text-align:right"`, ` class="num"`, ` style="text-align:left"`, "", ` style="text-align:center"`, "").Replace(body)
}

// partsOf returns the headings of the second level.
func partsOf(tree ast.Node, source []byte) (parts []navigationPart) {
	for node := tree.FirstChild(); node != nil; node = node.NextSibling() {
		heading, is := node.(*ast.Heading)
		if !is || heading.Level != 2 {
			continue
		}
		if id, found := heading.AttributeString("id"); found {
			parts = append(parts, navigationPart{string(id.([]byte)), plain(heading, source)})
		}
	}
	return parts
}

// plain returns a node's text.
func plain(node ast.Node, source []byte) string {
	var all strings.Builder
	for child := node.FirstChild(); child != nil; child = child.NextSibling() {
		if leaf, is := child.(*ast.Text); is {
			all.Write(leaf.Segment.Value(source))
		} else {
			all.WriteString(plain(child, source))
		}
	}
	return all.String()
}

// relinked points links to other documents to their pages; links to files of the repository, which is not available here,
// become text.
type relinked struct{}

func (relinked) Transform(tree *ast.Document, _ markdown.Reader, _ parser.Context) {
	var links []*ast.Link
	_ = ast.Walk(tree, func(node ast.Node, entering bool) (ast.WalkStatus, error) { // the function returns no error
		if link, is := node.(*ast.Link); is && entering {
			links = append(links, link)
		}
		return ast.WalkContinue, nil
	})
	for _, link := range links {
		to, part, _ := strings.Cut(string(link.Destination), "#")
		if part != "" {
			part = "#" + part
		}
		name, document := strings.CutSuffix(to, ".md")
		switch {
		case to == "", strings.Contains(to, "://"):
		case document && !strings.Contains(name, "/"):
			link.Destination = []byte(documentsAt + name + part)
		default:
			parent := link.Parent()
			for child := link.FirstChild(); child != nil; child = link.FirstChild() {
				parent.InsertBefore(parent, link, child)
			}
			parent.RemoveChild(parent, link)
		}
	}
}
