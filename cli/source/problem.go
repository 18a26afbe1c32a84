package source

import (
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"strings"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"kyklos.io/kyklos/apis/v1beta1"
	"kyklos.io/kyklos/cli/manifest"
)

// Problem is why the schedule of an object is invalid.
type Problem struct {
	Source *manifest.Object
	Name   types.NamespacedName
	Err    error
}

func (p *Problem) Error() string {
	if p.Source == nil {
		return manifest.Printable(fmt.Sprintf("TimeWindowScaler %s: %v", p.Name, p.Err))
	}
	line := p.Source.Line
	if placed, ok := errors.AsType[placedError](p.Err); ok {
		at, _ := p.Source.Position(placed.place())
		line = at.Line
	}
	return manifest.Printable(fmt.Sprintf("%s:%d: TimeWindowScaler %s: %v", p.Source.File.Name, line, p.Name.Name, p.Err))
}

// placedError is about fields; place is the path of the first.
type placedError interface {
	error
	place() string
}

type fieldErrors field.ErrorList

func (e fieldErrors) place() string { return e[0].Field }

func (e fieldErrors) Error() string {
	texts := make([]string, len(e))
	for i, one := range e {
		texts[i] = one.Error()
	}
	return strings.Join(texts, "; ")
}

type mistakes []manifest.Mistake

func (m mistakes) place() string { return m[0].Field }

func (m mistakes) Error() string {
	texts := make([]string, len(m))
	for i, one := range m {
		texts[i] = one.Error()
	}
	return strings.Join(texts, "; ")
}

// decodeError is what is wrong with an object that Go cannot decode.
func decodeError(object *manifest.Object, err error) error {
	wrong, ok := errors.AsType[*json.UnmarshalTypeError](err)
	if !ok || wrong.Field == "" {
		return err
	}
	if found := object.MistypedMetadata(); len(found) > 0 {
		return mistakes(found)
	}
	reason := manifest.WrongType(wrong)
	path, value, found := manifest.Mistyped(object.Object, reflect.TypeFor[v1beta1.TimeWindowScaler](), wrong)
	if found && !strings.HasPrefix(wrong.Value, "number ") { // as Go writes those that do not fit
		reason = object.MustBe(manifest.WantOf(wrong.Type), path, value)
	}
	return mistakes{{Field: path, Reason: reason}}
}
