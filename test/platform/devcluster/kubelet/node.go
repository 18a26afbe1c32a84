package kubelet

import (
	"context"
	"net"
	"runtime"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/component-base/version"
	"k8s.io/klog/v2"
)

// nodeAddress is the node's and so every pod's host address.
const nodeAddress = "127.0.0.1"

// register makes the node, reports it Ready with room for any test, and takes off the taints that
// admission puts on every new node. It is a poll condition: an error is logged and tried again.
func (k *Kubelet) register(ctx context.Context) (bool, error) {
	if err := k.tryRegister(ctx); err != nil {
		if ctx.Err() == nil {
			klog.ErrorS(err, "Registering the node failed", "node", k.node)
		}
		return false, nil
	}
	return true, nil
}

func (k *Kubelet) tryRegister(ctx context.Context) error {
	nodes := k.client.CoreV1().Nodes()
	node, err := nodes.Create(ctx, &corev1.Node{ObjectMeta: metav1.ObjectMeta{
		Name: k.node,
		Labels: map[string]string{
			corev1.LabelHostname: k.node, corev1.LabelOSStable: runtime.GOOS, corev1.LabelArchStable: runtime.GOARCH,
		},
	}}, metav1.CreateOptions{})
	if apierrors.IsAlreadyExists(err) {
		node, err = nodes.Get(ctx, k.node, metav1.GetOptions{})
	}
	if err != nil {
		return err
	}
	node.Status = nodeStatus(k.node, int32(k.listener.Addr().(*net.TCPAddr).Port))
	if node, err = nodes.UpdateStatus(ctx, node, metav1.UpdateOptions{}); err != nil {
		return err
	}
	node.Spec.Taints = nil
	_, err = nodes.Update(ctx, node, metav1.UpdateOptions{})
	return err
}

func nodeStatus(name string, port int32) corev1.NodeStatus {
	room := corev1.ResourceList{
		corev1.ResourceCPU:              resource.MustParse("1000"),
		corev1.ResourceMemory:           resource.MustParse("1Ti"),
		corev1.ResourceEphemeralStorage: resource.MustParse("10Ti"),
		corev1.ResourcePods:             resource.MustParse("100k"),
	}
	return corev1.NodeStatus{
		Capacity: room, Allocatable: room,
		Addresses:       []corev1.NodeAddress{{Type: corev1.NodeInternalIP, Address: nodeAddress}, {Type: corev1.NodeHostName, Address: name}},
		DaemonEndpoints: corev1.NodeDaemonEndpoints{KubeletEndpoint: corev1.DaemonEndpoint{Port: port}},
		Conditions: []corev1.NodeCondition{{
			Type: corev1.NodeReady, Status: corev1.ConditionTrue, Reason: "SimulatedKubelet", Message: "there are no containers: pods are simulated, or processes of this machine",
			LastHeartbeatTime: metav1.Now(), LastTransitionTime: metav1.Now(),
		}},
		NodeInfo: corev1.NodeSystemInfo{
			KubeletVersion: version.Get().GitVersion, ContainerRuntimeVersion: "devcluster://simulated",
			OperatingSystem: runtime.GOOS, Architecture: runtime.GOARCH,
		},
	}
}
