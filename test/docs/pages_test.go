package docs

import (
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/util/intstr"
	"sigs.k8s.io/yaml"

	"kyklos.io/kyklos/apis/v1beta1"
	"kyklos.io/kyklos/internal/schedule"
	"kyklos.io/kyklos/test/harness"
)

func readText(t *testing.T, path string) string {
	t.Helper()
	content, err := os.ReadFile(filepath.Join(root, path))
	harness.Must(t, err)
	return string(content)
}

// section returns the part of a page below a heading up to the next one of the same level or a higher
// one, or the whole page for no heading.
func section(text, heading string) string {
	if heading == "" {
		return text
	}
	_, text, found := strings.Cut(text, "\n"+heading+"\n")
	if !found {
		return ""
	}
	var lines []string
	level := strings.Count(heading, "#")
	for line := range strings.Lines(text) {
		if hashes := len(line) - len(strings.TrimLeft(line, "#")); hashes > 0 && hashes <= level {
			break
		}
		lines = append(lines, line)
	}
	return strings.Join(lines, "")
}

// tableRows returns the cells of all tables of a page below docs, or of a section of it, without the
// rows whose first cell names nothing.
func tableRows(t *testing.T, page, heading string) [][]string {
	t.Helper()
	var rows [][]string
	for line := range strings.Lines(section(readText(t, "docs/"+page), heading)) {
		if !strings.HasPrefix(line, "| `") {
			continue
		}
		cells := strings.Split(strings.Trim(strings.TrimSpace(line), "|"), "|")
		for i := range cells {
			cells[i] = strings.TrimSpace(cells[i])
		}
		rows = append(rows, cells)
	}
	return rows
}

func firstColumn(t *testing.T, page, heading string) []string {
	t.Helper()
	var names []string
	for _, row := range tableRows(t, page, heading) {
		names = append(names, strings.Trim(row[0], "`"))
	}
	return names
}

var yamlBlock = regexp.MustCompile("(?ms)^ *```yaml\n(.*?)^ *```$")

// Every block of YAML is a whole object, or the status or spec of a TimeWindowScaler, without unknown fields.
func TestBlocksOfYAML(t *testing.T) {
	blocks := 0
	for path, text := range documents(t) {
		for _, match := range yamlBlock.FindAllStringSubmatch(text, -1) {
			blocks++
			if strings.HasPrefix(match[1], "apiVersion:") {
				for _, document := range split(t, []byte(match[1])) {
					decode(t, document)
				}
				continue
			}
			if err := yaml.UnmarshalStrict([]byte(match[1]), &v1beta1.TimeWindowScaler{}); err != nil {
				t.Errorf("%s: %v in\n%s", path, err, match[1])
			}
		}
	}
	if blocks == 0 {
		t.Error("no block was found")
	}
}

// The schedule in the README is the sample of its picture.
func TestReadmeShowsTheSample(t *testing.T) {
	documents := readSamples(t, "office-hours.yaml")[0].documents
	var sample, shown v1beta1.TimeWindowScaler
	for text, into := range map[string]*v1beta1.TimeWindowScaler{
		documents[len(documents)-1]:                               &sample,
		yamlBlock.FindStringSubmatch(readText(t, "README.md"))[1]: &shown,
	} {
		harness.Must(t, yaml.UnmarshalStrict([]byte(text), into))
	}
	if got, want := mustMarshal(t, shown), mustMarshal(t, sample); got != want {
		t.Errorf("the README shows\n%s\nthe sample is\n%s", got, want)
	}
}

func mustMarshal(t *testing.T, object any) string {
	t.Helper()
	text, err := yaml.Marshal(object)
	harness.Must(t, err)
	return string(text)
}

// The counts on the page on semantics are those of the code that reads schedules.
func TestCounts(t *testing.T) {
	rows := tableRows(t, "semantics.md", "## Counts")
	baselines := []int32{1, 3, 10, 100_000}
	for _, row := range rows {
		share := intstr.FromString(strings.Trim(row[0], "`"))
		for i, baseline := range baselines {
			if got, err := schedule.Count(share, &baseline); err != nil || row[i+1] != strconv.Itoa(int(got)) {
				t.Errorf("%s of %d: the page says %s; %d, %v", share.StrVal, baseline, row[i+1], got, err)
			}
		}
	}
	if len(rows) == 0 {
		t.Error("no counts are shown")
	}
}

// A quoted message is that of the sample's file.
func TestQuotedMessages(t *testing.T) {
	said := map[string]bool{}
	for _, pattern := range []string{"invalid/*.yaml", "warnings/*.yaml", "workspaces/invalid/*.yaml", "workspaces/warnings/*.yaml"} {
		for _, s := range readSamples(t, pattern) {
			for _, message := range append(s.expect, s.warn...) {
				said[message] = true
			}
		}
	}
	quote := regexp.MustCompile(`(?m)^ *(?:\* |Warning: )(spec\.[^\n]*)$`)
	quotes := 0
	for path, text := range documents(t) {
		for _, match := range quote.FindAllStringSubmatch(text, -1) {
			quotes++
			if !said[match[1]] {
				t.Errorf("%s: no sample meets the message %q", path, match[1])
			}
		}
	}
	if quotes == 0 {
		t.Error("no quoted message was found")
	}
}

// Links within the repository have a target.
func TestLinks(t *testing.T) {
	link := regexp.MustCompile(`\]\(([^)#]+)(#[^)]*)?\)`)
	for path, text := range documents(t) {
		for _, match := range link.FindAllStringSubmatch(text, -1) {
			if strings.Contains(match[1], "://") {
				continue
			}
			target := filepath.Join(root, filepath.Dir(path), match[1])
			if _, err := os.Stat(target); err != nil {
				t.Errorf("%s: the link %s leads nowhere", path, match[1])
			}
		}
	}
}

// With a short name kubectl ignores the version and shows the preferred one.
func TestCommandsNameVersionsInFull(t *testing.T) {
	for path, text := range documents(t) {
		for _, name := range regexp.MustCompile(`\btws\.v\d\w*\.`).FindAllString(text, -1) {
			t.Errorf("%s: %s shows another version: write timewindowscalers", path, name)
		}
	}
}
