package indicator

import (
	"fmt"
	"iter"
	"slices"
	"strconv"
)

// Line is one output of an indicator over candles, NaN before its first value.
type Line struct {
	Name   string // sma 10, or bollinger 20 2 upper
	Values []float64
}

// Lines computes the named outputs of an indicator over bars; outputs is nil for all of them. Each line has one value for
// every bar that comes with true.
func Lines(name string, parameters map[string]float64, outputs []string, bars iter.Seq2[Bar, bool]) ([]Line, error) {
	definition, known := Find(name)
	if !known {
		return nil, fmt.Errorf("unknown indicator %q", name)
	}
	stream, err := definition.New(parameters)
	if err != nil {
		return nil, err
	}
	for _, p := range definition.Parameters {
		if value, given := parameters[p.Name]; given {
			name += " " + strconv.FormatFloat(value, 'g', -1, 64)
		}
	}
	if outputs == nil {
		outputs = definition.Outputs
	}
	lines, values := make([]Line, len(outputs)), make([]float64, len(definition.Outputs))
	from := make([]int, len(outputs))
	for k, output := range outputs {
		lines[k] = Line{Name: name}
		if len(outputs) > 1 {
			lines[k].Name += " " + output
		}
		if from[k] = slices.Index(definition.Outputs, output); from[k] < 0 {
			return nil, fmt.Errorf("%s has no output %q", definition.Name, output)
		}
	}
	for bar, shown := range bars {
		stream.Next(bar, values)
		for k := 0; shown && k < len(lines); k++ {
			lines[k].Values = append(lines[k].Values, values[from[k]])
		}
	}
	return lines, nil
}
