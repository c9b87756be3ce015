package lane

import "botd/reconcile/record"

// Activation is one use of the kill switch independent of the engine.
type Activation struct {
	SinceMS int64            // time of the first halt request
	By      string           // its author
	Level   record.HaltLevel // the strictest requested level
	Cause   string           // why it did not wait for the engine
	DoneMS  int64            // when nothing was left to cancel or close; 0 while something is, or cannot be seen
	EndedMS int64            // when the engine had taken over; 0 before
	Orders  int              // number of orders sent
}

// LastActivation returns the last activation since the start, which may be ongoing, or nil.
func (l *Lane) LastActivation() *Activation {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.activation == nil {
		return nil
	}
	use := *l.activation
	if l.acting != nil {
		use.Orders = len(l.acting.orders)
	}
	return &use
}

// noteBegin records that a halt is carried out without the engine. The caller holds the mutex.
func (l *Lane) noteBegin(a *action, p *haltRequest) {
	if l.activation == nil || l.activation.EndedMS != 0 {
		l.activation = &Activation{SinceMS: a.sinceMS, By: "botd", Cause: a.cause}
		if p.audit != nil {
			l.activation.By = p.audit.Actor + " " + p.audit.From
		}
	}
	l.activation.Level, l.activation.DoneMS = max(l.activation.Level, p.halt.Level), 0
}

// noteProgress records when nothing is left. The caller holds the mutex.
func (l *Lane) noteProgress(a *action) {
	if left, blind := a.remaining(); left == "" && len(blind) == 0 && l.activation.DoneMS == 0 {
		l.activation.DoneMS = l.config.NowMS()
	}
}

// noteEnd records that the engine has taken over. The caller holds the mutex.
func (l *Lane) noteEnd(a *action) {
	l.activation.EndedMS, l.activation.Orders = l.config.NowMS(), len(a.orders)
	if l.config.Activated != nil {
		l.config.Activated(*l.activation)
	}
}
