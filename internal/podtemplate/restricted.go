package podtemplate

import (
	"strings"
	"sync"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/pod-security-admission/api"
	"k8s.io/pod-security-admission/policy"
)

var evaluator = sync.OnceValue(func() policy.Evaluator {
	all, err := policy.NewEvaluator(policy.DefaultChecks(), nil)
	if err != nil {
		panic(err) // about the library's own checks
	}
	return all
})

// violations are what Kubernetes' own checks of the restricted Pod Security Standard say.
func violations(meta *metav1.ObjectMeta, spec *corev1.PodSpec) (all []policy.CheckResult) {
	level := api.LevelVersion{Level: api.LevelRestricted, Version: api.LatestVersion()}
	for _, result := range evaluator().EvaluatePod(level, meta, spec) {
		if !result.Allowed {
			all = append(all, result)
		}
	}
	return all
}

// allowed reports whether a Pod may have this security context.
func allowed(given *corev1.PodSecurityContext) bool {
	return len(violations(&metav1.ObjectMeta{}, &corev1.PodSpec{SecurityContext: security(given)})) == 0
}

// remedies are the field of each violation and what would be right, by the reason that the checks give.
var remedies = map[string]struct{ child, right string }{
	"privileged":                        {"securityContext.privileged", "leave it out"},
	"allowPrivilegeEscalation != false": {"securityContext.allowPrivilegeEscalation", "leave it out: it is false"},
	"unrestricted capabilities":         {"securityContext.capabilities", "drop ALL, and add NET_BIND_SERVICE at most"},
	"non-default capabilities":          {"securityContext.capabilities", "drop ALL, and add NET_BIND_SERVICE at most"},
	"runAsNonRoot != true":              {"securityContext.runAsNonRoot", "leave it out: it is true"},
	"runAsUser=0":                       {"securityContext.runAsUser", "use another user, such as 1000"},
	"seccompProfile":                    {"securityContext.seccompProfile", "leave it out: it is RuntimeDefault"},
	"seLinuxOptions":                    {"securityContext.seLinuxOptions", "leave out user and role, and use a type for containers"},
	"procMount":                         {"securityContext.procMount", "leave it out"},
	"forbidden sysctls":                 {"securityContext.sysctls", "use only those that every Pod may set"},
	"forbidden AppArmor profile":        {"securityContext.appArmorProfile", "use RuntimeDefault or Localhost"},
	"forbidden AppArmor profiles":       {"securityContext.appArmorProfile", "use RuntimeDefault or Localhost"},
	"hostPort":                          {"ports", "leave out hostPort: a Service leads to the port"},
	"hostProcess":                       {"securityContext.windowsOptions", "leave it out"},
	"probe or lifecycle host":           {"", "leave out host: probes and handlers call the Pod"},
	"restricted volume types":           {"", "use configMap, csi, downwardAPI, emptyDir, ephemeral, image, persistentVolumeClaim, projected or secret"},
}

// restricted judges each part alone, beside parts that are right, so that every violation has its place.
func (c *checker) restricted(meta *metav1.ObjectMeta) {
	whole := *c.spec
	whole.Containers, whole.InitContainers, whole.EphemeralContainers, whole.Volumes = nil, nil, nil, nil
	whole.HostNetwork, whole.HostPID, whole.HostIPC = false, false, false // checker.pod refuses them by name
	whole.HostUsers = nil                                                 // with a user namespace root would be allowed, and its files in the home are root's
	c.violations(c.at, meta, &whole)
	none := &metav1.ObjectMeta{}
	for i, volume := range c.spec.Volumes {
		c.violations(c.at.Child("volumes").Index(i), none, &corev1.PodSpec{SecurityContext: security(nil), Volumes: []corev1.Volume{volume}})
	}
	c.eachContainer(func(at *field.Path, container *corev1.Container, _ bool) {
		c.violations(at, none, &corev1.PodSpec{SecurityContext: security(nil), Containers: []corev1.Container{*container}})
	})
}

func (c *checker) violations(at *field.Path, meta *metav1.ObjectMeta, spec *corev1.PodSpec) {
	for _, found := range violations(meta, spec) {
		remedy := remedies[found.ForbiddenReason]
		where := at
		if remedy.child != "" {
			where = at.Child(remedy.child)
		}
		detail := found.ForbiddenDetail
		if detail == "" {
			detail = found.ForbiddenReason
		}
		message := "the restricted Pod Security Standard does not allow it: " + strings.TrimSuffix(detail, ".")
		if remedy.right != "" {
			message += "; " + remedy.right
		}
		c.errs = append(c.errs, field.Forbidden(where, message))
	}
}
