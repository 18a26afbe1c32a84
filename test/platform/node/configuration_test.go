package node

import (
	"os"
	"strings"
)

// pauseImage is the name of the image that holds a pod's namespaces.
const pauseImage = "localhost/pause:1"

// configurations returns the files of the node's programs by name.
func configurations() map[string]string {
	fill := strings.NewReplacer("DIR", dir, "BINARIES", binaries, "CGROUP", os.Getenv("NODE_CGROUP"), "ADDRESS", address,
		"KUBECONFIG", cluster.Kubeconfig, "PAUSE", pauseImage)
	files := map[string]string{}
	for name, text := range map[string]string{
		"containerd.toml": containerdConfiguration, "cni.conflist": networkConfiguration, "resolv.conf": "",
		"kubelet.yaml": kubeletConfiguration, "kube-proxy.yaml": proxyConfiguration,
	} {
		files[name] = fill.Replace(text)
	}
	return files
}

// restrict_oom_score_adj is for a root without CAP_SYS_RESOURCE, which may not lower it.
const containerdConfiguration = `
version = 3
root = "DIR/containerd"
state = "DIR/containerd-state"
[grpc]
address = "DIR/containerd.sock"
[ttrpc]
address = "DIR/containerd-ttrpc.sock"
[plugins."io.containerd.cri.v1.images"]
[plugins."io.containerd.cri.v1.images".pinned_images]
sandbox = "PAUSE"
[plugins."io.containerd.cri.v1.runtime"]
restrict_oom_score_adj = true
[plugins."io.containerd.cri.v1.runtime".cni]
bin_dirs = ["BINARIES/debian/usr/lib/cni"]
conf_dir = "DIR"
[plugins."io.containerd.cri.v1.runtime".containerd.runtimes.runc]
runtime_type = "io.containerd.runc.v2"
[plugins."io.containerd.cri.v1.runtime".containerd.runtimes.runc.options]
BinaryName = "BINARIES/debian/usr/sbin/runc"
`

const networkConfiguration = `{
"cniVersion": "1.0.0", "name": "pods", "plugins": [{
  "type": "bridge", "bridge": "pods0", "isGateway": true, "hairpinMode": true,
  "ipam": {"type": "host-local", "dataDir": "DIR/addresses", "ranges": [[{"subnet": "10.251.0.0/16"}]], "routes": [{"dst": "0.0.0.0/0"}]}
}]}`

// An image that the collector removed could not be pulled again, so its threshold is out of reach. The
// kubelet syncs each pod, and renews its mounted Secrets, six times as often as it usually does.
const kubeletConfiguration = `
apiVersion: kubelet.config.k8s.io/v1beta1
kind: KubeletConfiguration
address: ADDRESS
authentication: {anonymous: {enabled: true}, webhook: {enabled: false}}
authorization: {mode: AlwaysAllow}
cgroupDriver: cgroupfs
cgroupRoot: /CGROUP
containerRuntimeEndpoint: unix://DIR/containerd.sock
evictionHard: {memory.available: 50Mi}
failCgroupV1: false
failSwapOn: false
healthzPort: 0
imageGCHighThresholdPercent: 100
makeIPTablesUtilChains: false
podLogsDir: DIR/pod-logs
resolvConf: DIR/resolv.conf
syncFrequency: 10s
volumePluginDir: DIR/volume-plugins
`

// The connection tracker's limits are the whole machine's: 0 leaves them alone.
const proxyConfiguration = `
apiVersion: kubeproxy.config.k8s.io/v1alpha1
kind: KubeProxyConfiguration
mode: nftables
bindAddress: ADDRESS
clientConnection: {kubeconfig: KUBECONFIG}
clusterCIDR: 10.251.0.0/16
conntrack: {maxPerCore: 0, min: 0, tcpEstablishedTimeout: 0s, tcpCloseWaitTimeout: 0s}
detectLocalMode: ClusterCIDR
healthzBindAddress: ""
metricsBindAddress: ""
hostnameOverride: node
`
