package objects

import (
	"fmt"
	"maps"

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
	service.OwnerReferences = owners(ws)
	return service
}

// MendService returns the Workspace's Service as it should be, and whether it differs from the existing one. What Kyklos does not need
// stays as it is: further labels and annotations, a session affinity, the address.
func MendService(ws *v1alpha1.Workspace, found *corev1.Service) (*corev1.Service, bool) {
	service := found.DeepCopy()
	if service.Labels == nil {
		service.Labels = map[string]string{}
	}
	maps.Copy(service.Labels, labels(ws))
	spec := &service.Spec
	// A LoadBalancer, a NodePort or an external address would let in others than the cluster.
	spec.Type, spec.ExternalName, spec.ExternalIPs = corev1.ServiceTypeClusterIP, "", nil
	spec.LoadBalancerClass, spec.LoadBalancerSourceRanges = nil, nil
	// Movers have the same UID, and another role.
	spec.Selector = map[string]string{LabelWorkspaceUID: string(ws.UID), LabelRole: RoleWorkspace}
	// A Pod that is not ready may be one that its owner has to reach.
	spec.PublishNotReadyAddresses = true
	spec.Ports = nil
	for _, port := range ws.Spec.Ports {
		spec.Ports = append(spec.Ports, corev1.ServicePort{
			Name: fmt.Sprintf("port-%d", port), Protocol: corev1.ProtocolTCP, Port: port, TargetPort: intstr.FromInt32(port),
		})
	}
	return service, !equality.Semantic.DeepEqual(found, service)
}
