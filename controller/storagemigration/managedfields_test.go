package storagemigration

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

func entry(manager, operation, version, subresource, fields string, minute int) metav1.ManagedFieldsEntry {
	at := metav1.NewTime(noon.Add(time.Duration(minute) * time.Minute))
	return metav1.ManagedFieldsEntry{
		Manager: manager, Operation: metav1.ManagedFieldsOperationType(operation), APIVersion: "example/" + version,
		Subresource: subresource, FieldsType: "FieldsV1", FieldsV1: metav1.NewFieldsV1(fields), Time: &at,
	}
}

// Entries of versions that are not served, or not known, move; all others stay as they are. No manager loses a field, and
// no two entries are left that the API server takes for one.
func TestServedEntries(t *testing.T) {
	crd := thing()
	crd.Spec.Versions[0].Served = false
	type entries = []metav1.ManagedFieldsEntry
	status := entry("kyklos", "Update", "v2", "status", `{"f:status":{}}`, 1)
	for name, tc := range map[string]struct{ entries, want entries }{
		"none":       {nil, nil},
		"all served": {entries{status, entry("team", "Apply", "v2", "", `{"f:spec":{"f:a":{}}}`, 2)}, nil},
		"not served": {
			entries{entry("team", "Apply", "v1", "", `{"f:spec":{"f:a":{}}}`, 2), status},
			entries{entry("team", "Apply", "v2", "", `{"f:spec":{"f:a":{}}}`, 2), status},
		},
		"not known": {
			entries{entry("team", "Apply", "v0", "", `{"f:spec":{"f:a":{}}}`, 2)},
			entries{entry("team", "Apply", "v2", "", `{"f:spec":{"f:a":{}}}`, 2)},
		},
		"edited in both versions": {
			entries{entry("edit", "Update", "v1", "", `{"f:spec":{"f:a":{},"f:b":{}}}`, 3), status, entry("edit", "Update", "v2", "", `{"f:spec":{"f:b":{},"f:c":{}}}`, 2)},
			entries{entry("edit", "Update", "v2", "", `{"f:spec":{"f:a":{},"f:b":{},"f:c":{}}}`, 3), status},
		},
		"applied and edited": {
			entries{entry("team", "Apply", "v1", "", `{"f:a":{}}`, 1), entry("team", "Update", "v1", "", `{"f:b":{}}`, 1), entry("team", "Update", "v1", "status", `{"f:c":{}}`, 1)},
			entries{entry("team", "Apply", "v2", "", `{"f:a":{}}`, 1), entry("team", "Update", "v2", "", `{"f:b":{}}`, 1), entry("team", "Update", "v2", "status", `{"f:c":{}}`, 1)},
		},
		"unreadable": {
			entries{entry("edit", "Update", "v1", "", `{"f:a":{}}`, 1), entry("edit", "Update", "v2", "", `[`, 2)},
			entries{entry("edit", "Update", "v2", "", `{"f:a":{}}`, 2)},
		},
	} {
		if diff := cmp.Diff(tc.want, servedEntries(crd, "v2", tc.entries)); diff != "" {
			t.Errorf("%s: (-want +got)\n%s", name, diff)
		}
	}
}
