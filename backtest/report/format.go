package report

import (
	"html/template"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/shopspring/decimal"
)

var functions = template.FuncMap{
	"money":   money,
	"gain":    gain,
	"number":  number,
	"percent": percent,
	"signed":  signedPercent,
	"day":     day,
	"minute":  minute,
	"span":    span,
	"count":   count,
	"tone":    tone,
	"short":   func(hash string) string { return hash[:min(len(hash), 12)] },
	"price":   price,
	"rows": func(head string, rows []barRow) any {
		return struct {
			Head string
			Rows []barRow
		}{head, rows}
	},
}

const none = "–" // an undefined value

// grouped inserts commas between thousands.
func grouped(text string) string {
	sign := ""
	if strings.HasPrefix(text, "-") {
		sign, text = "−", text[1:]
	}
	whole, fraction, point := strings.Cut(text, ".")
	var b strings.Builder
	b.WriteString(sign)
	for i, digit := range whole {
		if i > 0 && (len(whole)-i)%3 == 0 {
			b.WriteByte(',')
		}
		b.WriteRune(digit)
	}
	if point {
		b.WriteByte('.')
		b.WriteString(fraction)
	}
	return b.String()
}

func money(amount string) string {
	d, err := decimal.NewFromString(amount)
	if err != nil {
		return none
	}
	return grouped(d.StringFixed(2))
}

// gain formats money with an explicit sign.
func gain(amount string) string {
	text := money(amount)
	if text != none && !strings.HasPrefix(text, "−") {
		return "+" + text
	}
	return text
}

// sign returns -1, 0 or 1.
func sign(amount string) int {
	d, err := decimal.NewFromString(amount)
	if err != nil {
		return 0
	}
	return d.Sign()
}

// tone returns the color class of a value. A sign or a word always conveys the same.
func tone(value any) string {
	v := 0.0
	switch x := value.(type) {
	case string:
		v = float64(sign(x))
	case float64:
		v = x
	case *float64:
		if x != nil {
			v = *x
		}
	}
	switch {
	case v > 0:
		return "up"
	case v < 0:
		return "down"
	}
	return ""
}

func fixed(f float64, places int) string {
	if math.Abs(f) >= 1e15 {
		return strconv.FormatFloat(f, 'g', 6, 64)
	}
	text := strconv.FormatFloat(f, 'f', places, 64)
	if strings.Trim(text, "-0.") == "" {
		text = strings.TrimPrefix(text, "-")
	}
	return grouped(text)
}

func number(f *float64) string {
	if f == nil {
		return none
	}
	return fixed(*f, 2)
}

func percent(value any) string {
	switch f := value.(type) {
	case float64:
		return fixed(f, 2) + " %"
	case *float64:
		if f != nil {
			return fixed(*f, 2) + " %"
		}
	}
	return none
}

func signedPercent(f *float64) string {
	if f == nil {
		return none
	}
	text := fixed(*f, 2) + " %"
	if *f >= 0 {
		text = "+" + text
	}
	return text
}

func price(text string) string {
	d, err := decimal.NewFromString(text)
	if err != nil {
		return none
	}
	return grouped(d.Round(8).String())
}

func day(at time.Time) string    { return at.UTC().Format("2006-01-02") }
func minute(at time.Time) string { return at.UTC().Format("2006-01-02 15:04") }
func count(n int) string         { return grouped(strconv.Itoa(n)) }

// span formats a duration in its two largest units.
func span(d time.Duration) string {
	if d < time.Minute {
		return strconv.Itoa(int(d.Seconds())) + " s"
	}
	units := []struct {
		name string
		size time.Duration
	}{{"d", 24 * time.Hour}, {"h", time.Hour}, {"min", time.Minute}}
	var words []string
	for _, u := range units {
		if n := d / u.size; n > 0 {
			words = append(words, strconv.Itoa(int(n))+" "+u.name)
			d -= n * u.size
		}
		if len(words) == 2 {
			break
		}
	}
	return strings.Join(words, " ")
}
