package api

import (
	"compress/gzip"
	"io"
	"net/http"
	"testing"
)

func TestLongAnswersAreCompressedOnRequest(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	plain := d.answer(http.MethodGet, "/api/v1/openapi.json", "", nil)
	for _, c := range []struct {
		path, accepts string
		zipped        bool
	}{
		{"/api/v1/risk", "gzip, deflate, br", true},
		{"/api/v1/risk", "br;q=1.0, gzip;q=0.8", true},
		{"/api/v1/risk", "gzip;q=0", false},
		{"/api/v1/risk", "", false},
		{"/api/v1/risk", "br", false},
		{"/api/v1/risk", "deflate, identity;q=0.5", false},
		{"/api/v1/session", "gzip", false}, // short
		{"/api/v1/openapi.json", "gzip", true},
	} {
		have := d.answer(http.MethodGet, c.path, "", func(r *http.Request) {
			bearer(viewerToken)(r)
			r.Header.Set("Accept-Encoding", c.accepts)
		})
		if zipped := have.Header().Get("Content-Encoding") == "gzip"; zipped != c.zipped {
			t.Errorf("%s for %q: want compressed %t, have %t", c.path, c.accepts, c.zipped, zipped)
			continue
		}
		if !c.zipped {
			continue
		}
		reader, err := gzip.NewReader(have.Body)
		if err != nil {
			t.Fatal(err)
		}
		text, err := io.ReadAll(reader)
		if err != nil || text[0] != '{' || text[len(text)-1] != '\n' {
			t.Errorf("%s: want the same JSON when unpacked, have %.40q, %v", c.path, text, err)
		}
		if c.path == "/api/v1/openapi.json" && string(text) != plain.Body.String() {
			t.Errorf("%s: want the same text, compressed or not", c.path)
		}
		if have.Header().Get("Vary") != "Accept-Encoding" {
			t.Errorf("%s: want Vary to say what the answer hangs on", c.path)
		}
	}
}

// A tag identifies one form of an answer: the compressed one has another tag.
func TestTagsDistinguishTheFormsOfAnAnswer(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	ask := func(accepts, known string) (int, string) {
		answer := d.answer(http.MethodGet, "/api/v1/risk", "", func(r *http.Request) {
			bearer(viewerToken)(r)
			r.Header.Set("Accept-Encoding", accepts)
			r.Header.Set("If-None-Match", known)
		})
		return answer.Code, answer.Header().Get("ETag")
	}
	_, plain := ask("", "")
	_, zipped := ask("gzip", "")
	if plain == zipped {
		t.Errorf("want two tags, have %s twice", plain)
	}
	if code, _ := ask("gzip", zipped); code != http.StatusNotModified {
		t.Errorf("want 304 for the form a client has, have %d", code)
	}
	if code, _ := ask("gzip", plain); code != http.StatusOK {
		t.Errorf("want 200 for the form a client lacks, have %d", code)
	}
}
