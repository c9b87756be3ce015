package strategy

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/shopspring/decimal"
)

// Check returns an error if the text is not a valid value of this parameter. A configuration
// reports all invalid parameters at once, while building a strategy stops at the first.
func (p Parameter) Check(text string) error {
	if text == "" {
		return fmt.Errorf("is required (%s)", p.Help)
	}
	if len(p.OneOf) > 0 && !slices.Contains(p.OneOf, strings.ToLower(text)) {
		return fmt.Errorf("%q is not one of %s", text, strings.Join(p.OneOf, ", "))
	}
	kind := reflect.TypeFor[string]()
	switch p.Kind {
	case "int":
		kind = reflect.TypeFor[int]()
	case "decimal":
		kind = reflect.TypeFor[decimal.Decimal]()
	case "duration":
		kind = reflect.TypeFor[time.Duration]()
	case "bool":
		kind = reflect.TypeFor[bool]()
	}
	_, number, err := parseValue(kind, text)
	if err != nil {
		return fmt.Errorf("%q is not %s", text, article(p.Kind))
	}
	return p.bounded(number, text)
}
