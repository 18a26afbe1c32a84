package convert

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
	utiljson "k8s.io/apimachinery/pkg/util/json"

	"kyklos.io/kyklos/apis/v1alpha1"
	"kyklos.io/kyklos/apis/v1beta1"
	"kyklos.io/kyklos/cli/manifest"
	"kyklos.io/kyklos/webhooks/conversion"
)

// Versions are those that can be converted to, the older first.
func Versions() []string {
	return []string{v1alpha1.GroupVersion.Version, v1beta1.GroupVersion.Version}
}

// Result is a file converted.
type Result struct {
	// Data is the whole file. All that is no TimeWindowScaler of another version is in it byte by byte.
	Data []byte
	// Converted is the number of objects that were of another version.
	Converted int
	// Notes say what is to be known about it, in the order of the file.
	Notes []Note
}

// Note is something about a line of the file that was read.
type Note struct {
	Line int
	Text string
}

// File converts the TimeWindowScalers of a file to a version, which must be one of Versions. It fails, and says where,
// if a document cannot be read, or if an object's conversion would lose something.
func File(file *manifest.File, version string) (*Result, error) {
	if !bytes.Contains(file.Data, []byte(v1beta1.GroupVersion.Group)) {
		return &Result{Data: file.Data}, nil // also if nobody can read it, as a template
	}
	if _, problems := manifest.Parse(file); len(problems) > 0 {
		var errs []error
		for _, problem := range problems {
			errs = append(errs, problem)
		}
		return nil, errors.Join(errs...)
	}
	result, kept := &Result{}, 0
	for _, document := range manifest.Documents(file.Data) {
		c := conversionOf(document, version)
		if err := c.run(); err != nil {
			return nil, fmt.Errorf("%s:%d: %w", file.Name, document.Line+c.line-1, err)
		}
		if c.count == 0 {
			continue
		}
		end := document.Offset + len(document.Text)
		result.Data = append(append(result.Data, file.Data[kept:document.Offset]...), c.text...)
		result.Converted, kept = result.Converted+c.count, end
		for _, note := range c.notes {
			result.Notes = append(result.Notes, Note{document.Line + note.Line - 1, note.Text})
		}
	}
	result.Data = append(result.Data, file.Data[kept:]...)
	slices.SortStableFunc(result.Notes, func(a, b Note) int { return a.Line - b.Line })
	return result, nil
}

// documentConversion is the conversion of one document.
type documentConversion struct {
	text    []byte
	version string

	count   int        // objects converted
	objects []string   // their paths
	root    *yaml.Node // where the nodes of text are, from the first object on; nil if that cannot be told
	line    int        // of the object that is looked at, from 1
	notes   []Note
}

// conversionOf looks at no more than the document needs: most have nothing to convert.
func conversionOf(document manifest.Document, version string) *documentConversion {
	return &documentConversion{text: document.Text, version: version, line: 1}
}

// run replaces the text by the converted one, if there is anything to convert.
func (c *documentConversion) run() error {
	before, err := read(c.text)
	if err != nil {
		return err
	}
	after, err := c.value(before, "")
	if err != nil || c.count == 0 {
		return err
	}
	done, err := rewrite(c.text, before, after, c.objects)
	if err != nil {
		return err
	}
	for _, path := range done.anew {
		c.note(lineOf(c.root, path), "%s is written anew: its YAML has no place for the change", pathName(path))
	}
	for _, lost := range lostComments(c.text, done.text) {
		c.note(lost.line, "the comment %q goes with what it is about", lost.text)
	}
	c.text = done.text
	return nil
}

// note says something about a line of the document.
func (c *documentConversion) note(line int, format string, args ...any) {
	c.notes = append(c.notes, Note{max(line, 1), manifest.Printable(fmt.Sprintf(format, args...))})
}

// value returns what a document, or an item of a list, says after the conversion. A list of scalers has a version of
// its own, which follows.
func (c *documentConversion) value(before any, path string) (any, error) {
	object, isObject := before.(map[string]any)
	if !isObject {
		return before, nil
	}
	kind, _ := object["kind"].(string)
	group, version, _ := strings.Cut(fmt.Sprint(object["apiVersion"]), "/")
	ours := group == v1beta1.GroupVersion.Group && version != c.version &&
		(version == v1alpha1.GroupVersion.Version || version == v1beta1.GroupVersion.Version)
	items, isList := object["items"].([]any)
	switch {
	case ours && kind == v1beta1.Kind:
		return c.object(object, path)
	case !isList || !strings.HasSuffix(kind, "List"):
		return before, nil
	}
	list, typed := maps.Clone(object), ours && kind == v1beta1.Kind+"List"
	if typed {
		list["apiVersion"] = group + "/" + c.version
	}
	converted := make([]any, len(items))
	for i := range items {
		convert, own := c.value, item(join(path, "items"), i)
		if typed {
			convert = c.item
		}
		one, err := convert(items[i], own)
		if err != nil {
			return nil, err
		}
		converted[i] = one
	}
	list["items"] = converted
	return list, nil
}

// item is value for an item of a list of scalers, which says for it what it is if it does not do so itself, as kubectl reads it.
func (c *documentConversion) item(before any, path string) (any, error) {
	bare, isObject := before.(map[string]any)
	if !isObject || bare["apiVersion"] != nil || bare["kind"] != nil {
		return c.value(before, path)
	}
	typed := maps.Clone(bare)
	typed["apiVersion"], typed["kind"] = v1beta1.GroupVersion.Group+"/"+other(c.version), v1beta1.Kind
	after, err := c.object(typed, path)
	if err != nil {
		return nil, err
	}
	fields := after.(map[string]any)
	delete(fields, "apiVersion")
	delete(fields, "kind")
	return fields, nil
}

// other is the version that is not the given one.
func other(version string) string { return Versions()[1-slices.Index(Versions(), version)] }

// object converts one object by the webhook's code. It refuses what that would cut: the webhook has to answer, a command
// does not (A2).
func (c *documentConversion) object(before map[string]any, path string) (any, error) {
	c.count++
	c.objects = append(c.objects, path)
	if c.count == 1 { // once for all objects of a list
		c.root = parse(c.text)
	}
	c.line = max(lineOf(c.root, path), 1)
	raw, convert := []byte(toJSON(before)), conversion.ToV1beta1
	if c.version == v1alpha1.GroupVersion.Version {
		convert = conversion.ToV1alpha1
		// The webhook shows it as it is: it has to answer.
		if err := utiljson.Unmarshal([]byte(toJSON(before["spec"])), &v1beta1.TimeWindowScalerSpec{}); err != nil {
			return nil, fmt.Errorf("TimeWindowScaler %s cannot be converted, for its spec cannot be read (%w): kyklos lint says what is wrong", nameOf(before), err)
		}
		if !conversion.Carries(raw) {
			return nil, fmt.Errorf("TimeWindowScaler %s has too many annotations to be converted: %s says less, and the annotation that would carry the rest has no room beside them", nameOf(before), c.version)
		}
	}
	converted, err := convert(raw)
	if err != nil {
		return nil, err
	}
	after, err := fromJSON(converted)
	if err != nil {
		return nil, err
	}
	if c.version == v1alpha1.GroupVersion.Version {
		c.explain(c.root, path, before, after.(map[string]any))
	}
	return after, nil
}
