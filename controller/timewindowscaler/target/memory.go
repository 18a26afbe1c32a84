package target

import (
	"k8s.io/apimachinery/pkg/runtime/schema"

	"kyklos.io/kyklos/apis/v1beta1"
	"kyklos.io/kyklos/controller/timewindowscaler/newest"
	"kyklos.io/kyklos/internal/targetkind"
)

// Memory is what is remembered of one scaler's target from pass to pass. Its Target is nil if the object is
// being deleted.
type Memory struct {
	newest.Object[Target]
	kind schema.GroupVersionKind
	name string
}

// follow forgets the target if the spec names another one.
func (m *Memory) follow(ref v1beta1.TargetRef, versionsOnly bool) {
	if kind := targetkind.Of(ref); m.kind != kind || m.name != ref.Name {
		*m = Memory{kind: kind, name: ref.Name}
		m.VersionsOnly = versionsOnly
	}
}

// Kind is the kind of the target; empty if it was never read.
func (m *Memory) Kind() schema.GroupKind { return m.kind.GroupKind() }

// Wrote takes the target as the API server returned it for a write.
func (m *Memory) Wrote(written Target) { m.Answered(asSeen(written)) }

func asSeen(t Target) newest.State[Target] {
	return newest.State[Target]{UID: t.Base().UID, ResourceVersion: t.Base().ResourceVersion, Value: t}
}
