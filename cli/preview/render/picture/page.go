package picture

import (
	"bytes"
	"crypto/sha256"
	_ "embed"
	"encoding/base64"
	"fmt"
	"html/template"
	"io"
	"strings"
	"time"

	"kyklos.io/kyklos/cli/preview/timeline"
)

var (
	//go:embed page.html.tmpl
	pageText string
	//go:embed page.css
	pageStyle string
	//go:embed page.js
	pageScript string

	pageTemplate = template.Must(template.New("page").Parse(pageText))
)

type page struct {
	Policy  string // the Content-Security-Policy
	Style   template.CSS
	Script  template.JS
	Heading string
	Totals  string
	Cards   []card
}

type card struct {
	Name    string
	Search  string // what the filter matches
	Strip   template.HTML
	Changes []change
	Grace   bool // any change has Grace
}

type change struct {
	Local, UTC, From, To, Window, Reason, Grace string
}

// HTML writes one self-contained page of all timelines: strips with tooltips for pointer and keyboard, a filter by name and
// namespace, and a table of each strip's transitions. Without JavaScript, strips and tables remain, with the browser's own
// tooltips. The Content-Security-Policy allows only what the page itself contains.
func HTML(w io.Writer, timelines []*timeline.Timeline, zone *time.Location) error {
	if err := check(timelines); err != nil {
		return err
	}
	style := pageStyle + styleSheet(darkScreen)
	p := page{
		Policy: fmt.Sprintf("default-src 'none'; style-src '%s'; script-src '%s'; base-uri 'none'; form-action 'none'", cspHash(style), cspHash(pageScript)),
		Style:  template.CSS(style), Script: template.JS(pageScript),
		Heading: heading(timelines, zone), Totals: pageTotals(timelines),
	}
	for _, t := range timelines {
		one, err := newCard(newStrip(t, zone))
		if err != nil {
			return err
		}
		p.Cards = append(p.Cards, one)
	}
	return pageTemplate.Execute(w, p)
}

// cspHash is the hash of content that a Content-Security-Policy allows.
func cspHash(content string) string {
	sum := sha256.Sum256([]byte(content))
	return "sha256-" + base64.StdEncoding.EncodeToString(sum[:])
}

// newCard draws one strip. The template does not escape its SVG: the SVG writer has escaped all texts.
func newCard(s *strip) (card, error) {
	picture := &scene{width: width, label: s.summary()}
	picture.height = s.layOut(picture, margin) + margin
	var drawn bytes.Buffer
	if err := writeInline(&drawn, picture); err != nil {
		return card{}, err
	}
	scaler := s.timeline.Scaler
	one := card{
		Name: displayName(scaler), Strip: template.HTML(drawn.String()),
		Search: strings.ToLower(scaler.Namespace + "/" + scaler.Name),
	}
	for _, t := range s.timeline.Transitions {
		c := s.change(t)
		one.Changes, one.Grace = append(one.Changes, c), one.Grace || c.Grace != ""
	}
	return one, nil
}

// writeInline writes a picture as a part of a page, which has the style sheet.
func writeInline(w io.Writer, s *scene) error {
	out := newSVG(w)
	out.inline = true
	out.begin(s, "group")
	s.drawOn(out)
	out.printf("</svg>\n")
	return out.Flush()
}

// change is a transition as text, for screen readers and for copying.
func (s *strip) change(t timeline.Transition) change {
	const minute = "Mon 2 Jan 2006 15:04"
	local := t.Time.In(s.zone)
	c := change{
		Local: local.Format(minute) + " (" + offset(local) + ")", UTC: local.UTC().Format(minute),
		From: s.timeline.Scaler.Count(t.From), To: s.timeline.Scaler.Count(t.To), Window: t.Window, Reason: s.timeline.Why(t),
	}
	if !t.GraceUntil.IsZero() {
		c.Grace = s.kept(t)
	}
	return c
}

func heading(timelines []*timeline.Timeline, zone *time.Location) string {
	from, until := timelines[0].From, timelines[0].Until
	for _, t := range timelines {
		if t.From.Before(from) {
			from = t.From
		}
		if t.Until.After(until) {
			until = t.Until
		}
	}
	if zone != nil {
		from, until = from.In(zone), until.In(zone)
	}
	noun := "schedules"
	if len(timelines) == 1 {
		noun = "schedule"
	}
	return fmt.Sprintf("%d %s, %s", len(timelines), noun, dateRange(from, until))
}

// pageTotals compares the replica-hours of all timelines with those of the highest counts.
func pageTotals(timelines []*timeline.Timeline) string {
	var sum, all int64
	for _, t := range timelines {
		sum += t.Seconds
		all += t.AlwaysHighest()
	}
	text := hours(sum) + " replica-hours in total"
	if all > sum {
		text += fmt.Sprintf("; each at its highest count all the time would be %s, so the schedules save %s (%d%%)", hours(all), hours(all-sum), percent(all-sum, all))
	}
	return text
}
