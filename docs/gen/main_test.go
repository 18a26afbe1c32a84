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

func read(t *testing.T, path string) []byte {
	t.Helper()
	content, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return content
}

// The picture in the README is that of the sample as it is now.
func TestPictureIsUpToDate(t *testing.T) {
	drawn, err := draw(read(t, "../../config/samples/office-hours.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(read(t, "../office-hours.svg")), string(drawn)); diff != "" {
		t.Errorf("run go generate ./docs/gen (-file +drawn):\n%s", diff)
	}
	for decoder := xml.NewDecoder(strings.NewReader(string(drawn))); ; {
		if _, err := decoder.Token(); errors.Is(err, io.EOF) {
			return
		} else if err != nil {
			t.Fatal(err)
		}
	}
}

// The counts follow one another as the schedule says, over midnight too.
func TestWeek(t *testing.T) {
	for sample, want := range map[string][]string{
		"office-hours": {"2", "10", "2", "10", "2", "10", "2", "10", "2", "10", "2"},
		"night-batch":  {"8", "0", "8", "0", "8", "0", "8", "0", "8", "0", "8", "0", "8"},
	} {
		drawn, err := draw(read(t, "../../config/samples/"+sample+".yaml"))
		if err != nil {
			t.Fatal(err)
		}
		var counts []string
		for line := range strings.Lines(string(drawn)) {
			if strings.HasPrefix(line, `<text class="count"`) {
				counts = append(counts, line[strings.Index(line, ">")+1:strings.LastIndex(line, "<")])
			}
		}
		if diff := cmp.Diff(want, counts); diff != "" {
			t.Errorf("%s (-want +got):\n%s", sample, diff)
		}
	}
}

func TestWhatCannotBeDrawnIsRefused(t *testing.T) {
	for _, sample := range []string{"unknown-field", "timezone-unknown", "window-start-equals-end"} {
		if _, err := draw(read(t, "../../config/samples/invalid/"+sample+".yaml")); err == nil {
			t.Errorf("%s was drawn", sample)
		}
	}
}
