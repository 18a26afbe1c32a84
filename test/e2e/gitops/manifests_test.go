package gitops

import "fmt"

func namespace(name string) string {
	return "apiVersion: v1\nkind: Namespace\nmetadata:\n  name: " + name + "\n---\n"
}

// deployment is a Deployment with these replicas, or none for "".
func deployment(name, replicas, image string) string {
	if replicas != "" {
		replicas = "\n  replicas: " + replicas
	}
	return fmt.Sprintf(`apiVersion: apps/v1
kind: Deployment
metadata:
  name: %[1]s
spec:%[2]s
  selector:
    matchLabels: {app: %[1]s}
  template:
    metadata:
      labels: {app: %[1]s}
    spec:
      containers:
      - {name: web, image: %[3]q}
---
`, name, replicas, image)
}

func daemonSet(name string) string {
	return fmt.Sprintf(`apiVersion: apps/v1
kind: DaemonSet
metadata:
  name: %[1]s
spec:
  selector:
    matchLabels: {app: %[1]s}
  template:
    metadata:
      labels: {app: %[1]s}
    spec:
      nodeSelector: {kubernetes.io/os: linux}
      containers:
      - {name: agent, image: "agent:1"}
---
`, name)
}

// scaling is a TimeWindowScaler of a target with its own name: count replicas from 09:00 to 17:00, and others otherwise.
// more are further lines of the spec.
func scaling(version, kind, name string, others, count int, more string) string {
	return fmt.Sprintf(`apiVersion: kyklos.io/%s
kind: TimeWindowScaler
metadata:
  name: %[3]s
spec:
  targetRef: {kind: %[2]s, name: %[3]s}
  timezone: UTC
  defaultReplicas: %[4]d
%[6]s
  windows:
  - {days: [Mon, Tue, Wed, Thu, Fri, Sat, Sun], start: "09:00", end: "17:00", replicas: %[5]d}
---
`, version, kind, name, others, count, more)
}
