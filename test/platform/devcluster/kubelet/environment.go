package kubelet

import (
	"context"
	"fmt"
	"maps"
	"os"
	"slices"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	podresource "k8s.io/kubernetes/pkg/api/v1/resource"
	"k8s.io/kubernetes/pkg/fieldpath"
	"k8s.io/kubernetes/third_party/forked/golang/expansion"
)

// sources reads what pods are given from other objects.
type sources struct {
	client kubernetes.Interface
}

// optional forgives an object that may be missing.
func optional(err error, may *bool) error {
	if apierrors.IsNotFound(err) && may != nil && *may {
		return nil
	}
	return err
}

func (s sources) secret(ctx context.Context, namespace, name string, may *bool) (map[string][]byte, error) {
	secret, err := s.client.CoreV1().Secrets(namespace).Get(ctx, name, metav1.GetOptions{})
	if err != nil {
		return nil, optional(err, may)
	}
	return secret.Data, nil
}

func (s sources) configMap(ctx context.Context, namespace, name string, may *bool) (map[string][]byte, error) {
	config, err := s.client.CoreV1().ConfigMaps(namespace).Get(ctx, name, metav1.GetOptions{})
	if err != nil {
		return nil, optional(err, may)
	}
	all := maps.Clone(config.BinaryData)
	if all == nil {
		all = map[string][]byte{}
	}
	for key, value := range config.Data {
		all[key] = []byte(value)
	}
	return all, nil
}

// environment is a container's, by name, before mounts are put in terms of this machine. Besides what the
// pod sets, it has the host's PATH and the pod's name as HOSTNAME; nothing else of devcluster's own.
func (s sources) environment(ctx context.Context, pod *corev1.Pod, c *corev1.Container) (map[string]string, error) {
	env := map[string]string{"PATH": os.Getenv("PATH"), "HOSTNAME": pod.Name}
	for _, from := range c.EnvFrom {
		values, err := s.envFrom(ctx, pod, from)
		if err != nil {
			return nil, err
		}
		for key, value := range values {
			env[from.Prefix+key] = string(value)
		}
	}
	declared := map[string]string{}
	for _, variable := range c.Env {
		value, found := expansion.Expand(variable.Value, expansion.MappingFuncFor(declared, env)), true
		if variable.ValueFrom != nil {
			var err error
			if value, found, err = s.valueFrom(ctx, pod, c, variable.ValueFrom); err != nil {
				return nil, fmt.Errorf("variable %s: %w", variable.Name, err)
			}
		}
		if found {
			declared[variable.Name] = value
		}
	}
	maps.Copy(env, declared)
	return env, nil
}

func (s sources) envFrom(ctx context.Context, pod *corev1.Pod, from corev1.EnvFromSource) (map[string][]byte, error) {
	switch {
	case from.SecretRef != nil:
		return s.secret(ctx, pod.Namespace, from.SecretRef.Name, from.SecretRef.Optional)
	case from.ConfigMapRef != nil:
		return s.configMap(ctx, pod.Namespace, from.ConfigMapRef.Name, from.ConfigMapRef.Optional)
	}
	return nil, nil
}

func (s sources) valueFrom(ctx context.Context, pod *corev1.Pod, c *corev1.Container, from *corev1.EnvVarSource) (value string, found bool, err error) {
	var all map[string][]byte
	var key string
	var may *bool
	switch {
	case from.FieldRef != nil:
		value, err = field(pod, from.FieldRef.FieldPath)
		return value, true, err
	case from.ResourceFieldRef != nil:
		value, err = podresource.ExtractContainerResourceValue(from.ResourceFieldRef, c)
		return value, true, err
	case from.SecretKeyRef != nil:
		key, may = from.SecretKeyRef.Key, from.SecretKeyRef.Optional
		all, err = s.secret(ctx, pod.Namespace, from.SecretKeyRef.Name, may)
	case from.ConfigMapKeyRef != nil:
		key, may = from.ConfigMapKeyRef.Key, from.ConfigMapKeyRef.Optional
		all, err = s.configMap(ctx, pod.Namespace, from.ConfigMapKeyRef.Name, may)
	default:
		return "", false, fmt.Errorf("this node knows fields, resources, Secrets and ConfigMaps only")
	}
	content, found := all[key]
	if err == nil && !found && (may == nil || !*may) {
		err = fmt.Errorf("there is no key %q", key)
	}
	return string(content), found, err
}

// field is a field of the pod, as the downward API names it.
func field(pod *corev1.Pod, path string) (string, error) {
	switch path {
	case "spec.nodeName":
		return pod.Spec.NodeName, nil
	case "spec.serviceAccountName":
		return pod.Spec.ServiceAccountName, nil
	case "status.hostIP", "status.hostIPs", "status.podIP", "status.podIPs":
		return nodeAddress, nil
	}
	return fieldpath.ExtractFieldPathAsString(pod, path)
}

// lines are an environment's as a process takes it, with mounts in terms of this machine.
func lines(env map[string]string, inside paths) []string {
	var all []string
	for _, name := range slices.Sorted(maps.Keys(env)) {
		value := env[name]
		if name != "PATH" { // the host's own programs are what there is to run
			value = inside.host(value)
		}
		all = append(all, name+"="+value)
	}
	return all
}
