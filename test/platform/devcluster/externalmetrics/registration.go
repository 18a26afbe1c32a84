package externalmetrics

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	applycorev1 "k8s.io/client-go/applyconfigurations/core/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	apiregistration "k8s.io/kube-aggregator/pkg/apis/apiregistration/v1"
	apiregistrationhelper "k8s.io/kube-aggregator/pkg/apis/apiregistration/v1/helper"
	aggregator "k8s.io/kube-aggregator/pkg/client/clientset_generated/clientset"
	"k8s.io/utils/ptr"
)

const (
	group, version = "external.metrics.k8s.io", "v1beta1"
	apiServiceName = version + "." + group
	serviceName    = "external-metrics"
	// ServerName is the name the aggregator expects in the serving certificate.
	ServerName = serviceName + "." + metav1.NamespaceSystem + ".svc"
)

// Registration registers the service with the cluster.
type Registration struct {
	client      kubernetes.Interface
	apiServices *aggregator.Clientset
}

// NewRegistration speaks through config, which must be allowed everything.
func NewRegistration(config *rest.Config) (*Registration, error) {
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		return nil, fmt.Errorf("making the client that registers the external metrics: %w", err)
	}
	apiServices, err := aggregator.NewForConfig(config)
	if err != nil {
		return nil, fmt.Errorf("making the client that registers the external metrics: %w", err)
	}
	return &Registration{client: client, apiServices: apiServices}, nil
}

// Register sends the group's requests to the port on loopback, where a server with a certificate of ca's
// for ServerName answers.
func (r *Registration) Register(ctx context.Context, ca []byte, port int32) error {
	// No address of this machine's loopback may stand in an EndpointSlice. An ExternalName may be digits and
	// dots, and the aggregator dials it as it stands, at the APIService's own port.
	service := applycorev1.Service(serviceName, metav1.NamespaceSystem).WithSpec(
		applycorev1.ServiceSpec().WithType(corev1.ServiceTypeExternalName).WithExternalName("127.0.0.1"))
	options := metav1.ApplyOptions{FieldManager: "devcluster", Force: true}
	if _, err := r.client.CoreV1().Services(metav1.NamespaceSystem).Apply(ctx, service, options); err != nil {
		return fmt.Errorf("writing the Service %s: %w", serviceName, err)
	}
	spec := apiregistration.APIServiceSpec{
		Group: group, Version: version, GroupPriorityMinimum: 100, VersionPriority: 100, CABundle: ca,
		Service: &apiregistration.ServiceReference{Namespace: metav1.NamespaceSystem, Name: serviceName, Port: ptr.To(port)},
	}
	if err := r.write(ctx, spec); err != nil {
		return fmt.Errorf("writing the APIService %s: %w", apiServiceName, err)
	}
	return nil
}

// write creates the APIService, or moves one from an earlier run to the new port.
func (r *Registration) write(ctx context.Context, spec apiregistration.APIServiceSpec) error {
	services := r.apiServices.ApiregistrationV1().APIServices()
	_, err := services.Create(ctx, &apiregistration.APIService{ObjectMeta: metav1.ObjectMeta{Name: apiServiceName}, Spec: spec}, metav1.CreateOptions{})
	if !apierrors.IsAlreadyExists(err) {
		return err
	}
	held, err := services.Get(ctx, apiServiceName, metav1.GetOptions{})
	if err != nil {
		return err
	}
	held.Spec = spec
	_, err = services.Update(ctx, held, metav1.UpdateOptions{})
	return err
}

// Unregister forgets the service of an earlier run in the same folder: an APIService without a server
// breaks discovery, and with it the deletion of namespaces. A missing one is not an error.
func (r *Registration) Unregister(ctx context.Context) error {
	err := r.apiServices.ApiregistrationV1().APIServices().Delete(ctx, apiServiceName, metav1.DeleteOptions{})
	if err != nil && !apierrors.IsNotFound(err) {
		return fmt.Errorf("deleting the APIService %s: %w", apiServiceName, err)
	}
	return nil
}

// Served returns nil when the aggregator calls the service available and passes a request on to it. The
// condition alone may still speak of an earlier run's port.
func (r *Registration) Served(ctx context.Context) error {
	held, err := r.apiServices.ApiregistrationV1().APIServices().Get(ctx, apiServiceName, metav1.GetOptions{})
	if err != nil {
		return fmt.Errorf("APIService %s: %w", apiServiceName, err)
	}
	if condition := apiregistrationhelper.GetAPIServiceConditionByType(held, apiregistration.Available); condition == nil ||
		condition.Status != apiregistration.ConditionTrue {
		return fmt.Errorf("APIService %s is not available: %+v", apiServiceName, condition)
	}
	return r.client.Discovery().RESTClient().Get().AbsPath("/apis", group, version).Do(ctx).Error()
}
