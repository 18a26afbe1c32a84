package picture

import (
	"image/color"
	"math"
	"slices"
	"strings"
	"testing"
)

// luminance is the relative luminance of a colour (WCAG 2.2).
func luminance(c color.NRGBA) float64 {
	return 0.2126*linear(c.R) + 0.7152*linear(c.G) + 0.0722*linear(c.B)
}

func linear(channel uint8) float64 {
	v := float64(channel) / 255
	if v <= 0.04045 {
		return v / 12.92
	}
	return math.Pow((v+0.055)/1.055, 2.4)
}

// contrast is the ratio of two colours, 1 to 21 (WCAG 2.2).
func contrast(a, b string) float64 {
	x, y := luminance(colour(a)), luminance(colour(b))
	return (max(x, y) + 0.05) / (min(x, y) + 0.05)
}

// Text is readable on every background that it may have (WCAG 2.2, 1.4.3), and edges are visible (1.4.11).
func TestContrast(t *testing.T) {
	for _, behind := range []string{"page", "band", "holiday"} {
		ground := lookup(fills, behind)
		for _, f := range faces {
			if light, dark := contrast(f.light, ground.light), contrast(f.dark, ground.dark); light < 4.5 || dark < 4.5 {
				t.Errorf("%s on %s: %.2f and %.2f", f.class, behind, light, dark)
			}
		}
		for _, s := range strokes {
			if s.class == "grid" || s.class == "texture" {
				continue // the first repeats what numbers say; the second is drawn over bars
			}
			if light, dark := contrast(s.light, ground.light), contrast(s.dark, ground.dark); light < 3 || dark < 3 {
				t.Errorf("%s on %s: %.2f and %.2f", s.class, behind, light, dark)
			}
		}
	}
}

// How people see colours who lack one kind of cones (Machado, Oliveira and Fernandes, 2009, severity 1.0), on linear RGB.
var blindness = map[string][9]float64{
	"none":   {1, 0, 0, 0, 1, 0, 0, 0, 1},
	"protan": {0.152286, 1.052583, -0.204868, 0.114503, 0.786281, 0.099216, -0.003882, -0.048116, 1.051998},
	"deutan": {0.367322, 0.860646, -0.227968, 0.280085, 0.672501, 0.047413, -0.011820, 0.042940, 0.968881},
	"tritan": {1.255528, -0.076749, -0.178779, -0.078411, 0.930809, 0.147602, 0.004733, 0.691367, 0.303900},
}

// lab is a colour as seen, in CIE L*a*b* under standard daylight.
func lab(c color.NRGBA, m [9]float64) [3]float64 {
	in := [3]float64{linear(c.R), linear(c.G), linear(c.B)}
	var rgb [3]float64
	for i := range rgb {
		rgb[i] = min(1, max(0, m[3*i]*in[0]+m[3*i+1]*in[1]+m[3*i+2]*in[2]))
	}
	f := func(v float64) float64 {
		if v > 0.008856 {
			return math.Cbrt(v)
		}
		return 7.787*v + 16.0/116
	}
	x := f((0.4124*rgb[0] + 0.3576*rgb[1] + 0.1805*rgb[2]) / 0.9505)
	y := f(0.2126*rgb[0] + 0.7152*rgb[1] + 0.0722*rgb[2])
	z := f((0.0193*rgb[0] + 0.1192*rgb[1] + 0.9505*rgb[2]) / 1.089)
	return [3]float64{116*y - 16, 500 * (x - y), 200 * (y - z)}
}

// Any two colours that stand for something differ by more than 10 for every eye; 2 are just seen.
func TestColoursAreDistinct(t *testing.T) {
	shown := slices.DeleteFunc(slices.Clone(fills), func(p paint) bool { return slices.Contains([]string{"page", "band", "holiday"}, p.class) })
	if len(shown) != colours+2 {
		t.Fatalf("%d colours, want those of windows, of none and of open holidays", len(shown))
	}
	for eye, matrix := range blindness {
		for i, a := range shown {
			for _, b := range shown[:i] {
				for _, pair := range [][2]string{{a.light, b.light}, {a.dark, b.dark}} {
					x, y := lab(colour(pair[0]), matrix), lab(colour(pair[1]), matrix)
					if apart := math.Hypot(math.Hypot(x[0]-y[0], x[1]-y[1]), x[2]-y[2]); apart < 10 {
						t.Errorf("%s: %s and %s differ by %.1f", eye, a.class, b.class, apart)
					}
				}
			}
		}
	}
}

// What windows class like repeats only with another texture.
func TestWindowsBeyondThePalette(t *testing.T) {
	seen := map[string]bool{}
	for index := range 3 * colours {
		class := windowClass(index)
		if index >= colours {
			class += number(textureStep(index))
		}
		if seen[class] {
			t.Errorf("window %d has the colours of an earlier one", index)
		}
		seen[class] = true
	}
}

func TestTheStyleSheetHasEveryClass(t *testing.T) {
	css := styleSheet(darkScreen)
	light, dark, found := strings.Cut(css, darkScreen)
	if !found {
		t.Fatal("nothing is dark")
	}
	for _, p := range fills {
		for sheet, want := range map[string]string{light: p.light, dark: p.dark} {
			if !strings.Contains(sheet, "rect."+p.class+"{fill:"+want+"}") {
				t.Errorf("rect.%s is not %s", p.class, want)
			}
		}
	}
	for _, s := range strokes {
		for sheet, want := range map[string]string{light: s.light, dark: s.dark} {
			if !strings.Contains(sheet, "path."+s.class+"{stroke:"+want+"}") {
				t.Errorf("path.%s is not %s", s.class, want)
			}
		}
	}
}
