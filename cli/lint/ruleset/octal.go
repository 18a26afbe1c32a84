package ruleset

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"
	structuralschema "k8s.io/apiextensions-apiserver/pkg/apiserver/schema"

	"kyklos.io/kyklos/cli/lint"
	"kyklos.io/kyklos/cli/manifest"
)

// leadingZero is an integer as its author may mean it in tens.
var leadingZero = regexp.MustCompile(`^[-+]?0[0-9_]+$`)

// checkOctal warns of numbers with a leading zero that are read as others than is written. 0o17 and 0x1F are meant to be.
func (m *member) checkOctal(schema *structuralschema.Structural) {
	eachNumber(m.object.Object["spec"], child(schema, "spec"), "spec", func(path string, number int64) {
		node := m.object.Node(path)
		if node == nil || node.Kind != yaml.ScalarNode || !leadingZero.MatchString(node.Value) {
			return
		}
		meant, err := strconv.ParseInt(strings.ReplaceAll(node.Value, "_", ""), 10, 64)
		if err == nil && meant != number {
			m.add(lint.Warning, lint.OctalNumber, path, fmt.Sprintf("%s is read as %d, because a leading zero makes it octal: write %d, or %[2]d if that is meant", node.Value, number, meant))
		}
	})
}

// eachNumber visits the integers where the schema wants a number.
func eachNumber(value any, schema *structuralschema.Structural, path string, visit func(path string, number int64)) {
	if schema == nil {
		return
	}
	switch value := value.(type) {
	case map[string]any:
		for name, one := range value {
			eachNumber(one, child(schema, name), path+"."+name, visit)
		}
	case []any:
		for i, one := range value {
			eachNumber(one, schema.Items, fmt.Sprintf("%s[%d]", path, i), visit)
		}
	case int64:
		if want := wanted(schema); want == manifest.WantInteger || want == manifest.WantNumber || want == manifest.WantNumberOrString {
			visit(path, value)
		}
	}
}
