package browser

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

// set is three schedules in three zones, in the week in which Berlin's clocks go back.
var set = []string{
	"-f", "config/samples/office-hours.yaml", "-f", "config/samples/follow-the-sun.yaml", "-f", "config/samples/night-batch.yaml",
	"--from", "2026-10-22", "--days", "7",
}

// stretch selects what a scaler does on a row, from 0, with a count.
func stretch(name string, row int, count string) string {
	return fmt.Sprintf(`section[data-search="default/%s"] .stretch[data-row="%d"][data-count="%s"]`, name, row, count)
}

// point moves the pointer to the middle of what is selected.
func (o *tab) point(selector string) {
	o.t.Helper()
	at := evaluate[[]float64](o, fmt.Sprintf(`(async () => {
		const element = document.querySelector(%q);
		element.scrollIntoView({block: "center"});
		for (let i = 0; i < 2; i++) await new Promise(requestAnimationFrame); // events of scrolling come with a frame
		const at = element.querySelector(".hit").getBoundingClientRect();
		return [at.x + at.width / 2, at.y + at.height / 2];
	})()`, selector))
	o.do(input.DispatchMouseEvent(input.MouseMoved, at[0], at[1]))
}

// tip is what the tooltip says, "" while it is hidden.
func (o *tab) tip() string {
	return evaluate[string](o, `document.getElementById("tip").checkVisibility() ? document.getElementById("tip").innerText : ""`)
}

// wantTip waits until the tooltip says what is wanted.
func (o *tab) wantTip(want ...string) {
	o.t.Helper()
	var got string
	for end := time.Now().Add(time.Minute); time.Now().Before(end); {
		if got = strings.Join(strings.Fields(o.tip()), " "); got == strings.Join(want, " ") {
			return
		}
		evaluate[string](o, `new Promise(requestAnimationFrame).then(() => "")`)
	}
	o.t.Errorf("the tip says\n%s\nwant\n%s", got, strings.Join(want, " "))
}

func TestTipsFollowThePointer(t *testing.T) {
	shown := open(t, preview(t, "html", set...))
	shown.point(stretch("webapp-office-hours", 0, "10 replicas"))
	shown.wantTip("10 replicas",
		"Local Thu 22 Oct 2026 09:00–17:00 (UTC+05:30)", "UTC Thu 22 Oct 2026 03:30–11:30 UTC",
		"Window BusinessHours (Mon–Fri 09:00–17:00)", "Why window entered: BusinessHours", "Before 2 replicas")
	shown.point(stretch("chat-follow-the-sun", 3, "1 replica"))
	shown.wantTip("1 replica",
		"Local Sat 24 Oct 2026 00:00 – Sun 25 Oct 2026 22:00 (UTC+02:00)", "UTC Fri 23 Oct 2026 22:00 – Sun 25 Oct 2026 21:00 UTC",
		"Window OffHours", "Why window left: new-york", "Before 10 replicas")
	shown.do(input.DispatchMouseEvent(input.MouseMoved, 2, 2))
	shown.wantTip("")
}

func TestTipsFollowTheKeyboard(t *testing.T) {
	shown := open(t, preview(t, "html", set...))
	const focused = `document.activeElement.closest(".stretch")?.dataset.row + " " + document.activeElement.dataset?.count`
	shown.do(chromedp.KeyEvent(kb.Tab), chromedp.KeyEvent(kb.Tab))
	if got := evaluate[string](shown, focused); got != "0 2 replicas" {
		t.Fatalf("two presses of Tab lead to %q", got)
	}
	shown.do(chromedp.KeyEvent(kb.ArrowRight))
	shown.wantTip("10 replicas",
		"Local Thu 22 Oct 2026 09:00–17:00 (UTC+05:30)", "UTC Thu 22 Oct 2026 03:30–11:30 UTC",
		"Window BusinessHours (Mon–Fri 09:00–17:00)", "Why window entered: BusinessHours", "Before 2 replicas")
	for _, press := range []struct{ key, want string }{
		{kb.ArrowDown, "1 10 replicas"}, {kb.ArrowDown, "2 2 replicas"}, {kb.ArrowUp, "1 10 replicas"}, {kb.ArrowLeft, "1 2 replicas"},
		{kb.End, "6 2 replicas"}, {kb.ArrowDown, "6 2 replicas"}, {kb.Home, "0 2 replicas"},
	} {
		shown.do(chromedp.KeyEvent(press.key))
		if got := evaluate[string](shown, focused); got != press.want {
			t.Errorf("a key leads to %q, want %q", got, press.want)
		}
	}
	shown.do(chromedp.KeyEvent(kb.Escape))
	shown.wantTip("")
	shown.do(chromedp.KeyEvent(kb.Tab), chromedp.KeyEvent(kb.Tab)) // the table, and the next strip
	if got := evaluate[string](shown, `document.activeElement.closest("section").dataset.search`); got != "default/chat-follow-the-sun" {
		t.Errorf("Tab leads on to %s", got)
	}
}

func TestFilter(t *testing.T) {
	shown := open(t, preview(t, "html", set...))
	const visible = `[...document.querySelectorAll("section")].filter(s => s.checkVisibility()).map(s => s.dataset.search.split("/")[1]).join(" ")
		+ " | " + document.getElementById("shown").innerText + (document.getElementById("none").checkVisibility() ? " none" : "")`
	for typed, want := range map[string]string{
		"":             "webapp-office-hours chat-follow-the-sun batch-worker-nights | ",
		"CHAT":         "chat-follow-the-sun | 1 of 3",
		"default o-":   " | 0 of 3 none",
		"default work": "batch-worker-nights | 1 of 3",
	} {
		evaluate[string](shown, `document.getElementById("filter").value = ""`)
		shown.do(chromedp.SendKeys("#filter", typed+" "))
		if got := evaluate[string](shown, visible); got != want {
			t.Errorf("%q shows %q, want %q", typed, got, want)
		}
	}
}

func TestDarkAndPrint(t *testing.T) {
	shown := open(t, preview(t, "html", set...))
	const colours = `[getComputedStyle(document.body).backgroundColor, getComputedStyle(document.querySelector("rect.page")).fill,
		getComputedStyle(document.querySelector("text.sum")).fill, getComputedStyle(document.querySelector("form")).display].join(" ")`
	dark := emulation.SetEmulatedMedia().WithFeatures([]*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: "dark"}})
	for _, mode := range []struct {
		name  string
		media *emulation.SetEmulatedMediaParams
		want  string
	}{
		{"light", emulation.SetEmulatedMedia(), "rgb(255, 255, 255) rgb(255, 255, 255) rgb(31, 35, 40) block"},
		{"dark", dark, "rgb(13, 17, 23) rgb(13, 17, 23) rgb(240, 246, 252) block"},
		{"print", dark.WithMedia("print"), "rgb(255, 255, 255) rgb(255, 255, 255) rgb(31, 35, 40) none"},
	} {
		shown.do(mode.media)
		if got := evaluate[string](shown, colours); got != mode.want {
			t.Errorf("%s: %s, want %s", mode.name, got, mode.want)
		}
		shown.shoot(mode.name)
	}
	var paper []byte
	shown.do(chromedp.ActionFunc(func(ctx context.Context) (err error) {
		paper, _, err = page.PrintToPDF().Do(ctx)
		return err
	}))
	if !bytes.HasPrefix(paper, []byte("%PDF")) || !evaluate[bool](shown, `[...document.querySelectorAll("details")].every(d => d.open)`) {
		t.Error("on paper, the tables are not open")
	}
}

// shoot takes a picture of the whole page, which is not empty, and keeps it where BROWSER_SHOTS says.
func (o *tab) shoot(name string) {
	o.t.Helper()
	var shot []byte
	o.do(chromedp.FullScreenshot(&shot, 100))
	picture := decoded(o.t, shot)
	seen := map[string]bool{}
	for y := picture.Bounds().Min.Y; y < picture.Bounds().Max.Y; y += 3 {
		for x := picture.Bounds().Min.X; x < picture.Bounds().Max.X; x += 3 {
			seen[rgb(picture.At(x, y))] = true
		}
	}
	for _, window := range []string{"0 114 178", "230 159 0", "0 158 115"} {
		if !seen[window] {
			o.t.Errorf("%s: no window in the colour %s", name, window)
		}
	}
	if folder := os.Getenv("BROWSER_SHOTS"); folder != "" {
		if err := os.WriteFile(filepath.Join(folder, name+".png"), shot, 0o600); err != nil {
			o.t.Fatal(err)
		}
	}
}

// Without JavaScript there are the strips with the browser's own tips, and the tables; nothing is offered that would not work.
func TestWithoutJavaScript(t *testing.T) {
	shown := open(t, preview(t, "html", set...), emulation.SetScriptExecutionDisabled(true))
	for selector, want := range map[string]int{"section svg": 3, "form[hidden]": 1, "#tip[hidden]": 1, "details table": 3} {
		if got := shown.count(selector); got != want {
			t.Errorf("%d of %s, want %d", got, selector, want)
		}
	}
	if stretches, titles := shown.count(".stretch"), shown.count(".stretch > title"); stretches == 0 || stretches != titles {
		t.Errorf("%d stretches have %d tips", stretches, titles)
	}
}

// count is of how many elements there are. It can be asked where the page itself may run nothing.
func (o *tab) count(selector string) int {
	o.t.Helper()
	return evaluate[int](o, fmt.Sprintf("document.querySelectorAll(%q).length", selector))
}

func TestHostileNamesAreText(t *testing.T) {
	shown := open(t, preview(t, "html", "-f", "test/platform/browser/testdata/hostile.yaml", "--from", "2026-10-22", "--days", "2"))
	if got := evaluate[string](shown, `document.querySelector("h2").innerText`); got != `"><script>alert(2)</script>/<img src=x onerror=alert(1)>` {
		t.Errorf("the name is %s", got)
	}
	if got := evaluate[int](shown, `document.querySelectorAll("img, script, [onload], [onmouseover], [onerror]").length`); got != 1 {
		t.Errorf("%d elements besides the page's own script", got-1)
	}
	shown.point(`.stretch[data-count="3 replicas"]`)
	if got := shown.tip(); !strings.Contains(got, `day (daily 08:00–18:00)`) {
		t.Errorf("the tip says %s", got)
	}
}
