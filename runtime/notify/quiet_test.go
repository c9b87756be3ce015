package notify

import (
	"bufio"
	"net"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

func TestQuietHoursLetErrorsPassAndHoldTheRest(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) { // begins at midnight UTC
		d := open(t, &inbox{}, Route{MinSeverity: Info, Quiet: Quiet{From: 22 * 60, Until: 7 * 60}})
		d.Notify(Event{At: time.Now(), Name: "trade.opened", Text: "an entry"})
		time.Sleep(time.Hour)
		if have := d.inbox.all(); len(have) != 0 {
			t.Errorf("at one: want nothing, have %q", have)
		}
		d.Notify(halted("HALTED"))
		time.Sleep(time.Minute)
		if have := d.inbox.all(); len(have) != 1 || strings.Contains(have[0], "an entry") {
			t.Errorf("an error: want it alone, have %q", have)
		}
		time.Sleep(6 * time.Hour)
		if have := d.inbox.all(); len(have) != 2 || !strings.HasSuffix(have[1], "00:00:00 an entry") {
			t.Errorf("after seven: want what was held, have %q", have)
		}
		d.Notify(Event{At: time.Now(), Name: "trade.opened", Text: "by day"})
		time.Sleep(2 * time.Minute)
		if have := d.inbox.all(); len(have) != 3 {
			t.Errorf("by day: want it at once, have %q", have)
		}
	})
}

func TestQuietHoursPassMidnight(t *testing.T) {
	t.Parallel()
	night, noon := Quiet{From: 22 * 60, Until: 7 * 60}, Quiet{From: 12 * 60, Until: 13 * 60}
	for _, c := range []struct {
		quiet Quiet
		at    string
		want  time.Duration
	}{
		{night, "21:59", 0}, {night, "22:00", 9 * time.Hour}, {night, "06:59", time.Minute}, {night, "07:00", 0},
		{noon, "12:30", 30 * time.Minute}, {noon, "13:00", 0}, {Quiet{}, "03:00", 0},
	} {
		at, err := time.Parse("15:04", c.at)
		if err != nil {
			t.Fatal(err)
		}
		if have := c.quiet.left(at.AddDate(2026, 0, 0)); have != c.want {
			t.Errorf("%v at %s: want %s left, have %s", c.quiet, c.at, c.want, have)
		}
	}
}

func TestSubjectNamesAccountAndWorstEvent(t *testing.T) {
	t.Parallel()
	var d digest
	d.add(Event{Name: "trade.opened", Text: "trend opened: long 1 BTC-USDT"})
	if want, have := "botd main (live): trend opened: long 1 BTC-USDT", d.subject("botd main (live)"); have != want {
		t.Errorf("want %s, have %s", want, have)
	}
	d.add(Event{Severity: Error, Name: "incident.opened", Text: "incident 3, critical: ...", Subject: "UNPROTECTED (futures BTC-USDT)"})
	d.add(Event{Severity: Warning, Name: "x", Text: "y"})
	if want, have := "botd main (live): ERROR UNPROTECTED (futures BTC-USDT) (and 2 more)", d.subject("botd main (live)"); have != want {
		t.Errorf("want %s, have %s", want, have)
	}
	var over digest
	over.add(Event{Severity: Error, Name: "incident.closed", Text: "incident 3 is over", Subject: "UNPROTECTED (futures BTC-USDT) is over", Ended: true})
	if want, have := "botd: UNPROTECTED (futures BTC-USDT) is over", over.subject("botd"); have != want {
		t.Errorf("an end: want %s, have %s", want, have)
	}
	var long digest
	long.add(Event{Text: strings.Repeat("a", 400) + "\nb"})
	if have := long.subject("botd"); len(have) > maxTitle+len("…") || strings.Contains(have, "\n") {
		t.Errorf("want one line of at most %d bytes, have %q", maxTitle, have)
	}
}

// mailServer accepts one mail, and returns its contents.
func mailServer(t *testing.T) (address string, mail chan string) {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { listener.Close() })
	mail = make(chan string, 1)
	go func() {
		conn, err := listener.Accept()
		if err != nil {
			return
		}
		defer conn.Close()
		say := func(line string) { _, _ = conn.Write([]byte(line + "\r\n")) }
		say("220 fake")
		lines, all, body := bufio.NewScanner(conn), "", false
		for lines.Scan() {
			line := lines.Text()
			switch all += line + "\n"; {
			case body && line == ".":
				body = false
				say("250 taken")
				mail <- all
			case body:
			case strings.HasPrefix(line, "DATA"):
				body = true
				say("354 go on")
			case strings.HasPrefix(line, "QUIT"):
				say("221 bye")
				return
			default:
				say("250 ok")
			}
		}
	}()
	return listener.Addr().String(), mail
}

func TestAMailHasASubject(t *testing.T) {
	t.Parallel()
	address, mail := mailServer(t)
	s, err := Open("smtp://" + address + "/?from=botd@example.com&to=me@example.com&auth=None&encryption=None&usestarttls=no")
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Send("botd main (live): ERROR UNPROTECTED (futures BTC-USDT)", "botd main (live)\n03:12:00 ERROR incident 3"); err != nil {
		t.Fatal(err)
	}
	if have := <-mail; !strings.Contains(have, "Subject: botd main (live): ERROR UNPROTECTED (futures BTC-USDT)\n") ||
		!strings.Contains(have, "incident 3") {
		t.Errorf("want the subject and the text, have\n%s", have)
	}
}
