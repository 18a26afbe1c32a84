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

// installations are the objects that kustomize makes: of everything, with each kind of certificates; of what
// serves some namespaces only, and of what this needs once in a cluster; without Workspaces, and with Workspaces in some namespaces;
// and of what is for monitoring.
type installations struct {
	certManager, selfManaged          []*unstructured.Unstructured
	namespaced, cluster               []*unstructured.Unstructured
	withoutWorkspaces, someHomes      []*unstructured.Unstructured
	monitoring, selfManagedMonitoring []*unstructured.Unstructured
}

// templates returns the text of the template of each object, by file name. An object that one of the
// installations lacks depends on what that stands for, and so does every line that differs between the kinds
// of certificates.
func (in *installations) templates() (map[string]string, error) {
	files := map[string]string{}
	one, other := slices.Concat(in.certManager, in.monitoring), slices.Concat(in.selfManaged, in.selfManagedMonitoring)
	somewhere := slices.Concat(in.namespaced, in.cluster)
	marks := in.marks()
	for _, object := range slices.Concat(one, other, somewhere) {
		name := fileName(object)
		if _, done := files[name]; done || !belongs(object) {
			continue
		}
		text, err := in.text(marks, find(one, name), find(other, name))
		switch {
		case err != nil:
		case object.GetNamespace() == served:
			text, err = marks.put(object)
			text = ranged(marks.fill(text), in.rangeOf(object))
		case find(in.monitoring, name) != nil:
			text = wrap(marks.fill(text), ifMonitoring)
		case find(somewhere, name) == nil && find(one, name) != nil:
			text = wrap(marks.fill(text), ifEverywhere)
		default:
			text = marks.fill(text)
		}
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		files[name] = header + wrap(wrap(text, in.ofWorkspaces(object)), wanted(object))
	}
	return files, nil
}

// marks are all choices; a mark stands for one by its place here.
type marks []choice

func (in *installations) marks() marks {
	common := len(containerArguments(in.certManager))
	added := func(objects []*unstructured.Unstructured) []string {
		args := containerArguments(objects)
		return args[min(common, len(args)):]
	}
	workspaces := arguments(added(in.namespaced), added(in.withoutWorkspaces), added(in.someHomes))
	return append(slices.Concat([]choice{labels, servedNamespace, workspaces}, prometheus), choices...)
}

// containerArguments are those of the manager; without a Deployment there are none.
func containerArguments(objects []*unstructured.Unstructured) []string {
	for _, object := range objects {
		if object.GetKind() != "Deployment" {
			continue
		}
		containers, _, _ := unstructured.NestedSlice(object.Object, "spec", "template", "spec", "containers")
		for _, container := range containers {
			args, _, _ := unstructured.NestedStringSlice(container.(map[string]any), "args")
			return args
		}
	}
	return nil
}

// byCertificates returns the text of an object with marks, for both kinds of certificates; nil is none.
func (m marks) byCertificates(one, other *unstructured.Unstructured) (string, error) {
	a, err := m.put(one)
	if err != nil {
		return "", err
	}
	b, err := m.put(other)
	switch {
	case one == nil:
		return wrap(b, ifSelfManaged), err
	case other == nil:
		return wrap(a, ifCertManager), err
	}
	return merge(a, b, ifCertManager, ifSelfManaged), err
}

// ranged repeats an object for each of the namespaces.
func ranged(text, namespaces string) string {
	outer := strings.NewReplacer(`"kyklos.labels" .`, `"kyklos.labels" $`, ".Release", "$.Release").Replace(text)
	return "{{- range " + namespaces + " }}\n---\n" + outer + "{{- end }}\n"
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

// put returns an object's text with a mark, alone on its line, wherever values decide; nil has none.
func (m marks) put(object *unstructured.Unstructured) (string, error) {
	if object == nil {
		return "", nil
	}
	object = object.DeepCopy()
	for i, c := range m {
		if !c.concerns(object) {
			continue
		}
		if err := set(object.Object, c.path, fmt.Sprintf("MARK_%d_", i)); err != nil {
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

// set sets the field at path to mark. Only the last step may be new.
func set(object map[string]any, path []string, mark string) error {
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
		return set(field, rest, mark)
	case []any:
		if rest[0] == "+" {
			object[step] = append(field, mark)
			return nil
		}
		for _, item := range field {
			if named, ok := item.(map[string]any); ok && named["name"] == rest[0] {
				return set(named, rest[1:], mark)
			}
		}
	}
	return fmt.Errorf("there is no %s", step)
}

var (
	markLine = regexp.MustCompile(`(?m)^( *)(?:- )?(?:[^\s:]+: )?MARK_(\d+)_(?:: MARK_\d+_)?\n`)
	nindent  = regexp.MustCompile(`nindent (\d+)`)
)

// fill returns text with the marks replaced by what takes their place, as far in as they are.
func (m marks) fill(text string) string {
	return markLine.ReplaceAllStringFunc(text, func(line string) string {
		groups := markLine.FindStringSubmatch(line)
		index, _ := strconv.Atoi(groups[2]) // digits, by the expression
		var out strings.Builder
		for part := range strings.Lines(m[index].text + "\n") {
			out.WriteString(groups[1] + nindent.ReplaceAllStringFunc(part, func(call string) string {
				depth, _ := strconv.Atoi(strings.TrimPrefix(call, "nindent "))
				return fmt.Sprintf("nindent %d", depth+len(groups[1]))
			}))
		}
		return out.String()
	})
}
