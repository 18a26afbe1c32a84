package admission_test

import (
	"strings"
	"testing"

	"kyklos.io/kyklos/apis/v1alpha1"
	"kyklos.io/kyklos/internal/golden"
	"kyklos.io/kyklos/webhooks/admission"
)

// workspace is an archived one or, with a phase, one in that phase.
func workspace(edits ...func(*v1alpha1.Workspace)) *v1alpha1.Workspace {
	obj := &v1alpha1.Workspace{}
	obj.Namespace, obj.Name = "shop", "dev"
	obj.Spec.DesiredState = v1alpha1.DesiredRunning
	obj.Spec.Image, obj.Spec.StandbyTTLSeconds, obj.Spec.ArchiveTTLSeconds = "ide:1.2", 300, 86400
	obj.Spec.Archive = &v1alpha1.WorkspaceArchive{StoreRef: v1alpha1.StoreRef{Name: "store"}, Retain: 1}
	for _, edit := range edits {
		edit(obj)
	}
	return obj
}

func in(phase v1alpha1.Phase) func(*v1alpha1.Workspace) {
	return func(w *v1alpha1.Workspace) { w.Status.Phase = phase }
}

func wanted(state v1alpha1.DesiredState) func(*v1alpha1.Workspace) {
	return func(w *v1alpha1.Workspace) { w.Spec.DesiredState = state }
}

func archivedIn(store string) func(*v1alpha1.Workspace) {
	return func(w *v1alpha1.Workspace) {
		w.Status.Phase, w.Status.ArchiveKey = "PENDING", "archives/1/2/home.tar.gz"
		w.Spec.Archive.StoreRef.Name = store
	}
}

func withoutArchive(w *v1alpha1.Workspace) { w.Spec.Archive = nil }

func idle(standby, archive int32) func(*v1alpha1.Workspace) {
	return func(w *v1alpha1.Workspace) {
		w.Spec.StandbyTTLSeconds, w.Spec.ArchiveTTLSeconds = standby, archive
	}
}

func TestWorkspaceWarnings(t *testing.T) {
	everything := func(w *v1alpha1.Workspace) {
		w.Spec.WorkspacePod = v1alpha1.WorkspacePod{
			Image: "ide:2", Command: []string{"a"}, Args: []string{"a"}, Env: []v1alpha1.EnvVar{{Name: "A"}}, Ports: []int32{1},
			Resources:    v1alpha1.Resources{Limits: v1alpha1.ResourceList{"cpu": "1"}},
			NodeSelector: map[string]v1alpha1.LabelValue{"a": "b"}, Tolerations: []v1alpha1.Toleration{{Key: "a"}},
			ServiceAccountName: "a", ImagePullSecrets: []v1alpha1.SecretRef{{Name: "a"}}, TerminationGracePeriodSeconds: 1,
			ReadinessProbe: &v1alpha1.Probe{},
		}
	}
	newImage := func(w *v1alpha1.Workspace) { w.Spec.Image = "ide:1.3" }
	none := admission.WorkspaceFacts{}
	messages := golden.NewMessages(t)
	for name, tc := range map[string]struct {
		obj, old *v1alpha1.Workspace
		facts    admission.WorkspaceFacts
		want     []string
	}{
		"nothing to say": {obj: workspace()},
		"the lot": {obj: workspace(idle(300, 60)), facts: admission.WorkspaceFacts{Unserved: "--namespaces", StoreMissing: true, ForeignPod: true, ForeignVolume: true}, want: []string{
			"namespace-not-served metadata.namespace",
			"name-taken metadata.name",
			"name-taken metadata.name",
			"store-missing spec.archive.storeRef.name",
			"archive-ttl spec.archiveTTLSeconds",
		}},
		"equal times":                  {obj: workspace(idle(300, 300))},
		"never archived":               {obj: workspace(idle(300, 0))},
		"never stopped":                {obj: workspace(idle(0, 60))},
		"new, and nothing to lose":     {obj: workspace(withoutArchive, wanted(v1alpha1.DesiredPending)), facts: none},
		"stopped without an archive":   {obj: workspace(withoutArchive, wanted(v1alpha1.DesiredStandby)), old: workspace(withoutArchive)},
		"no place to archive it in":    {obj: workspace(withoutArchive, wanted(v1alpha1.DesiredPending)), old: workspace(withoutArchive), want: []string{"archive-missing spec.desiredState"}},
		"another store":                {obj: workspace(archivedIn("new")), old: workspace(archivedIn("store")), want: []string{"store-changed spec.archive.storeRef.name"}},
		"another store, with a volume": {obj: workspace(archivedIn("new"), in("STANDBY")), old: workspace(archivedIn("store"), in("STANDBY"))},
		"the same store":               {obj: workspace(archivedIn("store"), idle(0, 0)), old: workspace(archivedIn("store"))},
		"its first store":              {obj: workspace(archivedIn("store")), old: workspace(withoutArchive)},
		"while it runs":                {obj: workspace(in("RUNNING"), newImage), old: workspace(in("RUNNING")), want: []string{"next-start spec"}},
		"everything while it runs":     {obj: workspace(in("RUNNING"), everything), old: workspace(in("RUNNING")), want: []string{"next-start spec"}},
		"while it is stopped":          {obj: workspace(in("RUNNING"), newImage, wanted(v1alpha1.DesiredStandby)), old: workspace(in("RUNNING"))},
		"while it stands by":           {obj: workspace(in("STANDBY"), newImage), old: workspace(in("STANDBY"))},
		"what changes at once":         {obj: workspace(in("RUNNING"), idle(1, 1)), old: workspace(in("RUNNING"))},
		"an empty list for none":       {obj: workspace(in("RUNNING"), func(w *v1alpha1.Workspace) { w.Spec.Args = []string{} }), old: workspace(in("RUNNING"))},
	} {
		t.Run(name, func(t *testing.T) {
			checkFindings(t, messages, name, admission.CheckWorkspace(tc.obj, tc.old, tc.facts), tc.want)
		})
	}
}

// The longest names leave every warning short enough not to be cut.
func TestWorkspaceWarningsAreShort(t *testing.T) {
	long := strings.Repeat("a", 253)
	old := workspace(archivedIn(long))
	obj := workspace(archivedIn("b"+long[1:]), idle(1<<30+1, 1<<30))
	obj.Namespace, obj.Name = long[:63], long[:50]
	facts := admission.WorkspaceFacts{Unserved: "--workspace-namespaces", StoreMissing: true, ForeignPod: true, ForeignVolume: true}
	warnings := admission.CheckWorkspace(obj, old, facts).Warnings()
	if len(warnings) != 6 {
		t.Errorf("%q", warnings)
	}
	for _, warning := range warnings {
		if len(warning) > 250 {
			t.Errorf("%d bytes: %s", len(warning), warning)
		}
	}
}
