package browser

import (
	"bytes"
	"fmt"
	"image"
	"image/color"
	"image/png"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"
)

// As a file of its own, an SVG has tips, and text that can be marked.
func TestSVG(t *testing.T) {
	picture := open(t, preview(t, "svg", set...))
	if got := evaluate[string](picture, `document.documentElement.tagName + " " + document.documentElement.getAttribute("role")`); got != "svg img" {
		t.Errorf("the document is a %s", got)
	}
	const tip = `[...document.querySelectorAll("g > title")][2].textContent`
	if got, want := evaluate[string](picture, tip), "2 replicas by OffHours; Thu 22 Oct 2026 17:00 – Fri 23 Oct 2026 09:00 (UTC+05:30); "+
		"Thu 22 Oct 2026 11:30 – Fri 23 Oct 2026 03:30 UTC; window left: BusinessHours; before: 10 replicas; 10 kept until 17:05"; got != want {
		t.Errorf("the tip is\n%s\nwant\n%s", got, want)
	}
	const marked = `getSelection().selectAllChildren(document.documentElement), getSelection().toString()`
	got := evaluate[string](picture, marked)
	for _, text := range []string{"webapp-office-hours", "At 03:00 the clock goes back 1 h", "Mon–Fri 08:00–18:00 America/New_York: 10"} {
		if !strings.Contains(got, text) {
			t.Errorf("%q cannot be selected, only %q", text, got)
		}
	}
}

// As in a README, an SVG is an image of another page: as wide as it says, and dark where the reader wants that.
func TestSVGAsImage(t *testing.T) {
	path := preview(t, "svg", set...)
	readme := open(t, write(t, "readme.html", `<!DOCTYPE html><meta name="color-scheme" content="light dark"><img src="file://`+path+`">`))
	if wide := evaluate[int](readme, `document.images[0].decode().then(() => document.images[0].naturalWidth)`); wide != 840 {
		t.Errorf("the picture is %d pixels wide", wide)
	}
	for scheme, want := range map[string]string{"light": "255 255 255", "dark": "13 17 23"} {
		readme.do(emulation.SetEmulatedMedia().WithFeatures([]*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: scheme}}))
		var shot []byte
		readme.do(chromedp.CaptureScreenshot(&shot))
		if got := rgb(decoded(t, shot).At(12, 12)); got != want {
			t.Errorf("%s: the picture's ground is %s, want %s", scheme, got, want)
		}
	}
}

func decoded(t *testing.T, shot []byte) image.Image {
	t.Helper()
	picture, err := png.Decode(bytes.NewReader(shot))
	if err != nil {
		t.Fatal(err)
	}
	return picture
}

func rgb(c color.Color) string {
	r, g, b, _ := c.RGBA()
	return fmt.Sprint(r>>8, g>>8, b>>8)
}
