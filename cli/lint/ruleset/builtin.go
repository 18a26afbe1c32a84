package ruleset

import (
	appsv1 "k8s.io/api/apps/v1"
	autoscalingv1 "k8s.io/api/autoscaling/v1"
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// builtInKind is a kind that every cluster has.
type builtInKind struct {
	name              string
	namespaced, scale bool
}

// builtIn are the kinds that every cluster supported by Kyklos has. In groups without a dot these are all: no
// CustomResourceDefinition can add to them. Other groups may have further kinds.
var builtIn = []struct {
	version schema.GroupVersion
	kinds   []builtInKind
}{
	{appsv1.SchemeGroupVersion, []builtInKind{
		{"ControllerRevision", true, false}, {"DaemonSet", true, false}, {"Deployment", true, true}, {"ReplicaSet", true, true}, {"StatefulSet", true, true},
	}},
	{corev1.SchemeGroupVersion, []builtInKind{
		{"ComponentStatus", false, false}, {"ConfigMap", true, false}, {"Endpoints", true, false}, {"Event", true, false}, {"LimitRange", true, false},
		{"Namespace", false, false}, {"Node", false, false}, {"PersistentVolume", false, false}, {"PersistentVolumeClaim", true, false},
		{"Pod", true, false}, {"PodTemplate", true, false}, {"ReplicationController", true, true}, {"ResourceQuota", true, false},
		{"Secret", true, false}, {"Service", true, false}, {"ServiceAccount", true, false}, {"Binding", true, false},
	}},
	{batchv1.SchemeGroupVersion, []builtInKind{{"CronJob", true, false}, {"Job", true, false}}},
	{autoscalingv1.SchemeGroupVersion, []builtInKind{{"HorizontalPodAutoscaler", true, false}}},
	{autoscalingv2.SchemeGroupVersion, []builtInKind{{"HorizontalPodAutoscaler", true, false}}},
	{policyv1.SchemeGroupVersion, []builtInKind{{"PodDisruptionBudget", true, false}}},
	{v1Of("admissionregistration.k8s.io"), []builtInKind{
		{"MutatingWebhookConfiguration", false, false}, {"ValidatingWebhookConfiguration", false, false},
		{"ValidatingAdmissionPolicy", false, false}, {"ValidatingAdmissionPolicyBinding", false, false},
	}},
	{v1Of("apiextensions.k8s.io"), []builtInKind{{"CustomResourceDefinition", false, false}}},
	{v1Of("apiregistration.k8s.io"), []builtInKind{{"APIService", false, false}}},
	{v1Of("authentication.k8s.io"), []builtInKind{{"SelfSubjectReview", false, false}, {"TokenReview", false, false}}},
	{v1Of("authorization.k8s.io"), []builtInKind{
		{"LocalSubjectAccessReview", true, false}, {"SelfSubjectAccessReview", false, false}, {"SelfSubjectRulesReview", false, false},
		{"SubjectAccessReview", false, false},
	}},
	{v1Of("certificates.k8s.io"), []builtInKind{{"CertificateSigningRequest", false, false}}},
	{v1Of("coordination.k8s.io"), []builtInKind{{"Lease", true, false}}},
	{v1Of("discovery.k8s.io"), []builtInKind{{"EndpointSlice", true, false}}},
	{v1Of("events.k8s.io"), []builtInKind{{"Event", true, false}}},
	{v1Of("flowcontrol.apiserver.k8s.io"), []builtInKind{{"FlowSchema", false, false}, {"PriorityLevelConfiguration", false, false}}},
	{v1Of("networking.k8s.io"), []builtInKind{
		{"IPAddress", false, false}, {"Ingress", true, false}, {"IngressClass", false, false}, {"NetworkPolicy", true, false},
		{"ServiceCIDR", false, false},
	}},
	{v1Of("node.k8s.io"), []builtInKind{{"RuntimeClass", false, false}}},
	{v1Of("rbac.authorization.k8s.io"), []builtInKind{
		{"ClusterRole", false, false}, {"ClusterRoleBinding", false, false}, {"Role", true, false}, {"RoleBinding", true, false},
	}},
	{v1Of("scheduling.k8s.io"), []builtInKind{{"PriorityClass", false, false}}},
	{v1Of("storage.k8s.io"), []builtInKind{
		{"CSIDriver", false, false}, {"CSINode", false, false}, {"CSIStorageCapacity", true, false}, {"StorageClass", false, false},
		{"VolumeAttachment", false, false},
	}},
}

func v1Of(group string) schema.GroupVersion { return schema.GroupVersion{Group: group, Version: "v1"} }
