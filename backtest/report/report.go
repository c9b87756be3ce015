// Package report renders a backtest result as one page that opens offline, or several results side by side.
//
// The page is one HTML file that makes no network requests: it contains its style, its scripts, its
// compressed data and chart library, and its content security policy forbids everything else. Tables
// repeat what scripts draw (equity, candles), so a page without scripts lacks no figure.
package report

import (
	"bytes"
	"compress/flate"
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
	"botd/strategy"
)

//go:embed page
var files embed.FS

// Source is the candles of one symbol of the run, for its chart.
type Source struct {
	Symbol  *exchange.Symbol
	Candles *exchange.Candles
	Plots   []strategy.Plot // the indicators that the strategy reads
}

// Write writes a result as a page, with the live trading of the same time overlaid. live may be nil.
func Write(w io.Writer, result *backtest.Result, sources []Source, live *Live) error {
	shown := newPage(result, sources)
	shown.Live = comparisonOf(live)
	body, err := filled("report.gohtml", shown)
	if err != nil {
		return err
	}
	charts := chartData(result, sources)
	charts.Live = liveOf(live)
	data, err := json.Marshal(charts)
	if err != nil {
		return fmt.Errorf("write the charts' data: %w", err)
	}
	return assemble(w, result.Name+" – botd backtest", body, data)
}

// filled executes a template of the page directory.
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

// assemble combines style, scripts, data and body of a backtest's page in one file.
func assemble(w io.Writer, title string, body, data []byte) error {
	script, err := files.ReadFile("page/page.js")
	if err != nil {
		return err
	}
	return frame(w, title, body, []unpacked{{"data", data, false}, {"library", chart.Library, true}}, script)
}

// unpacked is a part of a page before compression.
type unpacked struct {
	id      string
	content []byte
	runs    bool // executed as a script
}

// frame writes a page. Its content security policy lists the hashes of its scripts, so the browser runs nothing else.
func frame(w io.Writer, title string, body []byte, parts []unpacked, script []byte) error {
	style, err := files.ReadFile("page/style.css")
	if err != nil {
		return err
	}
	scripts := hashed(script)
	for _, part := range parts {
		if part.runs {
			scripts += " " + hashed(part.content)
		}
	}
	policy := []string{"default-src 'none'", "style-src " + hashed(style), "script-src " + scripts, "img-src data:", "base-uri 'none'",
		"form-action 'none'"}
	var page bytes.Buffer
	page.WriteString("<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n")
	fmt.Fprintf(&page, "<meta http-equiv=\"Content-Security-Policy\" content=\"%s\">\n", strings.Join(policy, "; "))
	page.WriteString("<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n<meta name=\"color-scheme\" content=\"light " +
		"dark\">\n<meta name=\"referrer\" content=\"no-referrer\">\n")
	fmt.Fprintf(&page, "<title>%s</title>\n<link rel=\"icon\" href=\"data:,\">\n<style>%s</style>\n</head>\n<body>\n", html.EscapeString(title),
		style)
	page.Write(body)
	for _, part := range parts {
		text, err := packed(part.content)
		if err != nil {
			return err
		}
		fmt.Fprintf(&page, "<script type=\"text/plain\" id=%q data-size=\"%d\">%s</script>\n", part.id, len(part.content), text)
	}
	fmt.Fprintf(&page, "<script>%s</script>\n</body>\n</html>\n", script)
	_, err = w.Write(page.Bytes())
	return err
}

// packed compresses a content for the page: deflated (RFC 1951), in Base64. It takes a third of the size, and cannot
// end its HTML element. The best compression would take four times as long, for a page that is 1 % smaller.
func packed(content []byte) (string, error) {
	var small bytes.Buffer
	writer, err := flate.NewWriter(&small, flate.DefaultCompression)
	if err != nil {
		return "", err
	}
	if _, err := writer.Write(content); err != nil {
		return "", err
	}
	if err := writer.Close(); err != nil {
		return "", err
	}
	return base64.StdEncoding.EncodeToString(small.Bytes()), nil
}

// hashed returns a source expression for a content security policy.
func hashed(text []byte) string {
	sum := sha256.Sum256(text)
	return "'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'"
}
