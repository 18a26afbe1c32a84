package manifest

import (
	"fmt"
	"strconv"
	"strings"
	"unicode"

	"go.yaml.in/yaml/v3"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
)

// File is a file of manifests.
type File struct {
	// Name is the path as given, or below the given folder, "-" for standard input, or "REVISION:PATH".
	Name string
	// Path is where the file is, or was in a revision; "" for standard input.
	Path string
	// Data is the content, as UTF-8 if it begins with a byte order mark of UTF-16.
	Data []byte
	// Encoding is the name of the file's encoding, "" for UTF-8.
	Encoding string
}

// Object is one object of a file.
type Object struct {
	File *File
	// Document is the index of the document in the file.
	Document int
	// Raw is the YAML or JSON of the object: its document, or the item of a list encoded again.
	Raw []byte
	// Line is the line of the file, from 1, on which Raw or the item begins.
	Line int
	// Object is the content, decoded as by the API server: the last of duplicate keys counts.
	Object map[string]any

	node *yaml.Node // the object's mapping, for positions; nil if the YAML parser cannot parse it
}

// Unstructured shares the content of the object.
func (o *Object) Unstructured() *unstructured.Unstructured {
	return &unstructured.Unstructured{Object: o.Object}
}

// GroupVersionKind is from apiVersion and kind.
func (o *Object) GroupVersionKind() schema.GroupVersionKind {
	return schema.FromAPIVersionAndKind(o.text("apiVersion"), o.text("kind"))
}

// Name is the object's metadata.name, "" without one.
func (o *Object) Name() string { return o.metadata("name") }

// Namespace is the object's metadata.namespace, "" without one.
func (o *Object) Namespace() string { return o.metadata("namespace") }

// Key is the object's namespace, or fallback where it names none, and its name.
func (o *Object) Key(fallback string) types.NamespacedName {
	namespace := o.Namespace()
	if namespace == "" {
		namespace = fallback
	}
	return types.NamespacedName{Namespace: namespace, Name: o.Name()}
}

// Place is FILE:LINE of the object's name.
func (o *Object) Place() string {
	at, _ := o.Position("metadata.name")
	return fmt.Sprintf("%s:%d", o.File.Name, at.Line)
}

func (o *Object) text(field string) string {
	text, _ := o.Object[field].(string)
	return text
}

func (o *Object) metadata(field string) string {
	text, _, _ := unstructured.NestedString(o.Object, "metadata", field)
	return text
}

// Default is the namespace of objects without one, unless a flag names another.
const Default = metav1.NamespaceDefault

// IsPrintable reports whether a text has no control characters, line breaks or direction marks, which could manipulate a terminal.
func IsPrintable(text string) bool {
	return !strings.ContainsFunc(text, func(r rune) bool { return !unicode.IsGraphic(r) })
}

// Printable escapes characters that are not printable, as in \x1b.
func Printable(text string) string {
	if IsPrintable(text) {
		return text
	}
	var shown strings.Builder
	for _, r := range text {
		if unicode.IsGraphic(r) {
			shown.WriteRune(r)
			continue
		}
		quoted := strconv.QuoteRuneToASCII(r)
		shown.WriteString(quoted[1 : len(quoted)-1])
	}
	return shown.String()
}
