package podtemplate

import (
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// shortForm refuses what is given in the short form and in the template: neither of them should win silently.
func (c *checker) shortForm() {
	const twice = "must be left out, or else %s: it is given in both places"
	if c.ws.ServiceAccountName != "" && c.spec.ServiceAccountName != "" {
		c.forbid(c.at.Child("serviceAccountName"), twice, "spec.serviceAccountName")
	}
	for _, key := range slices.Sorted(maps.Keys(c.spec.NodeSelector)) {
		if _, both := c.ws.NodeSelector[key]; both {
			c.forbid(c.at.Child("nodeSelector").Key(key), twice, "spec.nodeSelector["+key+"]")
		}
	}
	c.eachContainer(func(at *field.Path, container *corev1.Container, _ bool) {
		if container.Name != Container {
			return
		}
		if len(container.Command) > 0 && len(c.ws.Command) > 0 {
			c.forbid(at.Child("command"), twice, "spec.command")
		}
		if len(container.Args) > 0 && len(c.ws.Args) > 0 {
			c.forbid(at.Child("args"), twice, "spec.args")
		}
		if container.ReadinessProbe != nil && c.ws.ReadinessProbe != nil {
			c.forbid(at.Child("readinessProbe"), twice, "spec.readinessProbe")
		}
		short := map[string]bool{}
		for _, variable := range c.ws.Env {
			short[variable.Name] = true
		}
		for i, variable := range container.Env {
			if short[variable.Name] {
				c.forbid(at.Child("env").Index(i), "must be left out, or else the variable %s in spec.env: it is given in both places", variable.Name)
			}
		}
	})
}
