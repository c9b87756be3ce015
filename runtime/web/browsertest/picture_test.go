package browsertest

import (
	"bytes"
	"context"
	"image"
	"image/png"
	"math"
	"os"
	"path/filepath"
	"testing"

	"github.com/chromedp/chromedp"
)

// pictures is the folder of the README's pictures.
const pictures = "../../../docs/pictures"

// TestPicturesOfTheReadmeAreTaken takes the first screen and a backtest's report. With BOTD_PICTURES=renew pictures that differ visibly
// from the stored ones replace them; otherwise the test only logs it: the figures of a demo are never twice the same.
func TestPicturesOfTheReadmeAreTaken(t *testing.T) {
	t.Parallel()
	d := startSettled(t)
	d.backtests()
	v := openBrowser(t).open(d, viewport{"picture", "light", 1200, 760, false})
	v.login(d.token("token"))
	v.visit("/")
	v.until("positions are shown", `!!document.querySelector("[aria-labelledby=p-open-positions] tbody tr:last-child")`)
	v.picture("dashboard")
	v.do(chromedp.Navigate(d.url("/api/v1/backtests/quick/report")), ready)
	v.until("the equity is drawn", `document.querySelectorAll("#chart-equity canvas").length > 2`)
	v.until("the equity is on the screen", `(e => { e.scrollIntoView({behavior: "instant"}); return e.getBoundingClientRect().top < 120; })(
		document.querySelector("#equity"))`)
	v.picture("report")
}

// picture takes a picture of the screen.
func (v *tab) picture(name string) {
	v.t.Helper()
	ctx, cancel := context.WithTimeout(v.ctx, patience)
	defer cancel()
	taken, err := chromedp.Run(ctx, chromedp.CaptureScreenshot())
	if err != nil {
		v.t.Fatal(err)
	}
	path := filepath.Join(pictures, name+".png")
	stored, err := os.ReadFile(path)
	if err != nil && !os.IsNotExist(err) {
		v.t.Fatal(err)
	}
	apart, err := visibly(taken, stored)
	if err != nil {
		v.t.Fatal(err)
	}
	if len(taken) > 300<<10 {
		v.t.Errorf("%s: want at most 300 KB, have %d bytes", name, len(taken))
	}
	switch {
	case apart < 0.01:
		v.t.Logf("%s is as stored: %.4f apart", name, apart)
	case os.Getenv("BOTD_PICTURES") != "renew":
		v.t.Logf("%s differs from the stored one, %.4f apart: BOTD_PICTURES=renew stores it", name, apart)
	default:
		if err := os.WriteFile(path, taken, 0o644); err != nil {
			v.t.Fatal(err)
		}
		v.t.Logf("%s is stored: it was %.4f apart", name, apart)
	}
}

// visibly returns the difference of two pictures, from 0 to 1, as seen from a distance: by the mean brightness of squares of 16
// pixels.
func visibly(a, b []byte) (apart float64, err error) {
	first, err := png.Decode(bytes.NewReader(a))
	if err != nil || len(b) == 0 {
		return 1, err
	}
	second, err := png.Decode(bytes.NewReader(b))
	if err != nil || first.Bounds() != second.Bounds() {
		return 1, err
	}
	const square = 16
	squares := 0.0
	for y := 0; y+square <= first.Bounds().Dy(); y += square {
		for x := 0; x+square <= first.Bounds().Dx(); x += square {
			apart += math.Abs(brightness(first, x, y, square) - brightness(second, x, y, square))
			squares++
		}
	}
	return apart / max(1, squares), nil
}

func brightness(picture image.Image, left, top, square int) (sum float64) {
	for y := top; y < top+square; y++ {
		for x := left; x < left+square; x++ {
			r, g, b, _ := picture.At(x, y).RGBA()
			sum += float64(r+g+b) / (3 * 0xffff)
		}
	}
	return sum / float64(square*square)
}

func TestPicturesAreComparedAsSeenFromADistance(t *testing.T) {
	t.Parallel()
	painted := func(width int, paint func(x, y int) uint8) []byte {
		picture := image.NewGray(image.Rect(0, 0, width, 64))
		for y := range 64 {
			for x := range width {
				picture.Pix[picture.PixOffset(x, y)] = paint(x, y)
			}
		}
		var out bytes.Buffer
		if err := png.Encode(&out, picture); err != nil {
			t.Fatal(err)
		}
		return out.Bytes()
	}
	white := painted(64, func(int, int) uint8 { return 255 })
	for _, c := range []struct {
		name string
		b    []byte
		want float64
	}{
		{"the same", white, 0},
		{"black", painted(64, func(int, int) uint8 { return 0 }), 1},
		{"half of it black", painted(64, func(x, _ int) uint8 { return uint8(255 * (x / 32)) }), 0.5},
		{"another size", painted(48, func(int, int) uint8 { return 255 }), 1},
		{"none", nil, 1},
	} {
		if have, err := visibly(white, c.b); err != nil || math.Abs(have-c.want) > 1e-9 {
			t.Errorf("%s: want %v, have %v, %v", c.name, c.want, have, err)
		}
	}
}
