package main

import (
	"encoding/xml"
	"errors"
	"io"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func svg(t *testing.T, sample, from string) string {
	t.Helper()
	drawn, err := week("../../config/samples/"+sample+".yaml", from)
	if err != nil {
		t.Fatal(err)
	}
	return string(drawn)
}

// The pictures are those of the samples as they are now.
func TestPicturesAreUpToDate(t *testing.T) {
	for picture, drawn := range map[string]string{
		"office-hours": svg(t, "office-hours", "2026-11-02"),
		"clock-change": svg(t, "follow-the-sun", "2026-10-22"),
	} {
		file, err := os.ReadFile("../" + picture + ".svg")
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(string(file), drawn); diff != "" {
			t.Errorf("%s: run go generate ./docs/gen (-file +drawn):\n%s", picture, diff)
		}
	}
}

// The counts follow one another as the schedule says, over midnight too: both parts of a night are labelled.
func TestWeek(t *testing.T) {
	for sample, want := range map[string]string{
		"office-hours": "2 10 2|2 10 2|2 10 2|2 10 2|2 10 2|2|2",
		"night-batch":  "8 0 8|8 0 8|8 0 8|8 0 8|8 0 8|8 0|0 8",
	} {
		if diff := cmp.Diff(strings.ReplaceAll(want, "|", " "), strings.Join(counts(t, svg(t, sample, "2026-11-02")), " ")); diff != "" {
			t.Errorf("%s (-want +got):\n%s", sample, diff)
		}
	}
}

// counts are the numbers in the stretches of a picture, which is read as XML.
func counts(t *testing.T, drawn string) []string {
	t.Helper()
	var found []string
	depth, is := 0, false
	for decoder := xml.NewDecoder(strings.NewReader(drawn)); ; {
		token, err := decoder.Token()
		if errors.Is(err, io.EOF) {
			return found
		} else if err != nil {
			t.Fatal(err)
		}
		switch token := token.(type) {
		case xml.StartElement:
			if token.Name.Local == "g" || depth > 0 {
				depth++
			}
			is = depth > 0 && len(token.Attr) > 0 && token.Attr[0].Value == "count"
		case xml.EndElement:
			depth, is = max(0, depth-1), false
		case xml.CharData:
			if is {
				found = append(found, string(token))
			}
		}
	}
}

func TestWhatCannotBeDrawnIsRefused(t *testing.T) {
	for _, sample := range []string{"window-start-24", "timezone-unknown", "window-start-equals-end"} {
		if _, err := week("../../config/samples/invalid/"+sample+".yaml", "2026-11-02"); err == nil {
			t.Errorf("%s was drawn", sample)
		}
	}
	if _, err := week("../../config/samples/office-hours.yaml", "Monday"); err == nil {
		t.Error("a week from Monday on was drawn")
	}
}
