package view

import (
	"strings"

	"botd/internal/plural"
)

func Because(reason string) string {
	if reason == "" {
		return ""
	}
	return " (" + reason + ")"
}

// PlanText returns a plan in few words.
func PlanText(p *Plan) string {
	var parts []string
	switch {
	case p.Target != "" && strings.HasPrefix(p.Target, "0 "):
		parts = append(parts, "no position")
	case p.Target != "":
		parts = append(parts, p.Target)
	}
	if len(p.Orders) > 0 {
		parts = append(parts, plural.Of(len(p.Orders), "order"))
	}
	if len(p.Exits) > 0 {
		parts = append(parts, plural.Of(len(p.Exits), "exit"))
	}
	if len(parts) == 0 {
		return "nothing yet"
	}
	return strings.Join(parts, ", ")
}
