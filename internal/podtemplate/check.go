package podtemplate

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"kyklos.io/kyklos/apis/v1alpha1"
)

// checker collects what is wrong with a template.
type checker struct {
	ws   *v1alpha1.WorkspaceSpec
	spec *corev1.PodSpec
	at   *field.Path
	errs field.ErrorList
}

func (c *checker) forbid(at *field.Path, format string, args ...any) {
	c.errs = append(c.errs, field.Forbidden(at, fmt.Sprintf(format, args...)))
}

func (c *checker) refuse(at *field.Path, value any, format string, args ...any) {
	c.errs = append(c.errs, field.Invalid(at, value, fmt.Sprintf(format, args...)))
}

func (c *checker) require(at *field.Path, format string, args ...any) {
	c.errs = append(c.errs, field.Required(at, fmt.Sprintf(format, args...)))
}

// metadata checks annotations and labels. By some of them Kyklos knows its objects.
func (c *checker) metadata(at *field.Path, annotations, labels map[string]string) {
	for _, part := range []struct {
		name  string
		marks map[string]string
	}{{"annotations", annotations}, {"labels", labels}} {
		at := at.Child(part.name)
		for _, key := range slices.Sorted(maps.Keys(part.marks)) {
			prefix, _, _ := strings.Cut(key, "/")
			switch {
			case key == "app.kubernetes.io/managed-by", prefix == "kyklos.io", strings.HasSuffix(prefix, ".kyklos.io"):
				c.forbid(at.Key(key), "must be left out: Kyklos sets app.kubernetes.io/managed-by and what begins with kyklos.io/")
			case len(validation.IsQualifiedName(key)) > 0:
				c.refuse(at.Key(key), key, "must be up to 63 letters, digits, '-', '_' and '.', beginning and ending with a letter or digit; example.com/ may stand before it")
			case part.name == "labels" && len(validation.IsValidLabelValue(part.marks[key])) > 0:
				c.refuse(at.Key(key), part.marks[key], "must be up to 63 letters, digits, '-', '_' and '.', beginning and ending with a letter or digit, or empty")
			}
		}
	}
}

// pod refuses what would take the Pod out of Kyklos' hands.
func (c *checker) pod() {
	spec := c.spec
	for _, f := range []struct {
		name string
		is   bool
		why  string
	}{
		{"hostNetwork", spec.HostNetwork, "must not be true: a workspace has the network of its Pod, and a Service leads to its ports"},
		{"hostPID", spec.HostPID, "must not be true: a workspace sees its own processes only; shareProcessNamespace shows those of its Pod"},
		{"hostIPC", spec.HostIPC, "must not be true: a workspace shares no memory with its node"},
		{"terminationGracePeriodSeconds", spec.TerminationGracePeriodSeconds != nil, "must be left out: set spec.terminationGracePeriodSeconds"},
		{"activeDeadlineSeconds", spec.ActiveDeadlineSeconds != nil, "must be left out: the Pod would end while the workspace is wanted; spec.standbyTTLSeconds or a schedule stops it"},
		{"restartPolicy", spec.RestartPolicy != "" && spec.RestartPolicy != corev1.RestartPolicyAlways, "must be Always or left out: Kyklos stops the Pod, and a container that ends is started again"},
		{"nodeName", spec.NodeName != "", "must be left out: choose nodes by nodeSelector or affinity"},
		{"ephemeralContainers", len(spec.EphemeralContainers) > 0, "must be left out: kubectl debug adds them to a running Pod"},
		{"overhead", len(spec.Overhead) > 0, "must be left out: Kubernetes takes it from runtimeClassName"},
		{"priority", spec.Priority != nil, "must be left out: Kubernetes takes it from priorityClassName"},
		{"serviceAccount", spec.DeprecatedServiceAccount != "", "must be left out: use serviceAccountName"},
		{"os", spec.OS != nil && spec.OS.Name != corev1.Linux, "must be linux or left out: movers run on Linux"},
	} {
		if f.is {
			c.forbid(c.at.Child(f.name), "%s", f.why)
		}
	}
	if s := spec.SecurityContext; s != nil {
		at := c.at.Child("securityContext")
		c.group(at.Child("runAsGroup"), s.RunAsGroup)
		c.group(at.Child("fsGroup"), s.FSGroup)
		for i := range s.SupplementalGroups {
			c.group(at.Child("supplementalGroups").Index(i), &s.SupplementalGroups[i])
		}
	}
}

// group refuses the group root, which the Pod Security Standard does not know.
func (c *checker) group(at *field.Path, id *int64) {
	if id != nil && *id < 1 {
		c.refuse(at, *id, "must be at least 1: 0 is the group of root")
	}
}

// name checks the name of a container or a volume; seen are those before it.
func (c *checker) name(at *field.Path, name string, seen map[string]bool) {
	switch {
	case name == "":
		c.require(at, "must be given: lower-case letters, digits and '-', such as git")
	case len(validation.IsDNS1123Label(name)) > 0:
		c.refuse(at, name, "must be up to 63 lower-case letters, digits and '-', beginning and ending with a letter or digit")
	case strings.HasPrefix(name, reserved):
		c.refuse(at, name, "must not begin with %s: Kyklos adds containers and volumes with such names", reserved)
	case seen[name]:
		c.errs = append(c.errs, field.Duplicate(at, name))
	}
	seen[name] = true
}
