package configs

import (
	"fmt"
	"slices"

	"gopkg.in/yaml.v3"

	"botd/exchange"
	"botd/internal/notation"
	"botd/strategy"
	"botd/strategy/overlay"
)

// stepList describes the notation of a list of steps: the word for the share, and whether the first step has a
// distance.
type stepList struct {
	into    *[]overlay.Step
	share   string // close, open
	atOnce  bool   // the first step has no distance
	example string
}

func (r *strategyReader) stepKeys() []key {
	c := r.into
	return []key{
		{name: "scale_in", value: steps(stepList{&c.ScaleIn, "open", true, "[{open: 50%}, {at: -2%, open: 50%}]"}), check: r.checkScaleIn,
			what: "scaling in: the first part is entered at once, each further one when a decision sees the price at that distance from the entry: " +
				"a share of its price, below zero on the losing side, or a multiple of the stop's distance as of the entry (1R)",
			example: "scale_in: [{open: 50%}, {at: -2%, open: 50%}]"},
		{name: "targets", value: steps(stepList{&c.Targets, "close", false, "[{at: 1R, close: 33%}, {at: 3%, close: 67%}]"}), check: r.checkTargets,
			what: "scaling out: at each distance from the entry, a share of its price or a multiple of the stop's distance (1R), close " +
				"that share of its largest size",
			example: "targets: [{at: 2%, close: 33%}, {at: 4%, close: 33%}]"},
		{name: "on_insufficient", value: choice(new(string), "reduce", "refuse").showing(c.insufficient), check: r.checkInsufficient,
			what: "what happens to an entry that the free balance cannot pay for: `reduce` makes it smaller, " +
				"`refuse` (the default) lets the risk gate refuse it",
			example: "reduce"},
	}
}

// insufficient returns on_insufficient in its YAML form.
func (c *StrategyConfig) insufficient() string {
	if c.Reduce {
		return "reduce"
	}
	return ""
}

func (r *strategyReader) checkInsufficient(_ *section, node *yaml.Node) {
	r.into.Reduce = node.Value == "reduce"
}

// steps returns the value of a list of distances and shares.
func steps(of stepList) value {
	var read []overlay.Step
	return value{kind: KindSteps, list: &list{members: "steps", example: of.example[1 : len(of.example)-1],
		parse: func(member *yaml.Node) (problem, hint string) {
			step, problem, hint := of.parse(member, len(read) == 0)
			if problem == "" {
				read = append(read, step)
			}
			return problem, hint
		},
		set: func([]string) { *of.into = read },
		get: func() []string { return make([]string, len(*of.into)) }, node: func(i int) *yaml.Node { return of.node(&(*of.into)[i]) }}}
}

func (l *stepList) parse(member *yaml.Node, first bool) (step overlay.Step, problem, hint string) {
	hint = "write " + l.example
	if member.Kind != yaml.MappingNode {
		return step, fmt.Sprintf(": there is %s where {at: ..., %s: ...} is expected", kindOf(member), l.share), hint
	}
	var at, part string
	for i := 0; i < len(member.Content); i += 2 {
		switch name, value := member.Content[i].Value, member.Content[i+1]; {
		case value.Kind != yaml.ScalarNode || name != "at" && name != l.share:
			return step, fmt.Sprintf(": %q is neither at nor %s", notation.Shortened(name), l.share), hint
		case name == "at":
			at = value.Value
		default:
			part = value.Value
		}
	}
	var err error
	switch {
	case part == "":
		return step, fmt.Sprintf(": a step has no %s", l.share), hint
	case l.atOnce && first && at != "":
		return step, ": the first part is entered at once, without at", hint
	case at == "" && (!l.atOnce || !first):
		return step, ": a step has no at, the distance from the entry", hint
	case at != "":
		if err = step.ParseDistance(at); err != nil {
			return step, ": at: " + err.Error(), hint
		}
	}
	if step.Share, err = exchange.ParseRate(part); err != nil || step.Share <= 0 || step.Share > exchange.RateOne {
		return step, fmt.Sprintf(": %s %q is not a share above 0 and up to 100%%", l.share, notation.Shortened(part)), hint
	}
	return step, "", ""
}

func (l *stepList) node(step *overlay.Step) *yaml.Node {
	o := newOutline()
	if step.Away != 0 || step.R != 0 {
		o.set("at", step.Distance())
	}
	o.set(l.share, notation.Percent(step.Share))
	o.node.Style = yaml.FlowStyle
	return o.node
}

// shares returns the sum of the steps' shares.
func shares(all []overlay.Step) (sum exchange.Rate) {
	for i := range all {
		sum += all[i].Share
	}
	return sum
}

func (r *strategyReader) checkScaleIn(s *section, node *yaml.Node) {
	c := r.into
	if sum := shares(c.ScaleIn); sum > exchange.RateOne {
		s.wrong(node, "let them add up to 100%", "%sscale_in: the parts add up to %s", s.path, notation.Percent(sum))
	}
	r.scaleIn = node
}

func (r *strategyReader) checkTargets(s *section, node *yaml.Node) {
	c := r.into
	if sum := shares(c.Targets); sum > exchange.RateOne {
		s.wrong(node, "let them add up to 100%, or to less if a stop or the strategy closes the rest", "%stargets: the shares add up to %s", s.path,
			notation.Percent(sum))
	}
	for i := range c.Targets {
		if c.Targets[i].Away < 0 || c.Targets[i].R < 0 {
			s.wrong(node, "a loss is bounded by protect: {stop_loss: 2%}", "%stargets: %s is on the losing side", s.path, c.Targets[i].Distance())
			return
		}
	}
	r.targets = node
}

// checkSteps checks conditions over the whole file: a stop for multiples of its distance, no other exits by age, and
// a strategy that enters positions of one size.
func (r *strategyReader) checkSteps() {
	c := r.into
	ofR := func(steps []overlay.Step) bool {
		return slices.ContainsFunc(steps, func(s overlay.Step) bool { return s.R != 0 })
	}
	sets := slices.Contains([]string{"script", "rules", "process", "turtle"}, c.Kind)
	for _, list := range []struct {
		node  *yaml.Node
		name  string
		steps []overlay.Step
	}{{r.scaleIn, "scale_in", c.ScaleIn}, {r.targets, "targets", c.Targets}} {
		if list.node == nil {
			continue
		}
		if ofR(list.steps) && c.Protect.StopLoss.IsZero() && !sets {
			r.wrong(list.node, "protect: {stop_loss: 2%}", "%s: R is the distance of protect.stop_loss, which is missing", list.name)
		}
	}
	if r.targets != nil && len(c.Exits.Returns) > 0 {
		r.wrong(r.targets, "keep one of them", "targets and protect.returns both define when to take profit")
	}
}

// checkStepped refuses steps for a strategy that keeps its own orders in the order book, and partial entries for one that
// grows its position by itself. It warns of a size that such a strategy ignores.
func (r *strategyReader) checkStepped(made strategy.Strategy) {
	sizesItself := slices.Contains([]string{"twap", "dca", "turtle", "rebalance", "grid", "market_making", "avellaneda"}, r.into.Kind)
	if r.size != nil && sizesItself {
		r.warn(r.size, "remove it: botd strategy show "+r.into.Kind, "size has no effect: %s sizes its orders by its params", r.into.Kind)
	}
	if r.scaleIn != nil && (sizesItself || r.into.Kind == "funding_carry") {
		r.wrong(r.scaleIn, "remove it", "scale_in: %s scales in by itself", r.into.Kind)
	}
	if r.targets != nil && strategy.RestsExits(made) {
		r.wrong(r.targets, "remove it", "targets: %s has its own exits in the book", r.into.Kind)
	}
}
