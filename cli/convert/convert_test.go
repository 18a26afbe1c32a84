package convert

import (
	"bytes"
	"encoding/json"
	"fmt"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
	k8syaml "sigs.k8s.io/yaml"

	"kyklos.io/kyklos/cli/manifest"
	"kyklos.io/kyklos/webhooks/conversion"
)

// scaler draws a scaler; those of v1beta1 use what is new there.
func scaler(t *rapid.T, version string) object {
	newer := version == "v1beta1"
	some := func(o object, name string, value any) object {
		if rapid.IntRange(0, 2).Draw(t, name) > 0 {
			o = append(o, pair{name, value})
		}
		return o
	}
	count := func(name string) any {
		if newer && rapid.Bool().Draw(t, "share") {
			return fmt.Sprintf("%d%%", rapid.IntRange(0, 300).Draw(t, name))
		}
		return rapid.IntRange(0, 30).Draw(t, name)
	}
	var windows []any
	for range rapid.IntRange(1, 4).Draw(t, "windows") {
		var w object
		if newer {
			w = some(w, "name", rapid.SampledFrom([]string{"day", "night shift", "it's: late"}).Draw(t, "name"))
			w = some(w, "timezone", "Asia/Tokyo")
		}
		w = append(w, pair{"days", []any{"Mon", "Tue"}}, pair{"start", rapid.SampledFrom([]string{"00:00", "08:00"}).Draw(t, "start")})
		w = append(w, pair{"end", rapid.SampledFrom([]string{"24:00", "00:00", "18:00"}[map[bool]int{true: 0, false: 1}[newer]:]).Draw(t, "end")}, pair{"replicas", count("replicas")})
		if newer {
			w = some(w, "metric", object{{"name", "queue"}, {"selector", object{{"matchLabels", object{{"queue", "mail, all"}}}}}, {"maxReplicas", 5}})
		}
		windows = append(windows, shuffled(t, w))
	}
	spec := object{{"targetRef", object{{"kind", "Deployment"}, {"name", "webapp"}}}, {"timezone", "Europe/Berlin"}, {"defaultReplicas", count("default")}, {"windows", windows}}
	if newer {
		spec = some(spec, "baselineReplicas", rapid.IntRange(1, 20).Draw(t, "baseline"))
	}
	spec = some(spec, "holidays", object{{"mode", "ignore"}})
	spec = some(spec, "pause", rapid.Bool().Draw(t, "pause"))
	metadata := some(object{{"name", "webapp-hours"}}, "labels", object{{"app", "webapp"}})
	metadata = some(metadata, "annotations", rapid.SampledFrom([]any{object{}, object{{"note", "keep: me"}}, "null"}).Draw(t, "annotations"))
	if last := &metadata[len(metadata)-1]; last.value == "null" {
		last.value = nullValue{}
	}
	return shuffled(t, object{{"apiVersion", "kyklos.io/" + version}, {"kind", "TimeWindowScaler"}, {"metadata", shuffled(t, metadata)}, {"spec", shuffled(t, spec)}})
}

// nullValue is written as null.
type nullValue struct{}

func (nullValue) String() string               { return "null" }
func (nullValue) MarshalJSON() ([]byte, error) { return []byte("null"), nil }

// MarshalJSON implements json.Marshaler.
func (o object) MarshalJSON() ([]byte, error) {
	fields := map[string]any{}
	for _, f := range o {
		fields[f.name] = f.value
	}
	return json.Marshal(fields)
}

func shuffled(t *rapid.T, o object) object {
	if rapid.IntRange(0, 3).Draw(t, "shuffled") > 0 {
		return o
	}
	return rapid.Permutation(o).Draw(t, "order")
}

// foreign are documents that convert leaves alone.
var foreign = []string{"", "\n# nothing but a remark\n", "apiVersion: v1\nkind:   ConfigMap\nmetadata: {name:   x}\ndata:\n  a: |+\n    kyklos.io/v1alpha1\n\n", "- a\n-  b\n",
	"apiVersion: kyklos.io/v1alpha1\nkind: Workspace\nmetadata: {name: ada}\n", "apiVersion: other.io/v1\nkind: TimeWindowScaler\nmetadata:\n    name:  x\n"}

// page draws a file with one object in the middle, as YAML or JSON, or within a list.
func page(t *rapid.T, o object) (text string, remarks []remark) {
	if rapid.IntRange(0, 7).Draw(t, "list") == 0 {
		o = object{{"apiVersion", "v1"}, {"kind", "List"}, {"items", []any{object{{"apiVersion", "v1"}, {"kind", "Secret"}}, o}}}
	}
	if rapid.IntRange(0, 5).Draw(t, "json") == 0 {
		raw, _ := json.Marshal(o)
		if indented := new(bytes.Buffer); rapid.Bool().Draw(t, "indented") && json.Indent(indented, raw, "", rapid.SampledFrom([]string{"  ", "\t"}).Draw(t, "indent")) == nil {
			raw = indented.Bytes()
		}
		return string(raw), nil
	}
	p := newPen(t)
	for range rapid.IntRange(0, 2).Draw(t, "before") {
		p.WriteString(strings.ReplaceAll(rapid.SampledFrom(foreign).Draw(t, "foreign"), "\n", p.newline) + p.newline + "---" + p.newline)
	}
	p.fields(o, "", "", false)
	text = p.String()
	switch rapid.IntRange(0, 4).Draw(t, "end") {
	case 0:
		text = strings.TrimSuffix(text, p.newline)
	case 1:
		text += "--- " + p.newline + rapid.SampledFrom(foreign).Draw(t, "foreign")
	case 2:
		text += "..." + p.newline
	case 3:
		text += p.remark("") + p.newline
	}
	if p.seldom(10, "mark") {
		text = "\uFEFF" + text
	}
	return text, p.remarks
}

// meaning is what the API server reads of each document, converted by the webhook where version is another one.
func meaning(t *rapid.T, text []byte, version string) (all []any) {
	for _, d := range manifest.Documents(text) {
		raw, err := k8syaml.YAMLToJSON(d.Text)
		if err != nil {
			t.Fatalf("%v in\n%s", err, d.Text)
		}
		all = append(all, expect(t, raw, version))
	}
	return all
}

func expect(t *rapid.T, raw []byte, version string) any {
	var o map[string]any
	if json.Unmarshal(raw, &o) != nil || o == nil {
		return string(raw)
	}
	if list, ok := o["items"].([]any); ok {
		for i := range list {
			one, _ := json.Marshal(list[i])
			list[i] = expect(t, one, version)
		}
		return o
	}
	if o["kind"] == "TimeWindowScaler" && version != "" && o["apiVersion"] == "kyklos.io/"+other(version) {
		convert := map[string]func([]byte) ([]byte, error){"v1alpha1": conversion.ToV1alpha1, "v1beta1": conversion.ToV1beta1}[version]
		raw, err := convert(raw)
		if err != nil {
			t.Fatal(err)
		}
		return expect(t, raw, "")
	}
	return o
}

func converted(t *rapid.T, text []byte, version string) *Result {
	result, err := File(&manifest.File{Name: "f.yaml", Data: text}, version)
	if err != nil {
		t.Fatalf("%v in\n%s", err, text)
	}
	if diff := cmp.Diff(meaning(t, text, version), meaning(t, result.Data, "")); diff != "" {
		t.Fatalf("(-webhook +file)\n%s\n%s\nbecame\n%s", diff, text, result.Data)
	}
	again, err := File(&manifest.File{Name: "f.yaml", Data: result.Data}, version)
	if err != nil || again.Converted != 0 || !bytes.Equal(again.Data, result.Data) {
		t.Fatalf("converted again: %v, %d\n%s", err, again.Converted, again.Data)
	}
	return result
}

// removed are the fields that v1alpha1 does not have: their comments are removed with them, and a note says so.
var removed = regexp.MustCompile(`spec(\.baselineReplicas|\.windows\[\d\]\.(name|timezone|metric))|metadata\.annotations`)

// Whatever style a file has, the result means what the webhook converts it to, in both directions; other documents and all comments are
// as they were.
func TestAnyStyle(t *testing.T) {
	edited := 0
	rapid.Check(t, func(t *rapid.T) {
		version := rapid.SampledFrom(Versions()).Draw(t, "version")
		text, remarks := page(t, scaler(t, version))
		there := converted(t, []byte(text), other(version))
		if there.Converted != 1 {
			t.Fatalf("%d converted in\n%s", there.Converted, text)
		}
		keptRemarks(t, text, there, remarks)
		keptDocuments(t, []byte(text), there.Data)
		back := converted(t, there.Data, version)
		if diff := cmp.Diff(meaning(t, []byte(text), ""), meaning(t, back.Data, "")); diff != "" {
			t.Fatalf("there and back (-before +after)\n%s\n%s", diff, text)
		}
		if !strings.Contains(fmt.Sprint(there.Notes), "is reformatted") {
			edited++
		}
	})
	if edited == 0 {
		t.Error("everything was written anew")
	}
}

func keptRemarks(t *rapid.T, text string, result *Result, remarks []remark) {
	notes := fmt.Sprint(result.Notes)
	at := 0
	for _, one := range remarks {
		found := strings.Index(string(result.Data[at:]), one.text)
		switch {
		case strings.Count(string(result.Data), one.text) > 1:
			t.Fatalf("%s is there twice: %s\nbecame\n%s", one.text, text, result.Data)
		case found >= 0:
			at += found + len(one.text)
			field := one.path[strings.LastIndexAny(one.path, ".]")+1:]
			if !strings.Contains(notes, "is reformatted") && besides(text, one.text, field) && !besides(string(result.Data), one.text, field) {
				t.Fatalf("%s is no longer next to %s\n%s\nbecame\n%s", one.text, field, text, result.Data)
			}
		case !strings.Contains(notes, fmt.Sprintf("%q", one.text)):
			t.Fatalf("%s is gone without a note: %s\n%s\nbecame\n%s", one.text, notes, text, result.Data)
		case !removed.MatchString(one.path) && !strings.Contains(notes, "is reformatted"):
			t.Fatalf("%s, about %s, is gone from\n%s\nbecame\n%s", one.text, one.path, text, result.Data)
		}
	}
}

// besides reports whether a remark is on a line with a field.
func besides(text, remark, field string) bool {
	before, _, _ := strings.Cut(text, remark)
	return field != "" && strings.Contains(before[strings.LastIndex(before, "\n")+1:], field)
}

// keptDocuments checks that all but one document, and what is between them, are byte by byte as they were.
func keptDocuments(t *rapid.T, before, after []byte) {
	was, is := manifest.Documents(before), manifest.Documents(after)
	if len(was) != len(is) {
		t.Fatalf("%d documents became %d", len(was), len(is))
	}
	changed := 0
	for i := range was {
		if !bytes.Equal(was[i].Text, is[i].Text) {
			changed++
		}
	}
	if changed != 1 {
		t.Fatalf("%d documents changed in\n%s\nbecame\n%s", changed, before, after)
	}
}
