package picture

import (
	"bytes"
	"encoding/xml"
	"errors"
	"image"
	"image/color"
	"image/png"
	"io"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/image/font/sfnt"
	"k8s.io/apimachinery/pkg/util/intstr"
	"pgregory.net/rapid"

	"kyklos.io/kyklos/apis/v1beta1"
	"kyklos.io/kyklos/cli/preview/timeline"
	"kyklos.io/kyklos/internal/golden"
)

var writers = map[string]func(io.Writer, []*timeline.Timeline, *time.Location) error{"svg": SVG, "png": PNG, "html": HTML}

func written(t failer, format string, timelines ...*timeline.Timeline) string {
	t.Helper()
	var out strings.Builder
	if err := writers[format](&out, timelines, nil); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

// elements reads XML, and counts its elements.
func elements(t failer, document string) map[string]int {
	t.Helper()
	found := map[string]int{}
	for decoder := xml.NewDecoder(strings.NewReader(document)); ; {
		token, err := decoder.Token()
		if errors.Is(err, io.EOF) {
			return found
		} else if err != nil {
			t.Fatal(err)
		}
		if element, ok := token.(xml.StartElement); ok {
			found[element.Name.Local]++
		}
	}
}

// Every schedule gives an SVG that is XML, with one tooltip for each group, and no external references.
func TestSVGIsXML(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		timeline := anySchedule(t)
		document := written(t, "svg", timeline)
		found := elements(t, document)
		if groups := len(drawn(t, timeline).groups()); found["g"] != groups || found["title"] != groups+1 {
			t.Fatalf("%d groups and %d titles, want %d", found["g"], found["title"], groups)
		}
		if rest := strings.ReplaceAll(document, "http://www.w3.org/2000/svg", ""); strings.Contains(rest, "http") || strings.Contains(rest, "url(") {
			t.Fatal("it names something that lies elsewhere")
		}
		for _, wrong := range []string{"NaN", "Inf", `="-`, `width="0"`} {
			if strings.Contains(document, wrong) {
				t.Fatalf("there is %s in it", wrong)
			}
		}
	})
}

// hostile has markup in every name.
func hostile(t failer) *timeline.Timeline {
	evil := office(t)
	evil.Scaler.Namespace, evil.Scaler.Name = `"><script>1</script>`, `<img src=x onerror=alert(1)>{{.}}`
	evil.Scaler.Spec.TargetRef = v1beta1.TargetRef{Kind: `]]></style>`, Name: "' onload='alert(2)\x00"}
	evil.Scaler.Spec.Windows[0].Name = `</title></svg><script>3</script>`
	for i := range evil.Segments {
		evil.Segments[i].Window = evil.Scaler.Spec.Windows[0].Name
	}
	for i := range evil.Transitions {
		evil.Transitions[i].Window = evil.Scaler.Spec.Windows[0].Name
	}
	return evil
}

func TestHostileNamesAreText(t *testing.T) {
	usual, evil := elements(t, written(t, "svg", office(t))), elements(t, written(t, "svg", hostile(t)))
	for _, element := range []string{"script", "img", "style", "svg", "title", "g"} {
		if usual[element] != evil[element] {
			t.Errorf("%d of %s, not %d", evil[element], element, usual[element])
		}
	}
	page := written(t, "html", hostile(t))
	for markup, want := range map[string]int{"<script>": 1, "</script>": 1, "<img": 0, "</style>": 1, "<svg": 1, "</svg>": 1, "]]>": 0, "onload='": 0} {
		if got := strings.Count(page, markup); got != want {
			t.Errorf("%s is there %d times", markup, got)
		}
	}
}

// The policy of a page lets its own style and script pass, and nothing else.
func TestThePolicyKnowsWhatIsOnThePage(t *testing.T) {
	page := written(t, "html", office(t), office(t))
	policy := regexp.MustCompile(`http-equiv="Content-Security-Policy" content="([^"]*)"`).FindStringSubmatch(page)
	if policy == nil {
		t.Fatal("the page has no policy")
	}
	between := func(before, after string) string {
		_, rest, _ := strings.Cut(page, before)
		content, _, _ := strings.Cut(rest, after)
		return content
	}
	want := "default-src 'none'; style-src '" + cspHash(between("<style>", "</style>")) + "'; script-src '" + cspHash(between("<script>", "</script>")) +
		"'; base-uri 'none'; form-action 'none'"
	if got := strings.NewReplacer("&#39;", "'", "&#43;", "+").Replace(policy[1]); got != want {
		t.Errorf("the policy is\n%s\nwant\n%s", got, want)
	}
	if strings.Contains(page, "style=") || regexp.MustCompile(`\son\w+=`).MatchString(page) {
		t.Error("there are attributes that the policy refuses")
	}
}

func TestPageHasEveryTransition(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		timelines := []*timeline.Timeline{anySchedule(t), anySchedule(t)}
		page := written(t, "html", timelines...)
		rows, stops := strings.Count(page, "<tr><td>"), strings.Count(page, `tabindex="0"`)
		if want := len(timelines[0].Transitions) + len(timelines[1].Transitions); rows != want || stops != 2 {
			t.Fatalf("%d rows for %d transitions, %d stops for 2 strips", rows, want, stops)
		}
	})
	golden.New(t, "page").Add("two weeks", regexp.MustCompile(`(?s)<(style|script|svg).*?</(style|script|svg)>|content="default-src.*?"`).ReplaceAllString(written(t, "html", office(t), office(t)), "..."))
}

// The PNG is the scene in twice its size, with the colours of its bars where they are.
func TestPNG(t *testing.T) {
	s := drawn(t, office(t))
	decoded, err := png.Decode(strings.NewReader(written(t, "png", office(t))))
	if err != nil {
		t.Fatal(err)
	}
	if size := decoded.Bounds().Size(); size != (image.Point{int(2 * s.width), int(2 * s.height)}) {
		t.Errorf("the size is %s", size)
	}
	bars := 0
	for _, part := range s.groups() {
		for _, one := range part.shapes {
			bar, ok := one.(rectangle)
			if !ok || bar.class != "w0" && bar.class != "off" {
				continue
			}
			bars++
			x, y := int(2*(bar.x+bar.width/3)), int(2*(bar.y+bar.height/2))
			if got, want := color.NRGBAModel.Convert(decoded.At(x, y)), colour(lookup(fills, bar.class).light); got != want {
				t.Errorf("at %d, %d is %v, want %v", x, y, got, want)
			}
		}
	}
	if bars != 17 { // five days with three stretches, two with one
		t.Errorf("%d bars", bars)
	}
	if got := color.NRGBAModel.Convert(decoded.At(2, 2)); got != colour("#ffffff") {
		t.Errorf("the ground is %v", got)
	}
	if ink := inkIn(decoded, image.Rect(2*margin, 2*20, 400, 2*36)); ink < 300 {
		t.Errorf("%d dark pixels where the name stands", ink)
	}
}

func inkIn(picture image.Image, where image.Rectangle) (dark int) {
	for y := where.Min.Y; y < where.Max.Y; y++ {
		for x := where.Min.X; x < where.Max.X; x++ {
			if r, _, _, _ := picture.At(x, y).RGBA(); r < 0x6000 {
				dark++
			}
		}
	}
	return dark
}

func TestAPNGHasBounds(t *testing.T) {
	many := slices.Repeat([]*timeline.Timeline{office(t)}, 200)
	if err := PNG(io.Discard, many, nil); !errors.Is(err, errTooLarge) {
		t.Errorf("a PNG of 200 weeks: %v", err)
	}
	if err := SVG(io.Discard, many, nil); err != nil {
		t.Error(err)
	}
}

// The fonts of PNGs have all characters that are written.
func TestFontsHaveEveryCharacter(t *testing.T) {
	night := office(t).Scaler.Spec
	night.GracePeriodSeconds = 300
	night.Windows[0].Metric = &v1beta1.WindowMetric{Name: "queue", MaxReplicas: 20}
	night.DefaultReplicas = intstr.FromInt32(1234567)
	var written strings.Builder
	written.WriteString(clipped(run{"title", strings.Repeat("w", 99)}, 100).text)
	for _, from := range []string{"2026-10-24", "2027-03-27"} {
		for _, text := range drawn(t, timelineOf(t, night, from, 3)).texts() {
			written.WriteString(text.String())
		}
	}
	for _, f := range faces {
		font, err := fontOf(f)
		if err != nil {
			t.Fatal(err)
		}
		var buffer sfnt.Buffer
		for _, character := range written.String() {
			if glyph, err := font.GlyphIndex(&buffer, character); err != nil || glyph == 0 {
				t.Errorf("%s has no %q", f.class, character)
			}
		}
	}
}

// A failing writer is an error, not half a picture.
func TestWritersReportErrors(t *testing.T) {
	for format, write := range writers {
		if err := write(full{}, []*timeline.Timeline{office(t)}, time.UTC); !errors.Is(err, errFull) {
			t.Errorf("%s: %v", format, err)
		}
	}
	if !bytes.Contains([]byte(written(t, "svg", office(t))), []byte("</svg>")) {
		t.Error("the picture has no end")
	}
}

var errFull = errors.New("no space left")

type full struct{}

func (full) Write([]byte) (int, error) { return 0, errFull }
