package admission_test

import (
	"testing"

	"k8s.io/apimachinery/pkg/runtime"

	"kyklos.io/kyklos/apis/v1alpha1"
	"kyklos.io/kyklos/internal/golden"
	"kyklos.io/kyklos/webhooks/admission"
)

func template(spec string) func(*v1alpha1.Workspace) {
	return func(w *v1alpha1.Workspace) {
		w.Spec.Template = &v1alpha1.PodTemplate{Spec: runtime.RawExtension{Raw: []byte(spec)}}
	}
}

func TestTemplates(t *testing.T) {
	const root, user = `{"securityContext":{"runAsUser":0}}`, `{"securityContext":{"runAsUser":2000}}`
	const clashes = `{"containers":[{"name":"workspace","command":["a"]}]}`
	atUser := "template-invalid spec.template.spec.securityContext.runAsUser: Forbidden"
	restoring := func(w *v1alpha1.Workspace) {
		w.Status.Operation = &v1alpha1.Operation{Type: v1alpha1.OperationRestoring}
	}
	command := func(w *v1alpha1.Workspace) { w.Spec.Command = []string{"b"} }
	held := func(content v1alpha1.VolumeContent) func(*v1alpha1.Workspace) {
		return func(w *v1alpha1.Workspace) { w.Status.Volume = &v1alpha1.VolumeStatus{Content: content} }
	}
	messages := golden.NewMessages(t)
	for name, tc := range map[string]struct {
		obj, old *v1alpha1.Workspace
		want     []string
	}{
		"new":                           {obj: workspace(template(user))},
		"a new one as root":             {obj: workspace(template(root)), want: []string{atUser}},
		"a change to root":              {obj: workspace(template(root)), old: workspace(), want: []string{atUser}},
		"stored, and left as it is":     {obj: workspace(template(root), idle(1, 2)), old: workspace(template(root))},
		"stored, and changed elsewhere": {obj: workspace(template(root), command), old: workspace(template(root)), want: []string{atUser}},
		"given up":                      {obj: workspace(), old: workspace(template(root))},
		"in both places": {obj: workspace(template(clashes), command), old: workspace(template(clashes)), want: []string{
			"template-invalid spec.template.spec.containers[0].command: Forbidden",
		}},
		"another user before the first home":    {obj: workspace(template(user)), old: workspace()},
		"another user on the volume":            {obj: workspace(template(user), in("STANDBY")), old: workspace(in("STANDBY")), want: []string{atUser}},
		"another user after an archive":         {obj: workspace(template(user), in("PENDING")), old: workspace(in("PENDING"))},
		"another user during a restore":         {obj: workspace(template(user), in("PENDING"), restoring), old: workspace(in("PENDING"), restoring), want: []string{atUser}},
		"another user in ERROR, with a home":    {obj: workspace(template(user), in("ERROR"), held("Restored")), old: workspace(in("ERROR")), want: []string{atUser}},
		"another user in ERROR, and adopted":    {obj: workspace(template(user), in("ERROR"), held("Adopted")), old: workspace(in("ERROR")), want: []string{atUser}},
		"another user in ERROR, without one":    {obj: workspace(template(user), in("ERROR"), held("Uninitialized")), old: workspace(in("ERROR"))},
		"another user in ERROR, with no volume": {obj: workspace(template(user), in("ERROR")), old: workspace(in("ERROR"))},
	} {
		t.Run(name, func(t *testing.T) {
			checkFindings(t, messages, name, admission.CheckWorkspace(tc.obj, tc.old, admission.WorkspaceFacts{}), tc.want)
		})
	}
}
