package objects

import (
	"fmt"
	"strconv"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"kyklos.io/kyklos/internal/archive"
)

// leastMemory is what a mover needs: four parts of an upload are 128 MiB, and the program and its buffers come on top.
const leastMemory = 256 << 20

// DefaultMoverResources are a mover's requests and limits. Both have CPU and memory, since a quota rejects Pods without them.
func DefaultMoverResources() corev1.ResourceRequirements {
	return corev1.ResourceRequirements{
		Requests: corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("250m"), corev1.ResourceMemory: resource.MustParse("256Mi")},
		Limits:   corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("4"), corev1.ResourceMemory: resource.MustParse("2Gi")},
	}
}

// leastWatcherMemory is what a watcher needs, and one probe of it beside: each is a process of the whole program.
const leastWatcherMemory = 64 << 20

// DefaultWatcherResources are enough for the watcher and one probe of it.
func DefaultWatcherResources() corev1.ResourceRequirements {
	return corev1.ResourceRequirements{
		Requests: corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("5m"), corev1.ResourceMemory: resource.MustParse("32Mi")},
		Limits:   corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("200m"), corev1.ResourceMemory: resource.MustParse("128Mi")},
	}
}

// ValidateMoverResources checks the resources of movers and names the flags that set them (W55).
func ValidateMoverResources(r corev1.ResourceRequirements) error {
	return validateResources(r, "--mover-requests", "--mover-limits", leastMemory, "four parts of an upload are 128Mi")
}

// ValidateWatcherResources checks the resources of watchers and names the flags that set them (W105).
func ValidateWatcherResources(r corev1.ResourceRequirements) error {
	return validateResources(r, "--activity-requests", "--activity-limits", leastWatcherMemory, "the container and its probe are two processes")
}

func validateResources(r corev1.ResourceRequirements, requests, limits string, least int64, why string) error {
	for _, name := range []corev1.ResourceName{corev1.ResourceCPU, corev1.ResourceMemory, corev1.ResourceEphemeralStorage} {
		request, limit := r.Requests[name], r.Limits[name]
		if _, limited := r.Limits[name]; limited && request.Cmp(limit) > 0 {
			return fmt.Errorf("%s: %s must not exceed %s of %s, but is %s", requests, name, limit.String(), limits, request.String())
		}
	}
	if memory, limited := r.Limits[corev1.ResourceMemory]; limited && memory.Value() < least {
		return fmt.Errorf("%s: memory must be at least %s, not %s: %s", limits, resource.NewQuantity(least, resource.BinarySI), memory.String(), why)
	}
	return nil
}

// FitsMemory checks that a mover can hold the parts of an upload, which are longer for volumes over 300 GiB (ADR 14).
func FitsMemory(r corev1.ResourceRequirements, partSize int64) error {
	memory, limited := r.Limits[corev1.ResourceMemory]
	need := leastMemory + archive.PartsInMemory*(partSize-archive.PartSize)
	if !limited || memory.Value() >= need {
		return nil
	}
	return fmt.Errorf("a mover for a volume of this size needs %s of memory: raise memory in --mover-limits of the manager, which is %s",
		resource.NewQuantity(need, resource.BinarySI), memory.String())
}

// moverEnv tells the Go runtime the memory limit, so that garbage is collected before the kernel ends the mover.
func moverEnv(r corev1.ResourceRequirements) []corev1.EnvVar {
	memory, limited := r.Limits[corev1.ResourceMemory]
	if !limited {
		return nil
	}
	return []corev1.EnvVar{{Name: "GOMEMLIMIT", Value: strconv.FormatInt(memory.Value()/10*9, 10)}}
}
