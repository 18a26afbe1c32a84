package objects

import (
	"fmt"
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	"kyklos.io/kyklos/apis/v1alpha1"
)

// ServiceName returns the name of the Workspace's Service, which is that of its Pod. It begins with a letter, as a Service's name must,
// whatever the Workspace's name begins with.
func ServiceName(workspace string) string { return PodName(workspace) }

// Address is where the first port of the Workspace is reached within the cluster; "" without ports.
func Address(ws *v1alpha1.Workspace) string {
	if len(ws.Spec.Ports) == 0 {
		return ""
	}
	return fmt.Sprintf("%s.%s.svc:%d", ServiceName(ws.Name), ws.Namespace, ws.Spec.Ports[0])
}

// Service returns the Workspace's Service. It stays while the Workspace is stopped, and so do its name and its address.
func Service(ws *v1alpha1.Workspace) *corev1.Service {
	service, _ := MendService(ws, &corev1.Service{ObjectMeta: metav1.ObjectMeta{Namespace: ws.Namespace, Name: ServiceName(ws.Name)}})
	return service
}

// OurService reports whether the Service belongs to this Workspace: by its controller or, if somebody removed that, by its label (W107).
func OurService(ws *v1alpha1.Workspace, service *corev1.Service) bool {
	return Ours(ws, service) || metav1.GetControllerOf(service) == nil && service.Labels[LabelWorkspaceUID] == string(ws.UID)
}

// MendService returns the Workspace's Service as it should be, and whether it differs from the existing one. Further labels, annotations
// and owners stay, and so do the addresses and their families: the API server has chosen them (W107).
func MendService(ws *v1alpha1.Workspace, found *corev1.Service) (*corev1.Service, bool) {
	service, anywhere := found.DeepCopy(), corev1.ServiceInternalTrafficPolicyCluster
	if service.Labels == nil {
		service.Labels = map[string]string{}
	}
	maps.Copy(service.Labels, labels(ws))
	if !Ours(ws, service) {
		others := slices.DeleteFunc(service.OwnerReferences, func(owner metav1.OwnerReference) bool { return owner.UID == ws.UID })
		service.OwnerReferences = append(others, owners(ws)...)
	}
	service.Spec = corev1.ServiceSpec{
		// A LoadBalancer, a NodePort or an external address would let in others than the cluster.
		Type: corev1.ServiceTypeClusterIP,
		// Movers have the same UID, and another role.
		Selector: map[string]string{LabelWorkspaceUID: string(ws.UID), LabelRole: RoleWorkspace},
		// A Pod that is not ready may be one that its owner has to reach.
		PublishNotReadyAddresses: true,
		// There is one Pod, which all nodes have to reach.
		InternalTrafficPolicy: &anywhere, SessionAffinity: corev1.ServiceAffinityNone,
		ClusterIP: found.Spec.ClusterIP, ClusterIPs: found.Spec.ClusterIPs, IPFamilies: found.Spec.IPFamilies, IPFamilyPolicy: found.Spec.IPFamilyPolicy,
	}
	for _, port := range ws.Spec.Ports {
		service.Spec.Ports = append(service.Spec.Ports, corev1.ServicePort{
			Name: fmt.Sprintf("port-%d", port), Protocol: corev1.ProtocolTCP, Port: port, TargetPort: intstr.FromInt32(port),
		})
	}
	return service, !equality.Semantic.DeepEqual(found, service)
}
