package manifest

import (
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"
)

// Mistake is what is wrong with a field. It is an error.
type Mistake struct {
	// Field is its path as the API server writes it, Reason what is wrong and what is right.
	Field, Reason string
}

func (m Mistake) Error() string { return m.Field + ": " + m.Reason }

// Want is what a field has to be, in the words of a message.
type Want string

// What fields can be.
const (
	WantList           Want = "a list"
	WantObjects        Want = "a list of objects"
	WantObject         Want = "an object"
	WantString         Want = "a string"
	WantInteger        Want = "a whole number"
	WantNumber         Want = "a number"
	WantBoolean        Want = "true or false"
	WantNumberOrString Want = "a number or a string"
	WantTime           Want = "a time such as 2026-11-22T18:00:00Z"
)

// MustBe is the message for a field whose value is of another type than it has to be, with how to write it if that can be said.
func (o *Object) MustBe(want Want, path string, value any) string {
	how := o.rewritten(want, path, value)
	text := "must be " + string(want)
	switch value.(type) {
	case []any:
		text += ", not a list"
	case map[string]any:
		if how == "" {
			text += ", not an object"
		} else {
			text = "must be " + string(WantList) // and its items are objects already
		}
	default:
		if want == WantObject {
			text += " of keys and values"
		}
	}
	if how != "" {
		text += ": " + how
	}
	return text
}

// rewritten is how to write a value so that it is what its field has to be, "" if its author has to know.
func (o *Object) rewritten(want Want, path string, value any) string {
	node := o.Node(path)
	isFlow := node != nil && node.Style&yaml.FlowStyle != 0
	switch value := value.(type) {
	case map[string]any:
		switch {
		case want != WantObjects || node == nil:
			return ""
		case isFlow:
			return "write [ ] around it"
		}
		return fmt.Sprintf(`begin each %s with "- "`, itemOf(path))
	case []any:
		isScalar := func(item any) bool { _, isMap := item.(map[string]any); return !isMap }
		switch {
		case want != WantObject || node == nil || len(value) == 0 || slices.ContainsFunc(value, isScalar):
			return ""
		case isFlow:
			return "write it without [ ]"
		case strings.HasSuffix(path, "]"): // within another list
			return `write "- " once`
		}
		return `write it without "- "`
	}
	return rewrittenScalar(want, node, value)
}

func rewrittenScalar(want Want, node *yaml.Node, value any) string {
	text, isString := value.(string)
	switch _, err := strconv.ParseInt(text, 10, 64); {
	case want == WantList:
		return "write [ ] around it"
	case want == WantString:
		return "write " + strconv.Quote(literal(node, value))
	case isString && want == WantInteger && err == nil, want == WantBoolean && (text == "true" || text == "false"):
		return "write " + text + " without quotes"
	}
	return ""
}

// itemOf is what an item of a list is called, from the name of the list: window for windows.
func itemOf(path string) string {
	steps := Steps(path)
	if name, ok := strings.CutSuffix(steps[len(steps)-1], "s"); ok && len(name) > 1 {
		return name
	}
	return "item"
}

// literal is a number or a truth as it is written, which the decoded value may not show: 1.10, 010 or yes.
func literal(node *yaml.Node, value any) string {
	if node != nil && node.Kind == yaml.ScalarNode {
		return node.Value
	}
	return fmt.Sprint(value)
}

// WantOf is what a Go type wants.
func WantOf(into reflect.Type) Want {
	switch into.Kind() {
	case reflect.String:
		return WantString
	case reflect.Bool:
		return WantBoolean
	case reflect.Int, reflect.Int32, reflect.Int64:
		return WantInteger
	case reflect.Slice:
		if into.Elem().Kind() == reflect.Struct {
			return WantObjects
		}
		return WantList
	}
	return WantObject
}

// WrongType is what is wrong with a value that Go cannot decode.
func WrongType(e *json.UnmarshalTypeError) string {
	want := WantOf(e.Type)
	found, number, _ := strings.Cut(e.Value, " ")
	if found == "number" && want == WantInteger {
		if _, err := strconv.ParseFloat(number, 64); err != nil || strings.ContainsAny(number, ".eE") {
			return "must be " + string(want)
		}
		return number + " is out of range"
	}
	if known, ok := map[string]Want{"array": WantList, "object": WantObject, "string": WantString, "number": WantNumber, "bool": WantBoolean}[found]; ok {
		found = string(known)
	}
	return fmt.Sprintf("must be %s, not %s", want, found)
}
