// Package convert rewrites manifests from one API version of TimeWindowScaler to the other. The conversion webhook's code converts the
// objects; comments and formatting are preserved.
//
// edit.go turns each difference of an object before and after into the smallest edit of the text. source.go finds where nodes begin
// and end in the text. The result is parsed again, as the API server does. If it is not the webhook's result, as with anchors and
// merge keys, larger parts are encoded again (rewrite.go).
package convert

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
	"k8s.io/apimachinery/pkg/runtime/schema"
	utiljson "k8s.io/apimachinery/pkg/util/json"

	"kyklos.io/kyklos/apis/v1alpha1"
	"kyklos.io/kyklos/apis/v1beta1"
	"kyklos.io/kyklos/cli/manifest"
	"kyklos.io/kyklos/webhooks/conversion"
)

// Versions are the API versions, the older first.
func Versions() []string {
	return []string{v1alpha1.GroupVersion.Version, v1beta1.GroupVersion.Version}
}

// Result is a file converted.
type Result struct {
	// Data is the whole file. Everything but TimeWindowScalers of the other version is unchanged.
	Data []byte
	// Converted is the number of converted objects.
	Converted int
	// Notes are about the conversion, in the order of the file.
	Notes []Note
}

// Note is about a line of the original file.
type Note struct {
	Line int
	Text string
}

// File converts the TimeWindowScalers of a file to one of Versions. It fails if a document is invalid, or if a conversion would lose
// data.
func File(file *manifest.File, version string) (*Result, error) {
	if !bytes.Contains(file.Data, []byte(v1beta1.GroupVersion.Group)) {
		return &Result{Data: file.Data}, nil // even if it is not YAML
	}
	if file.Encoding != "" {
		return nil, fmt.Errorf("%s is in %s, and only UTF-8 can be converted: save it as UTF-8 first, as with iconv -f UTF-16 -t UTF-8", file.Name, file.Encoding)
	}
	objects, problems := manifest.Parse(file)
	if len(problems) > 0 {
		var errs []error
		for _, problem := range problems {
			errs = append(errs, problem)
		}
		return nil, errors.Join(errs...)
	}
	result, kept := &Result{Notes: unserved(objects)}, 0
	for _, document := range manifest.Documents(file.Data) {
		c := &documentConversion{text: document.Text, version: version, line: 1}
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

// unserved are notes about objects that are meant to be TimeWindowScalers, and are left as they are.
func unserved(objects []*manifest.Object) (notes []Note) {
	var versions []schema.GroupVersionKind
	for _, version := range Versions() {
		versions = append(versions, v1beta1.GroupKind.WithVersion(version))
	}
	for _, object := range objects {
		if why, ok := object.Misnamed(versions); ok {
			at, _ := object.Position(why.Field)
			notes = append(notes, Note{at.Line, manifest.Printable("not converted: " + why.Reason)})
		}
	}
	return notes
}

type documentConversion struct {
	text    []byte
	version string

	count   int        // objects converted
	objects []string   // their paths
	root    *yaml.Node // for positions, set with the first object; nil if the text cannot be parsed
	line    int        // of the current object, from 1
	notes   []Note
}

// run converts the text, if it has objects to convert.
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
	for _, path := range done.encoded {
		c.note(lineOf(c.root, path), "%s is reformatted, because its YAML cannot be edited in place", pathName(path))
	}
	for _, lost := range lostComments(c.text, done.text) {
		c.note(lost.line, "the comment %q is removed with its field", lost.text)
	}
	c.text = done.text
	return nil
}

func (c *documentConversion) note(line int, format string, args ...any) {
	c.notes = append(c.notes, Note{max(line, 1), manifest.Printable(fmt.Sprintf(format, args...))})
}

// value converts a document, or an item of a list. A list of scalers has an own version, which is converted, too.
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

// item is value for an item of a list of scalers, which may inherit its type from the list, as with kubectl.
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

func other(version string) string { return Versions()[1-slices.Index(Versions(), version)] }

// object converts an object with the webhook's code. It refuses objects that the webhook would truncate because it must answer (A2).
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
		// The webhook does not convert an invalid spec.
		if err := utiljson.Unmarshal([]byte(toJSON(before["spec"])), &v1beta1.TimeWindowScalerSpec{}); err != nil {
			return nil, c.invalid(before, path, err)
		}
		if !conversion.Carries(raw) {
			return nil, fmt.Errorf("TimeWindowScaler %s cannot be converted: what %s cannot express has to be kept in an annotation, but its annotations leave no room for it", nameOf(before), c.version)
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
		c.noteLosses(c.root, path, before, after.(map[string]any))
	} else {
		c.writeOut(path, after.(map[string]any))
	}
	return after, nil
}

// invalid is the error for an object whose spec cannot be decoded.
func (c *documentConversion) invalid(object map[string]any, path string, err error) error {
	wrong, ok := errors.AsType[*json.UnmarshalTypeError](err)
	if !ok {
		return fmt.Errorf("TimeWindowScaler %s cannot be converted, because its spec is invalid (%w); kyklos lint shows the field", nameOf(object), err)
	}
	field := strings.TrimSuffix("spec."+wrong.Field, ".")
	c.line = max(lineOf(c.root, join(path, field)), 1)
	return fmt.Errorf("TimeWindowScaler %s cannot be converted: %s: %s; kyklos lint shows more details", nameOf(object), field, manifest.WrongType(wrong))
}
