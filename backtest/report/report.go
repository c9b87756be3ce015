// Package report renders a backtest result as one page that opens offline, or several results side by side.
//
// The page is one HTML file that asks nothing of any network: style, scripts and
// data stand in it, and its content security policy allows nothing else. What is
// drawn by script (equity, candles) also stands in tables, so that a page without
// scripts lacks no figure.
package report

import (
	"bytes"
	"crypto/sha256"
	"embed"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"html"
	"html/template"
	"io"
	"strings"

	"botd/backtest"
	"botd/exchange"
	"botd/internal/chart"
)

//go:embed page
var files embed.FS

// Source is the candles of one symbol of the run, for its chart.
type Source struct {
	Symbol  *exchange.Symbol
	Candles *exchange.Candles
}

// Write writes a result as a page.
func Write(w io.Writer, result *backtest.Result, sources []Source) error {
	body, err := filled("report.gohtml", newPage(result, sources))
	if err != nil {
		return err
	}
	data, err := json.Marshal(chartData(result, sources))
	if err != nil {
		return fmt.Errorf("write the charts' data: %w", err)
	}
	return assemble(w, result.Name+" – botd backtest", body, data)
}

// filled runs a template of the page directory.
func filled(name string, data any) ([]byte, error) {
	t, err := template.New(name).Funcs(functions).ParseFS(files, "page/"+name, "page/parts.gohtml")
	if err != nil {
		return nil, fmt.Errorf("read the page's template: %w", err)
	}
	var body bytes.Buffer
	if err := t.Execute(&body, data); err != nil {
		return nil, fmt.Errorf("write the page: %w", err)
	}
	return body.Bytes(), nil
}

// assemble puts style, scripts, data and body into one file. The policy names the
// hashes of what may run, so that nothing else does, wherever it came from.
func assemble(w io.Writer, title string, body, data []byte) error {
	style, err := files.ReadFile("page/style.css")
	if err != nil {
		return err
	}
	script, err := files.ReadFile("page/page.js")
	if err != nil {
		return err
	}
	policy := []string{"default-src 'none'", "style-src " + hashed(style), "script-src " + hashed(chart.Library) + " " + hashed(script),
		"img-src data:", "base-uri 'none'", "form-action 'none'"}
	var page bytes.Buffer
	page.Grow(len(body) + len(data) + len(chart.Library) + len(style) + len(script) + 1024)
	page.WriteString("<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n")
	fmt.Fprintf(&page, "<meta http-equiv=\"Content-Security-Policy\" content=\"%s\">\n", strings.Join(policy, "; "))
	page.WriteString("<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n<meta name=\"color-scheme\" content=\"light " +
		"dark\">\n<meta name=\"referrer\" content=\"no-referrer\">\n")
	fmt.Fprintf(&page, "<title>%s</title>\n<link rel=\"icon\" href=\"data:,\">\n<style>%s</style>\n</head>\n<body>\n", html.EscapeString(title),
		style)
	page.Write(body)
	// encoding/json writes < as \u003c: no data can end the element.
	fmt.Fprintf(&page, "<script type=\"application/json\" id=\"data\">%s</script>\n<script>%s</script>\n<script>%s</script>\n</body>\n</html>\n",
		data, chart.Library, script)
	_, err = w.Write(page.Bytes())
	return err
}

// hashed is a source expression of a content security policy.
func hashed(text []byte) string {
	sum := sha256.Sum256(text)
	return "'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'"
}
