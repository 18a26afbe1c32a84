package draw

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

// page is what the template shows.
type page struct {
	Policy  string // the Content-Security-Policy
	Style   template.CSS
	Script  template.JS
	Heading string
	Totals  string
	Cards   []card
}

// card is a scaler on the page.
type card struct {
	Name    string
	Search  string // what the filter looks into
	Strip   template.HTML
	Changes []change
	Grace   bool // any change has Grace
}

// change is a transition in the table of a card.
type change struct {
	Local, UTC, From, To, Window, Reason, Grace string
}

// HTML writes one page of all timelines that needs nothing else: strips with tips for pointer and keyboard, a filter by name and
// namespace, and a table of the transitions of each. Without JavaScript, strips and tables are there, with the browser's own tips.
// Its policy lets nothing run or load but what it brings.
func HTML(w io.Writer, timelines []*timeline.Timeline, options Options) error {
	if err := check(timelines); err != nil {
		return err
	}
	style := pageStyle + styleSheet(darkScreen)
	p := page{
		Policy: fmt.Sprintf("default-src 'none'; style-src '%s'; script-src '%s'; base-uri 'none'; form-action 'none'", hashOf(style), hashOf(pageScript)),
		Style:  template.CSS(style), Script: template.JS(pageScript),
		Heading: heading(timelines, options.Zone), Totals: together(timelines),
	}
	for _, timeline := range timelines {
		one, err := newCard(newStrip(timeline, options.Zone))
		if err != nil {
			return err
		}
		p.Cards = append(p.Cards, one)
	}
	return pageTemplate.Execute(w, p)
}

// hashOf is how a Content-Security-Policy names what may be on the page.
func hashOf(content string) string {
	sum := sha256.Sum256([]byte(content))
	return "sha256-" + base64.StdEncoding.EncodeToString(sum[:])
}

// newCard draws a strip by itself. What the template does not escape, the strip's SVG, has all of its texts escaped by its writer.
func newCard(s *strip) (card, error) {
	picture := &scene{width: width, label: s.summary()}
	picture.height = s.layOut(picture, margin) + margin
	var drawn bytes.Buffer
	if err := writeLive(&drawn, picture); err != nil {
		return card{}, err
	}
	scaler := s.timeline.Scaler
	one := card{
		Name: qualified(scaler), Strip: template.HTML(drawn.String()),
		Search: strings.ToLower(scaler.Namespace + "/" + scaler.Name),
	}
	for _, t := range s.timeline.Transitions {
		c := s.change(t)
		one.Changes, one.Grace = append(one.Changes, c), one.Grace || c.Grace != ""
	}
	return one, nil
}

// writeLive writes a picture as a part of a page, which brings the style sheet.
func writeLive(w io.Writer, s *scene) error {
	out := newSVG(w)
	out.live = true
	out.begin(s, "group")
	s.paintOn(out)
	out.printf("</svg>\n")
	return out.Flush()
}

// change is a transition in words, for those who cannot see the strip, or want to copy from it.
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

// heading says how many scalers the page shows, and of which time.
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
	return fmt.Sprintf("%d %s, %s", len(timelines), noun, datesOf(from, until))
}

// together is what all timelines add up to.
func together(timelines []*timeline.Timeline) string {
	var sum, all int64
	for _, t := range timelines {
		sum += t.Seconds
		all += t.AlwaysHighest()
	}
	words := hours(sum) + " replica-hours in all"
	if all > sum {
		words += fmt.Sprintf("; with the highest count of each all the time it would be %s, so the schedules save %s (%d%%)", hours(all), hours(all-sum), percent(all-sum, all))
	}
	return words
}
