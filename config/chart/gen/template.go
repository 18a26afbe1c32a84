package main

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"
)

const header = "{{- /* Generated from config by config/chart/gen: do not edit. */ -}}\n"

// templates returns the text of the template of each object, by file name. An object that one of the two
// installations lacks depends on the kind of certificates, and so does every line that differs.
func templates(withCertManager, withSelfManaged []*unstructured.Unstructured) (map[string]string, error) {
	files := map[string]string{}
	for _, object := range slices.Concat(withCertManager, withSelfManaged) {
		name := fileName(object)
		if _, done := files[name]; done || !belongs(object) {
			continue
		}
		one, err := marked(find(withCertManager, name))
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		other, err := marked(find(withSelfManaged, name))
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		var body string
		switch {
		case one == "":
			body = wrap(other, ifSelfManaged)
		case other == "":
			body = wrap(one, ifCertManager)
		default:
			body = merge(one, other)
		}
		files[name] = header + wrap(filled(body), wanted(object))
	}
	return files, nil
}

// find returns the object whose template has a name, or nil.
func find(objects []*unstructured.Unstructured, name string) *unstructured.Unstructured {
	for _, object := range objects {
		if fileName(object) == name {
			return object
		}
	}
	return nil
}

func wrap(body, condition string) string {
	if condition == "" {
		return body
	}
	return "{{- if " + condition + " }}\n" + body + "{{- end }}\n"
}

// marked returns an object's text with a mark, alone on its line, wherever values decide; nil has none.
func marked(object *unstructured.Unstructured) (string, error) {
	if object == nil {
		return "", nil
	}
	object = object.DeepCopy()
	for i, c := range everyChoice() {
		if c.kind != "" && c.kind != object.GetKind() {
			continue
		}
		if err := put(object.Object, c.path, fmt.Sprintf("MARK_%d_", i)); err != nil {
			return "", fmt.Errorf("%s: %w", strings.Join(c.path, "."), err)
		}
	}
	text, err := yaml.Marshal(object.Object)
	if err != nil {
		return "", err
	}
	escaped := strings.ReplaceAll(string(text), "{{", `{{ "{{" }}`)
	whole := regexp.MustCompile(`(?m): `+namespace+`$`).ReplaceAllString(escaped, ": {{ .Release.Namespace | quote }}")
	return strings.ReplaceAll(whole, namespace, "{{ .Release.Namespace }}"), nil
}

func everyChoice() []choice { return append([]choice{labels}, choices...) }

// put sets the field at path to mark. Only the last step may be new.
func put(object map[string]any, path []string, mark string) error {
	step, rest := path[0], path[1:]
	if len(rest) == 0 {
		if step == "+" {
			step = mark
		}
		object[step] = mark
		return nil
	}
	switch field := object[step].(type) {
	case map[string]any:
		return put(field, rest, mark)
	case []any:
		if rest[0] == "+" {
			object[step] = append(field, mark)
			return nil
		}
		for _, item := range field {
			if named, ok := item.(map[string]any); ok && named["name"] == rest[0] {
				return put(named, rest[1:], mark)
			}
		}
	}
	return fmt.Errorf("there is no %s", step)
}

var (
	markLine = regexp.MustCompile(`(?m)^( *)(?:- )?(?:[^\s:]+: )?MARK_(\d+)_(?:: MARK_\d+_)?\n`)
	nindent  = regexp.MustCompile(`nindent (\d+)`)
)

// filled returns text with the marks replaced by what takes their place, as far in as they are.
func filled(text string) string {
	return markLine.ReplaceAllStringFunc(text, func(line string) string {
		groups := markLine.FindStringSubmatch(line)
		index, _ := strconv.Atoi(groups[2]) // digits, by the expression
		var out strings.Builder
		for part := range strings.Lines(everyChoice()[index].text + "\n") {
			out.WriteString(groups[1] + nindent.ReplaceAllStringFunc(part, func(call string) string {
				depth, _ := strconv.Atoi(strings.TrimPrefix(call, "nindent "))
				return fmt.Sprintf("nindent %d", depth+len(groups[1]))
			}))
		}
		return out.String()
	})
}

// merge returns the lines that one and other share, and each of the rest under the condition of its
// installation.
func merge(one, other string) string {
	a, b := slices.Collect(strings.Lines(one)), slices.Collect(strings.Lines(other))
	longest := common(a, b)
	var out, onlyA, onlyB strings.Builder
	flush := func() {
		out.WriteString(either(onlyA.String(), onlyB.String()))
		onlyA.Reset()
		onlyB.Reset()
	}
	for i, j := 0, 0; i < len(a) || j < len(b); {
		switch {
		case i < len(a) && j < len(b) && a[i] == b[j]:
			flush()
			out.WriteString(a[i])
			i, j = i+1, j+1
		case j == len(b) || i < len(a) && longest[i+1][j] >= longest[i][j+1]:
			onlyA.WriteString(a[i])
			i++
		default:
			onlyB.WriteString(b[j])
			j++
		}
	}
	flush()
	return out.String()
}

func either(one, other string) string {
	switch {
	case one == "" && other == "":
		return ""
	case one == "":
		return wrap(other, ifSelfManaged)
	case other == "":
		return wrap(one, ifCertManager)
	}
	return "{{- if " + ifCertManager + " }}\n" + one + "{{- else }}\n" + other + "{{- end }}\n"
}

// common returns, for each place in a and b, how many lines the rests have in common, in order.
func common(a, b []string) [][]int {
	longest := make([][]int, len(a)+1)
	longest[len(a)] = make([]int, len(b)+1)
	for i := len(a) - 1; i >= 0; i-- {
		longest[i] = make([]int, len(b)+1)
		for j := len(b) - 1; j >= 0; j-- {
			if a[i] == b[j] {
				longest[i][j] = longest[i+1][j+1] + 1
			} else {
				longest[i][j] = max(longest[i+1][j], longest[i][j+1])
			}
		}
	}
	return longest
}
