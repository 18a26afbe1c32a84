package manifest

import (
	"fmt"

	"go.yaml.in/yaml/v3"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
)

// File is a file of manifests as it was read.
type File struct {
	// Name is what people know the file by: the path as it was given, or below the folder that was
	// given, "-" for standard input, and for a revision "REVISION:PATH".
	Name string
	// Path is where the file is, or was in a revision; "" for standard input.
	Path string
	Data []byte
}

// Object is one object of a file.
type Object struct {
	File *File
	// Document counts the documents of the file from 0.
	Document int
	// Raw is the text of the object: its document, or of an item of a list the item written anew. It is YAML or JSON.
	Raw []byte
	// Line is the line of the file, from 1, on which Raw begins; for an item of a list that of the item.
	Line int
	// Object is what Raw says, by the rules of the API server's YAML: of keys that are there twice, the
	// last counts.
	Object map[string]any

	node *yaml.Node // the object's mapping, for positions; nil if this YAML reader cannot read it
}

// Unstructured is the object as the API's libraries take it. Both share their content.
func (o *Object) Unstructured() *unstructured.Unstructured {
	return &unstructured.Unstructured{Object: o.Object}
}

// GroupVersionKind is what the object says that it is.
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

// Place is where the object stands, for messages about another one: FILE:LINE, the line being that of its name.
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

// Default is the namespace of objects that name none, where nobody says otherwise.
const Default = metav1.NamespaceDefault
