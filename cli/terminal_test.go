package cli

import (
	"bytes"
	"os"
	"testing"
)

func TestColours(t *testing.T) {
	terminal, err := os.OpenFile("/dev/ptmx", os.O_RDWR, 0)
	if err != nil {
		t.Skip("this machine has no terminals:", err)
	}
	defer terminal.Close()
	file, err := os.Create(t.TempDir() + "/out")
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	for name, test := range map[string]struct {
		term, noColor string
		want          bool
	}{
		"a terminal":         {"xterm", "", true},
		"an unknown one":     {"", "", true},
		"a dumb one":         {"dumb", "", false},
		"not wanted":         {"xterm", "1", false},
		"not wanted, by any": {"xterm", "0", false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Setenv("TERM", test.term)
			t.Setenv("NO_COLOR", test.noColor)
			if got := colours(terminal); got != test.want {
				t.Errorf("colours: %v", got)
			}
			if colours(file) || colours(&bytes.Buffer{}) {
				t.Error("a file has colours")
			}
		})
	}
}
