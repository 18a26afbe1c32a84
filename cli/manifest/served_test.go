package manifest_test

import (
	"testing"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"kyklos.io/kyklos/cli/manifest"
)

func TestUnserved(t *testing.T) {
	t.Parallel()
	served := []schema.GroupVersionKind{
		{Group: "kyklos.io", Version: "v1beta1", Kind: "TimeWindowScaler"}, {Group: "kyklos.io", Version: "v1alpha1", Kind: "TimeWindowScaler"},
		{Group: "kyklos.io", Version: "v1alpha1", Kind: "Workspace"}, {Group: "example.com", Version: "v1", Kind: "Thing"},
	}
	for kind, want := range map[[3]string]string{
		{"kyklos.io", "v1beta1", "TimeWindowScaler"}:  "",
		{"kyklos.io", "v1", "TimeWindowScaler"}:       "apiVersion: kyklos.io has no version v1: use kyklos.io/v1beta1",
		{"kyklos.io", "v1alpha2", "TimeWindowScaler"}: "apiVersion: kyklos.io has no version v1alpha2: use kyklos.io/v1beta1",
		{"kyklos.io", "v1beta1", "Workspace"}:         "apiVersion: Workspace has no version v1beta1: use kyklos.io/v1alpha1",
		{"kyklos.io", "v1beta1", "Timewindowscaler"}:  "kind: kyklos.io has no kind Timewindowscaler: use TimeWindowScaler",
		{"kyklos.io", "v1beta1", "timewindowscalers"}: "kind: kyklos.io has no kind timewindowscalers: use TimeWindowScaler",
		{"kyklos.io", "v1", "workspace"}:              "kind: kyklos.io has no kind workspace: use Workspace",
		{"kyklos.io", "v1beta1", "TimeWindowScalr"}:   "kind: kyklos.io has no kind TimeWindowScalr: use TimeWindowScaler or Workspace",
		{"example.com", "v1beta1", "Thing"}:           "apiVersion: example.com has no version v1beta1: use example.com/v1",
	} {
		why, ok := manifest.Unserved(schema.GroupVersionKind{Group: kind[0], Version: kind[1], Kind: kind[2]}, served)
		got := ""
		if ok {
			got = why.Error()
		}
		if got != want {
			t.Errorf("%s:\ngot  %s\nwant %s", kind, got, want)
		}
	}
}
