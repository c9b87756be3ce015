package probe

import (
	"slices"
	"strings"
	"sync"

	"botd/exchange/wire"
)

// A scheme is one way to sign: the signed parts and their order, their separator, and the spelling
// of address, body and signature. Its cost is its unlikelihood, judged by common venues.
type scheme struct {
	wire.Signer
	cost int
}

// choice is one spelling of a part of a scheme.
type choice struct {
	text string
	cost int
}

// The choices of each part, likely ones first.
var (
	separators = []choice{{"", 0}, {`\n`, 2}, {"|", 6}, {".", 6}, {"&", 6}, {":", 7}, {",", 7}, {" ", 8}, {"-", 8}, {"_", 8}, {"+", 9}}
	// The signed parts of an address: all of it, its parts, or one of them.
	resources = []choice{{"{path}", 0}, {"{route}SEP{query}", 2}, {"{route}{query}", 3}, {"{route}", 3}, {"{query}", 4}}
	// In [ ] with the separator before it: only with a body. After ~ the separator is always there.
	bodies = []choice{{"{body}", 0}, {"[{body}]", 1}, {"{body_sha256}", 2}, {"{body_base64}", 2}, {"[{body_sha256}]", 3}, {"[{body_base64}]", 3},
		{"~[{body_sha256}]", 4}, {"", 3}}
	encodings = []choice{{"hex", 0}, {"base64", 1}}
	// Schemes that are more common than the combination of their parts.
	common = []choice{{"{timestamp}.{body}", 3}, {"{timestamp}{key}{query}{body}", 3}, {"{query}{body}", 3}}
)

// Parts of a scheme, by their letters in an order.
const (
	partTime, partMethod, partResource, partKey = 't', 'm', 'r', 'k'
)

// orders returns the possible orders of the signed parts, without the body.
func orders() (all []choice) {
	for _, set := range []choice{{"tmr", 0}, {"tr", 2}, {"ktmr", 3}, {"ktr", 3}, {"tm", 6}, {"kt", 5}, {"t", 5}, {"mr", 6}, {"r", 6}} {
		for _, order := range permutations(set.text) {
			cost := set.cost + orderCost(order)
			all = append(all, choice{order, cost})
		}
	}
	return all
}

// orderCost returns the unlikelihood of an order: usually the method precedes the address, the time
// is first or last, and the key is first or next to the time.
func orderCost(order string) (cost int) {
	at := func(part byte) int { return strings.IndexByte(order, part) }
	if at(partMethod) >= 0 && at(partResource) >= 0 && at(partMethod)+1 != at(partResource) {
		cost += 2
	}
	if when := at(partTime); when > 0 && order[:when] != "k" {
		cost++
		if when != len(order)-1 {
			cost += 2
		}
	}
	if key, when := at(partKey), at(partTime); key > 0 && key != when+1 {
		cost += 3
	}
	return cost
}

// resources returns the possible spellings of the address in an order.
func (c choice) resources() []choice {
	if strings.IndexByte(c.text, partResource) < 0 {
		return []choice{{}}
	}
	return resources
}

func permutations(letters string) (all []string) {
	if len(letters) < 2 {
		return []string{letters}
	}
	for i := range letters {
		for _, rest := range permutations(letters[:i] + letters[i+1:]) {
			all = append(all, letters[i:i+1]+rest)
		}
	}
	return all
}

// templates are the signed texts in every order with every choice.
var templates = sync.OnceValue(func() (all []choice) {
	for _, order := range orders() {
		for _, separator := range separators {
			for _, resource := range order.resources() {
				if separator.text == "" && strings.Contains(resource.text, "SEP") {
					continue // identical to the next one
				}
				for _, body := range bodies {
					cost := order.cost + separator.cost + resource.cost + body.cost
					for _, join := range joins(separator, body) {
						parts := parts{separator.text, resource.text, body.text, join.text}
						all = append(all, order.written(parts, cost+join.cost)...)
					}
				}
			}
		}
	}
	return append(all, common...)
})

// schemes returns all known signature schemes, likely ones first. paths are the ways to sign an
// address that has a path.
func schemes(paths []string) []scheme {
	var byCost [][]scheme
	for _, template := range templates() {
		for _, encoding := range encodings {
			for i, path := range paths {
				cost := template.cost + encoding.cost + i
				for len(byCost) <= cost {
					byCost = append(byCost, nil)
				}
				byCost[cost] = append(byCost[cost], scheme{wire.Signer{Template: template.text, Encoding: encoding.text, Paths: path}, cost})
			}
		}
	}
	return slices.Concat(byCost...)
}

// parts are the texts of a scheme's parts.
type parts struct {
	separator, resource, body string
	join                      string // before a body at the end
}

// joins returns the possible separators between a body and the other parts: their separator, or, if
// one of the two is empty, the other.
func joins(separator, body choice) []choice {
	all := []choice{{separator.text, 0}}
	switch {
	case body.text == "" || strings.HasPrefix(body.text, "~"):
	case separator.text != "":
		all = append(all, choice{"", 4})
	default:
		for _, other := range separators[1:] {
			all = append(all, choice{other.text, 2 + other.cost})
		}
	}
	return all
}

// written returns the templates of an order of parts. A body with a different separator comes last.
func (c choice) written(p parts, cost int) (all []choice) {
	first := 0
	if p.body == "" || p.join != p.separator {
		first = len(c.text)
	}
	for place := first; place <= len(c.text); place++ {
		template, more := c.template(p, place)
		all = append(all, choice{template, cost + more})
	}
	return all
}

// template combines an order of parts with a body before the part at a place, and returns the cost
// of that place: none at the end, little before a time at the end.
func (c choice) template(p parts, place int) (template string, cost int) {
	names := map[byte]string{partTime: "{timestamp}", partMethod: "{method}", partKey: "{key}",
		partResource: strings.ReplaceAll(p.resource, "SEP", p.separator)}
	switch {
	case p.body == "" || place == len(c.text):
	case place == len(c.text)-1 && c.text[place] == partTime:
		cost = 1
	default:
		cost = 5
	}
	var b strings.Builder
	write := func(separator, text string) {
		if b.Len() > 0 {
			b.WriteString(separator)
		}
		b.WriteString(text)
	}
	body, always := strings.CutPrefix(p.body, "~")
	inner, conditional := strings.CutPrefix(body, "[")
	for i := range len(c.text) + 1 {
		switch {
		case i != place || body == "":
		case !conditional || always:
			write(p.join, body)
		case b.Len() > 0:
			b.WriteString("[" + p.join + inner)
		default: // no separator before the next part without a body
			inner = strings.TrimSuffix(inner, "]")
			b.WriteString("[" + inner + p.separator + "]" + names[c.text[i]])
			continue
		}
		if i < len(c.text) {
			write(p.separator, names[c.text[i]])
		}
	}
	return b.String(), cost
}
