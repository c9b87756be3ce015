package script

import (
	"errors"
	"fmt"
	"math"
	"regexp"
	"strconv"
	"strings"

	"go.starlark.net/starlark"
	"go.starlark.net/syntax"
)

// Strings are formatted as in Python: "%.2f %5d" % (x, n) and "{:.2f}".format(x). Starlark itself
// supports neither widths nor precisions. Both forms read a series by its newest value.

// maxWidth bounds widths and precisions.
const maxWidth = 100

// formatName is the name that replaces calls of the format method; a script cannot write it.
const formatName = ".format"

var (
	conversion = regexp.MustCompile(`%([-+ 0#]*)(\d*)(\.\d+)?(.?)`)
	field      = regexp.MustCompile(`\{\{|\}\}|\{([^{}]*)\}`)
	specified  = regexp.MustCompile(`^([<>]?)([+ ]?)(0?)(\d*)(\.\d+)?([dfegs%]?)$`)
)

// percent implements x % y.
var percent = starlark.NewBuiltin("%", func(_ *starlark.Thread, _ *starlark.Builtin, args starlark.Tuple, _ []starlark.Tuple) (starlark.Value, error) {
	text, is := args[0].(starlark.String)
	if !is {
		return starlark.Binary(syntax.PERCENT, newest(args[0]), newest(args[1]))
	}
	values, several := args[1].(starlark.Tuple)
	if !several {
		values = starlark.Tuple{args[1]}
	}
	if strings.Contains(string(text), "%(") { // of a dict, by names
		return starlark.Binary(syntax.PERCENT, text, args[1])
	}
	values = newestOf(values)
	return converted(string(text), values)
})

// newestOf replaces series by their newest values.
func newestOf(values starlark.Tuple) starlark.Tuple {
	all := make(starlark.Tuple, len(values))
	for i, value := range values {
		all[i] = newest(value)
	}
	return all
}

// checkTexts finds unknown conversions, and excess or missing values, on every branch of a script.
func checkTexts(file *syntax.File) (err error) {
	syntax.Walk(file, func(n syntax.Node) bool {
		e, is := n.(*syntax.BinaryExpr)
		if !is || err != nil || e.Op != syntax.PERCENT {
			return err == nil
		}
		literal, is := e.X.(*syntax.Literal)
		if !is || literal.Token != syntax.STRING {
			return true
		}
		text := literal.Value.(string)
		why := checkConversions(text)
		values := e.Y
		if parens, is := values.(*syntax.ParenExpr); is {
			values = parens.X
		}
		tuple, several := values.(*syntax.TupleExpr)
		if want := conversions(text); why == nil && several && want != len(tuple.List) {
			why = fmt.Errorf("%q takes %d values, not %d", text, want, len(tuple.List))
		}
		if why != nil {
			err = sourceError(e.OpPos, why)
		}
		return true
	})
	return err
}

// converted replaces the conversions of a string by values.
func converted(text string, values starlark.Tuple) (starlark.Value, error) {
	if want := conversions(text); want != len(values) {
		return nil, fmt.Errorf("%q takes %d values, not %d", text, want, len(values))
	}
	var failed error
	at := 0
	result := conversion.ReplaceAllStringFunc(text, func(found string) string {
		if found == "%%" || failed != nil {
			return "%"
		}
		part := conversion.FindStringSubmatch(found)
		at++
		var written string
		written, failed = oneValue(part[1]+part[2]+part[3], part[4], values[at-1])
		return written
	})
	return starlark.String(result), failed
}

// conversions counts the conversions of a string.
func conversions(text string) (count int) {
	for _, found := range conversion.FindAllString(text, -1) {
		if found != "%%" {
			count++
		}
	}
	return count
}

// checkConversions refuses unknown conversions.
func checkConversions(text string) error {
	for _, part := range conversion.FindAllStringSubmatch(text, -1) {
		width, _ := strconv.Atoi(part[2])
		places, _ := strconv.Atoi(strings.TrimPrefix(part[3], "."))
		switch {
		case part[0] == "%%", strings.Contains(text, "%("):
		case part[4] == "" || !strings.Contains("dioxXeEfFgGsrc", part[4]):
			return fmt.Errorf("%q: unknown conversion %s: use %%g for a number, %%.2f for two decimals, "+
				"%%d for an integer, %%s for a string, %%%% for a percent sign", text, part[0])
		case width > maxWidth || places > maxWidth:
			return fmt.Errorf("%q: a width is at most %d", text, maxWidth)
		}
	}
	return nil
}

// oneValue formats a value by a conversion. Without flags, width and precision the conversion is
// Starlark's.
func oneValue(flags, kind string, value starlark.Value) (string, error) {
	if err := checkConversions("%" + flags + kind); err != nil {
		return "", err
	}
	switch f, isNumber := number(value); {
	case flags == "" || strings.Contains("cr", kind):
		plain, err := starlark.Binary(syntax.PERCENT, starlark.String("%"+kind), starlark.Tuple{value})
		if err != nil {
			return "", err
		}
		return string(plain.(starlark.String)), nil
	case kind == "s":
		if text, is := starlark.AsString(value); is {
			return fmt.Sprintf("%"+flags+"s", text), nil
		}
		return fmt.Sprintf("%"+flags+"s", value.String()), nil
	case !isNumber:
		return "", fmt.Errorf("%%%s%s formats a number, not a %s", flags, kind, value.Type())
	case strings.Contains("eEfFgG", kind):
		return fmt.Sprintf("%"+flags+kind, f), nil
	case math.IsNaN(f) || math.Abs(f) >= 1<<63:
		return "", fmt.Errorf("%%%s%s formats an integer, not a %s", flags, kind, value)
	default:
		return fmt.Sprintf("%"+flags+strings.Replace(kind, "i", "d", 1), int64(f)), nil
	}
}

// format implements text.format(...).
var format = starlark.NewBuiltin("format", func(thread *starlark.Thread, _ *starlark.Builtin, args starlark.Tuple,
	named []starlark.Tuple) (starlark.Value, error) {
	values := newestOf(args[1:])
	for i, pair := range named {
		named[i] = newestOf(pair)
	}
	text, is := args[0].(starlark.String)
	if !is || !strings.Contains(string(text), ":") {
		method, err := attribute(args[0], "format")
		if err != nil {
			return nil, err
		}
		return starlark.Call(thread, method, values, named)
	}
	written, err := filled(string(text), values, named)
	return starlark.String(written), err
})

func attribute(of starlark.Value, name string) (starlark.Value, error) {
	if x, is := of.(starlark.HasAttrs); is {
		if value, err := x.Attr(name); value != nil || err != nil {
			return value, err
		}
	}
	return nil, fmt.Errorf("%s has no .%s field or method", of.Type(), name)
}

// filled replaces the fields of a string by values.
func filled(text string, values starlark.Tuple, named []starlark.Tuple) (written string, err error) {
	at := 0
	written = field.ReplaceAllStringFunc(text, func(found string) string {
		if found == "{{" || found == "}}" || err != nil {
			return found[:1]
		}
		name, spec, _ := strings.Cut(found[1:len(found)-1], ":")
		var value starlark.Value
		if name == "" {
			name = strconv.Itoa(at)
			at++
		}
		if value, err = fieldValue(name, values, named); err != nil {
			return ""
		}
		var one string
		one, err = specifiedValue(spec, value)
		return one
	})
	return written, err
}

func fieldValue(name string, values starlark.Tuple, named []starlark.Tuple) (starlark.Value, error) {
	if i, err := strconv.Atoi(name); err == nil && i >= 0 && i < len(values) {
		return values[i], nil
	}
	for _, pair := range named {
		if pair[0] == starlark.String(name) {
			return pair[1], nil
		}
	}
	return nil, fmt.Errorf("format: no value for {%s}", name)
}

// specifiedValue formats a value by a field's specification, such as .2f or >8.
func specifiedValue(spec string, value starlark.Value) (string, error) {
	part := specified.FindStringSubmatch(spec)
	if part == nil {
		return "", fmt.Errorf("format: {:%s} is not supported; supported are, for example, {:.2f}, {:8d}, {:+.1f}, {:.1%%} and {:>10}", spec)
	}
	flags, kind := part[2]+part[3]+part[4]+part[5], part[6]
	_, isNumber := number(value)
	switch {
	case part[1] == "<", part[1] == "" && !isNumber && part[4] != "":
		flags = "-" + flags
	}
	switch {
	case kind == "%":
		f, _ := number(value)
		if !isNumber {
			return "", errors.New("format: {:%} formats a number")
		}
		one, err := oneValue(flags, "f", starlark.Float(100*f))
		return one + "%", err
	case kind == "" && part[5] != "" && isNumber:
		kind = "g"
	case kind == "":
		kind = "s"
	}
	return oneValue(flags, kind, value)
}
