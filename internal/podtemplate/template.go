package podtemplate

import (
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"kyklos.io/kyklos/apis/v1alpha1"
)

const (
	// Container is the name of the workspace's own container.
	Container = "workspace"
	// Home is the name of the volume with the home, and of the home's folder on it.
	Home = "home"
	// reserved begins the names of containers and volumes that Kyklos adds.
	reserved = "kyklos-"
)

// Template is what a Workspace's Pod is made of, besides the short form. The workspace's own container may be missing.
type Template struct {
	Labels, Annotations map[string]string
	// Spec has Kyklos' defaults. It is the caller's own.
	Spec corev1.PodSpec
}

// Read returns the template, or all that is wrong with it (W88, W89).
func Read(ws *v1alpha1.WorkspaceSpec) (Template, field.ErrorList) {
	given := v1alpha1.PodTemplate{}
	if ws.Template != nil {
		given = *ws.Template
	}
	spec, errs := decode(given.Spec.Raw)
	if len(errs) > 0 {
		return Template{}, errs
	}
	c := checker{ws: ws, spec: &spec, at: field.NewPath("spec", "template", "spec")}
	c.metadata(field.NewPath("spec", "template", "metadata"), given.Metadata.Annotations, given.Metadata.Labels)
	c.pod()
	c.volumes()
	c.containers()
	c.processes()
	c.secrets()
	c.shortForm()
	secure(&spec)
	c.restricted(&metav1.ObjectMeta{Labels: given.Metadata.Labels, Annotations: given.Metadata.Annotations})
	if len(c.errs) > 0 {
		return Template{}, c.errs
	}
	return Template{Labels: given.Metadata.Labels, Annotations: given.Metadata.Annotations, Spec: spec}, nil
}

// Placement returns what a mover has in common with the workspace's Pod: where it can run, and as which user. A mover can be the
// first to use the volume and so determine its zone, and it must be able to read the home (W75, W90). A template with mistakes,
// which can be older than the rules, does not keep a home from being archived.
func Placement(ws *v1alpha1.WorkspaceSpec) corev1.PodSpec {
	spec := lenient(ws)
	placed := corev1.PodSpec{
		NodeSelector: spec.NodeSelector, Tolerations: spec.Tolerations, SchedulerName: spec.SchedulerName, RuntimeClassName: spec.RuntimeClassName,
		ImagePullSecrets: spec.ImagePullSecrets, SecurityContext: spec.SecurityContext,
	}
	// Other Pods come and go: a mover that waited for one, or kept away from one, might never run.
	if spec.Affinity != nil && spec.Affinity.NodeAffinity != nil {
		placed.Affinity = &corev1.Affinity{NodeAffinity: spec.Affinity.NodeAffinity}
	}
	if placed.SecurityContext != nil && !allowed(placed.SecurityContext) {
		placed.SecurityContext = nil
	}
	placed.SecurityContext = security(placed.SecurityContext)
	return placed
}

// Resources are the requests and limits of the template's containers.
func Resources(ws *v1alpha1.WorkspaceSpec) (all []corev1.ResourceList) {
	spec := lenient(ws)
	for container := range Containers(&spec) {
		all = append(all, container.Resources.Requests, container.Resources.Limits)
	}
	return all
}

// User is the user of the workspace and its movers, who owns the home.
func User(ws *v1alpha1.WorkspaceSpec) int64 { return *Placement(ws).SecurityContext.RunAsUser }
