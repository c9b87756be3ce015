package configs

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"gopkg.in/yaml.v3"

	"botd/internal/notation"
	"botd/internal/spell"
)

// value is one value of a configuration: its notation, and its destination.
type value struct {
	kind      string
	words     []string // of a choice
	low, high string   // inclusive bounds; empty for none

	// parse stores the value from its text. A message shows a problem after the key.
	parse func(text string) (problem, hint string)
	text  func() string // its text; empty for none
	zero  func() bool   // nil: the value is zero when its text is empty
	list  *list         // replaces the three above for a list
}

// list is a value with several members.
type list struct {
	members, example string // the name of the members, and an example
	parse            func(member *yaml.Node) (problem, hint string)
	set              func(members []string)
	get              func() []string
	node             func(i int) *yaml.Node // the node of a member that is not a single word
}

// maxMembers bounds a list.
const maxMembers = 50

// read returns the value's node, or nil if it is missing or already reported.
func (v *value) read(s *section, key string) *yaml.Node {
	if v.list != nil {
		return v.list.read(s, key)
	}
	node, ok := s.scalar(key)
	if !ok {
		return nil
	}
	if problem, hint := v.parse(node.Value); problem != "" {
		s.wrong(node, hint, "%s%s%s", s.path, key, problem)
		return nil
	}
	return node
}

func (l *list) read(s *section, key string) *yaml.Node {
	node := s.value(key)
	if node == nil {
		return nil
	}
	if node.Kind != yaml.SequenceNode || len(node.Content) > maxMembers {
		s.wrong(node, fmt.Sprintf("write %s: [%s]", key, l.example),
			"%s%s is %s, not a list of at most %d %s", s.path, key, kindOf(node), maxMembers, l.members)
		return nil
	}
	members := []string{}
	for _, member := range node.Content {
		if problem, hint := l.parse(member); problem != "" {
			s.wrong(member, hint, "%s%s%s", s.path, key, problem)
			return nil
		}
		members = append(members, member.Value)
	}
	l.set(members)
	return node
}

// show returns the value as a node, and whether it is zero.
func (v *value) show() (node *yaml.Node, zero bool) {
	if v.list == nil {
		text := v.text()
		return &yaml.Node{Kind: yaml.ScalarNode, Value: text}, text == "" || v.zero != nil && v.zero()
	}
	node = &yaml.Node{Kind: yaml.SequenceNode, Style: yaml.FlowStyle}
	for i, member := range v.list.get() {
		shown := &yaml.Node{Kind: yaml.ScalarNode, Value: member}
		if v.list.node != nil {
			shown = v.list.node(i)
		}
		node.Content = append(node.Content, shown)
	}
	return node, len(node.Content) == 0
}

// line returns the value on one line.
func (v *value) line() string {
	if v.list != nil {
		return strings.Join(v.list.get(), ", ")
	}
	return v.text()
}

// showing returns the value with another text. The value is zero if the text is empty.
func (v value) showing(text func() string) value {
	v.text, v.zero = text, nil
	return v
}

// custom returns the value of a text that its row's check parses.
func custom(show func() string) value {
	return value{kind: KindText, text: show, parse: func(string) (string, string) { return "", "" }}
}

// text returns the value of any text.
func text(into *string) value {
	return value{kind: KindText, text: func() string { return *into }, parse: func(text string) (string, string) {
		*into = text
		return "", ""
	}}
}

// date returns the value of a date.
func date(into *string) value {
	return value{kind: KindText, text: func() string { return *into }, parse: func(text string) (string, string) {
		if _, err := time.Parse(time.DateOnly, text); err != nil {
			return fmt.Sprintf(" %q is not a date", notation.Shortened(text)), "write a day such as 2026-11-22"
		}
		*into = text
		return "", ""
	}}
}

// choice returns the value of one of the given words.
func choice(into *string, words ...string) value {
	return value{kind: KindChoice, words: words, text: func() string { return *into }, parse: func(text string) (string, string) {
		if slices.Contains(words, text) {
			*into = text
			return "", ""
		}
		hint := "one of " + strings.Join(words, ", ")
		if near := spell.Nearest(strings.ToLower(text), words); near != "" {
			hint = fmt.Sprintf("did you mean %q?", near)
		}
		return fmt.Sprintf(" %q is not known", notation.Shortened(text)), hint
	}}
}

// flag returns the value of a Boolean, true or false.
func flag(into *bool) value {
	word := strconv.FormatBool(*into)
	v := choice(&word, "true", "false")
	parse := v.parse
	v.parse = func(text string) (problem, hint string) {
		problem, hint = parse(text)
		*into = word == "true"
		return problem, hint
	}
	v.zero = func() bool { return !*into }
	return v
}

// words returns the value of a list of words that match a pattern.
func words(into *[]string, each *regexp.Regexp, hint string) value {
	return value{kind: KindWords, list: &list{members: "words", example: "one, another",
		parse: func(member *yaml.Node) (string, string) {
			if member.Kind != yaml.ScalarNode || !each.MatchString(member.Value) {
				return fmt.Sprintf(": %q is not such a word", notation.Shortened(member.Value)), hint
			}
			return "", ""
		},
		set: func(members []string) { *into = members }, get: func() []string { return *into }}}
}

var userNumber = regexp.MustCompile(`^[1-9][0-9]{0,15}$`) // fits in an int64

// users returns the value of a list of user ids.
func users(into *[]int64) value {
	return value{kind: KindUsers, list: &list{members: "numbers", example: "123456789",
		parse: func(member *yaml.Node) (string, string) {
			if member.Kind != yaml.ScalarNode || member.Tag != "!!int" || !userNumber.MatchString(member.Value) {
				return fmt.Sprintf(": %q is not a user number", notation.Shortened(member.Value)),
					"the log shows a user's number when they write to the bot; a group has a negative one and cannot be listed"
			}
			return "", ""
		},
		set: func(members []string) {
			*into = nil
			for _, member := range members {
				user, _ := strconv.ParseInt(member, 10, 64)
				*into = append(*into, user)
			}
		},
		get: func() (members []string) {
			for _, user := range *into {
				members = append(members, strconv.FormatInt(user, 10))
			}
			return members
		}}}
}

// Never stands for no time of day.
const Never = -1

var clockFace = regexp.MustCompile(`^([01][0-9]|2[0-3]):([0-5][0-9])$`)

// timeOfDay returns the value of a time such as 06:00, in minutes after midnight, or of off.
func timeOfDay(into *int) value {
	return value{kind: KindTime,
		text: func() string {
			if *into == Never {
				return "off"
			}
			return fmt.Sprintf("%02d:%02d", *into/60, *into%60)
		},
		parse: func(text string) (string, string) {
			parts := clockFace.FindStringSubmatch(text)
			if parts == nil && text != "off" {
				return fmt.Sprintf(" %q is not a time of day in UTC", notation.Shortened(text)), "write 06:00, or off"
			}
			*into = Never
			if parts != nil {
				*into = minutesOf(parts)
			}
			return "", ""
		}}
}

// hours returns the value of a period such as 22:00-07:00, in minutes after midnight, or of off, whose two ends are equal.
func hours(from, until *int) value {
	return value{kind: KindHours,
		text: func() string {
			if *from == *until {
				return "off"
			}
			return fmt.Sprintf("%02d:%02d-%02d:%02d", *from/60, *from%60, *until/60, *until%60)
		},
		parse: func(text string) (string, string) {
			if *from, *until = 0, 0; text == "off" {
				return "", ""
			}
			first, second, _ := strings.Cut(text, "-")
			a, b := clockFace.FindStringSubmatch(first), clockFace.FindStringSubmatch(second)
			if a == nil || b == nil || first == second {
				return fmt.Sprintf(" %q is not a range of hours in UTC", notation.Shortened(text)), "write 22:00-07:00, or off"
			}
			*from, *until = minutesOf(a), minutesOf(b)
			return "", ""
		}}
}

// minutesOf returns the time of day that clockFace has matched.
func minutesOf(parts []string) int {
	hours, _ := strconv.Atoi(parts[1])
	minutes, _ := strconv.Atoi(parts[2])
	return hours*60 + minutes
}
