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

// identity is what makes two objects the same one; versions do not matter.
type identity struct {
	schema.GroupKind
	types.NamespacedName
}

// member is an object of the set with what is known of it.
type member struct {
	object *manifest.Object
	at     identity
	// index counts the objects of the set in the order in which they are applied.
	index int // also its age among new objects: what comes later is younger
	// old is what the object replaces, nil if it is new; stored says that it is from a cluster. before is what
	// it says with defaults, if the API server's verdict is known.
	old    *manifest.Object
	stored bool
	before map[string]any
	// judged says that the API server's verdict is known, refused that it is no, and seen is what it then
	// hands to webhooks.
	judged, refused bool
	seen            map[string]any

	scaler, oldScaler       *v1beta1.TimeWindowScaler
	hub, oldHub             []byte // both as JSON
	workspace, oldWorkspace *v1alpha1.Workspace

	findings []lint.Finding
}

// writtenAt is an object in a file: each overlay may have one of the same name.
type writtenAt struct {
	identity
	path string
}

// membersOf pairs objects with what they replace: an earlier one of them, or one of options.Old, that of the same file if there are several.
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
			earlier[m.at] = object // what comes later replaces this
		}
		members = append(members, m)
	}
	return members
}

// identify leaves the version out: an object is the same in each version of its group.
func identify(object *manifest.Object, namespace string) identity {
	return identity{object.GroupVersionKind().GroupKind(), object.Key(namespace)}
}

// isScaler and isWorkspace go by group and kind: what is wrong with the version has been said.
func (m *member) isScaler() bool { return m.at.GroupKind == v1beta1.GroupKind }

func (m *member) isWorkspace() bool { return m.at.GroupKind == targetkind.Workspace.GroupKind() }

// read decodes what webhooks see, or without that what the manifest says, if it can be decoded.
func (m *member) read() {
	seen := m.seen
	if seen == nil {
		seen = m.object.Object
	}
	switch {
	case m.isScaler():
		if m.old != nil {
			m.oldScaler, m.oldHub = readScaler(m.before, m.at.Namespace)
			seen = carry(seen, m.oldHub)
		}
		m.scaler, m.hub = readScaler(seen, m.at.Namespace)
	case m.isWorkspace():
		m.workspace = readWorkspace(seen, m.at.Namespace)
		if m.old != nil {
			m.oldWorkspace = readWorkspace(m.before, m.at.Namespace)
		}
	}
}

// carry gives a manifest of v1alpha1 the annotation in which what it cannot say is kept: who applies the
// manifest leaves the annotation of the stored object as it is.
func carry(seen map[string]any, hub []byte) map[string]any {
	if seen["apiVersion"] != v1alpha1.GroupVersion.String() || hub == nil {
		return seen
	}
	spoke, err := conversion.ToV1alpha1(hub)
	if err != nil {
		return seen
	}
	var before, after unstructured.Unstructured
	if before.UnmarshalJSON(spoke) != nil {
		return seen
	}
	after.Object = runtime.DeepCopyJSON(seen)
	annotations := after.GetAnnotations()
	kept, carries := before.GetAnnotations()[conversion.Annotation]
	if _, own := annotations[conversion.Annotation]; own || !carries {
		return seen
	}
	if annotations == nil {
		annotations = make(map[string]string)
	}
	annotations[conversion.Annotation] = kept
	after.SetAnnotations(annotations)
	return after.Object
}

// readScaler returns an object of any version as v1beta1, also as JSON; nil if it cannot be read.
func readScaler(content map[string]any, namespace string) (*v1beta1.TimeWindowScaler, []byte) {
	raw, err := json.Marshal(content)
	if err != nil {
		return nil, nil
	}
	if content["apiVersion"] == v1alpha1.GroupVersion.String() {
		if raw, err = conversion.ToV1beta1(raw); err != nil {
			return nil, nil
		}
	}
	var scaler v1beta1.TimeWindowScaler
	if json.Unmarshal(raw, &scaler) != nil {
		return nil, nil
	}
	scaler.Namespace = namespace
	return &scaler, raw
}

// readWorkspace returns nil if the object cannot be read; then the API server's verdict has said why.
func readWorkspace(content map[string]any, namespace string) *v1alpha1.Workspace {
	raw, err := json.Marshal(content)
	if err != nil {
		return nil
	}
	var workspace v1alpha1.Workspace
	if json.Unmarshal(raw, &workspace) != nil {
		return nil
	}
	workspace.Namespace = namespace
	return &workspace
}

// add notes a finding.
func (m *member) add(severity lint.Severity, rule lint.Rule, field, message string) {
	finding := lint.Finding{Severity: severity, Rule: rule, Object: m.object, Field: field, Message: message}
	if rule == lint.UnknownField || rule == lint.DuplicateField {
		finding.At, _ = m.object.KeyPosition(field)
	} else {
		finding.At, _ = m.object.Position(field)
	}
	m.findings = append(m.findings, finding)
}

// warn notes a warning of an API server or a webhook, which begins with the field that it is about.
func (m *member) warn(rule lint.Rule, warning string) {
	field, message := splitWarning(warning)
	m.add(lint.Warning, rule, field, message)
}

// splitWarning takes the field from the front of a warning: from "spec.timezone: EST is ..." and from
// "spec.windows[0] (Mon 09:00-17:00) never takes effect" alike. One that names none is returned as it is.
func splitWarning(warning string) (field, message string) {
	if !slices.ContainsFunc([]string{"spec.", "metadata.", "status."}, func(root string) bool { return strings.HasPrefix(warning, root) }) {
		return "", warning
	}
	field, message, found := strings.Cut(warning, " ")
	if !found {
		return "", warning
	}
	return strings.TrimSuffix(field, ":"), message
}
