package ruleset

import (
	"cmp"
	"encoding/json"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"kyklos.io/kyklos/apis/v1alpha1"
	"kyklos.io/kyklos/apis/v1beta1"
	"kyklos.io/kyklos/cli/lint"
	"kyklos.io/kyklos/cli/manifest"
	"kyklos.io/kyklos/internal/targetkind"
	"kyklos.io/kyklos/webhooks/conversion"
)

// identity identifies an object in all versions of its kind.
type identity struct {
	schema.GroupKind
	types.NamespacedName
}

// member is an object of the set with what is known about it.
type member struct {
	object *manifest.Object
	at     identity
	// index is its place in the order in which objects are applied; later ones are younger.
	index int
	// old is the object that is updated, nil if this one is new, and stored if it is from a cluster. before is
	// old with defaults, if the API server knows the kind.
	old    *manifest.Object
	stored bool
	before map[string]any
	// checked and refused are the API server's response, and seen is what it sends to webhooks.
	checked, refused bool
	seen             map[string]any

	scaler, oldScaler       *v1beta1.TimeWindowScaler
	spoke, oldHub           []byte // as JSON; spoke is in v1alpha1, nil if the manifest is not
	workspace, oldWorkspace *v1alpha1.Workspace

	findings []lint.Finding
}

// writtenAt is an object in a file: each overlay may have one with the same name.
type writtenAt struct {
	identity
	path string
}

// membersOf matches objects with those that they update: an earlier one of the set, or one of options.Old, the
// one in the same file if there are several.
func membersOf(objects []*manifest.Object, options Options) []*member {
	old, sameFile := make(map[identity]*manifest.Object), make(map[writtenAt]*manifest.Object)
	if options.Old != nil {
		for _, object := range options.Old.Objects {
			at := identify(object, options.Namespace)
			old[at], sameFile[writtenAt{at, object.File.Path}] = object, object
		}
	}
	earlier := make(map[identity]*manifest.Object)
	members := make([]*member, 0, len(objects))
	for i, object := range objects {
		m := &member{object: object, at: identify(object, options.Namespace), index: i}
		if m.at.Name != "" {
			m.old = cmp.Or(earlier[m.at], sameFile[writtenAt{m.at, object.File.Path}], old[m.at])
			earlier[m.at] = object // later ones update this one
		}
		members = append(members, m)
	}
	return members
}

func identify(object *manifest.Object, namespace string) identity {
	return identity{object.GroupVersionKind().GroupKind(), object.Key(namespace)}
}

// read decodes what webhooks see, or the manifest if the API server refused it, if it can be decoded.
func (m *member) read() {
	seen := m.seen
	if seen == nil {
		seen = m.object.Object
	}
	switch m.at.GroupKind {
	case v1beta1.GroupKind:
		if m.old != nil {
			m.oldScaler, m.oldHub = readScaler(m.before, m.at.Namespace)
			seen = keepAnnotation(seen, m.oldHub)
		}
		m.scaler, _ = readScaler(seen, m.at.Namespace)
		m.spoke = writtenInV1alpha1(seen)
	case targetkind.Workspace.GroupKind():
		m.workspace = readWorkspace(seen, m.at.Namespace)
		if m.old != nil {
			m.oldWorkspace = readWorkspace(m.before, m.at.Namespace)
		}
	}
}

// keepAnnotation adds the conversion annotation to a manifest of v1alpha1: applying the manifest does not remove
// it from the stored object.
func keepAnnotation(seen map[string]any, hub []byte) map[string]any {
	if seen["apiVersion"] != v1alpha1.GroupVersion.String() || hub == nil {
		return seen
	}
	spoke, err := conversion.ToV1alpha1(hub)
	var before unstructured.Unstructured
	if err != nil || before.UnmarshalJSON(spoke) != nil {
		return seen
	}
	after := unstructured.Unstructured{Object: runtime.DeepCopyJSON(seen)}
	annotations := after.GetAnnotations()
	value, preserved := before.GetAnnotations()[conversion.Annotation]
	if _, own := annotations[conversion.Annotation]; own || !preserved {
		return seen
	}
	if annotations == nil {
		annotations = make(map[string]string)
	}
	annotations[conversion.Annotation] = value
	after.SetAnnotations(annotations)
	return after.Object
}

// writtenInV1alpha1 returns a manifest of v1alpha1 as JSON, nil for another one.
func writtenInV1alpha1(content map[string]any) []byte {
	raw, err := json.Marshal(content)
	if err != nil || content["apiVersion"] != v1alpha1.GroupVersion.String() {
		return nil
	}
	return raw
}

// readScaler returns an object of any version as v1beta1, and as JSON; nil if it cannot be decoded.
func readScaler(content map[string]any, namespace string) (*v1beta1.TimeWindowScaler, []byte) {
	raw, err := json.Marshal(content)
	if err == nil && content["apiVersion"] == v1alpha1.GroupVersion.String() {
		raw, err = conversion.ToV1beta1(raw)
	}
	var scaler v1beta1.TimeWindowScaler
	if err != nil || json.Unmarshal(raw, &scaler) != nil {
		return nil, nil
	}
	scaler.Namespace = namespace
	return &scaler, raw
}

// readWorkspace returns nil if the object cannot be decoded; the API server has refused it.
func readWorkspace(content map[string]any, namespace string) *v1alpha1.Workspace {
	raw, err := json.Marshal(content)
	var workspace v1alpha1.Workspace
	if err != nil || json.Unmarshal(raw, &workspace) != nil {
		return nil
	}
	workspace.Namespace = namespace
	return &workspace
}

func (m *member) add(severity lint.Severity, rule lint.Rule, field, message string) {
	finding := lint.Finding{Severity: severity, Rule: rule, Object: m.object, Field: field, Message: message}
	if rule == lint.UnknownField || rule == lint.DuplicateField {
		finding.At, _ = m.object.KeyPosition(field)
	} else {
		finding.At, _ = m.object.Position(field)
	}
	m.findings = append(m.findings, finding)
}

// splitWarning takes the field from a warning of the API server: from "spec.timezone: Invalid value ...".
func splitWarning(warning string) (field, message string) {
	field, message, found := strings.Cut(warning, ": ")
	if found && slices.Contains([]string{"spec", "metadata", "status"}, strings.SplitN(field, ".", 2)[0]) && !strings.Contains(field, " ") {
		return field, message
	}
	return "", warning
}
