#!/bin/sh
# Run a command in namespaces of its own, in which a node can live and which take it along when they end:
# processes, mounts, network and what a kubelet and containerd write. Only root can make them.
set -eu

if [ "${1-}" != --inside ]; then
	group=kyklos-node-$$
	status=0
	unshare --mount --pid --fork --kill-child --mount-proc --net --uts --ipc sh "$0" --inside "$group" "$@" || status=$?
	# What is left are empty control groups, which belong to no namespace.
	for hierarchy in /sys/fs/cgroup /sys/fs/cgroup/*; do
		[ ! -d "$hierarchy/$group" ] || find "$hierarchy/$group" -depth -type d -exec rmdir {} +
	done
	exit $status
fi
export NODE_CGROUP="$2" NODE_DIR=/run/node NODE_ADDRESS=10.250.0.1
shift 2

# Volumes that the kubelet mounts must show in the containers' namespaces.
mount --make-rshared /
mount -t tmpfs tmpfs /run
mkdir -p "$NODE_DIR" /run/over/upper /run/over/work
mount -t overlay -o lowerdir=/var,upperdir=/run/over/upper,workdir=/run/over/work overlay /var

# The kubelet insists on these, which are the whole machine's; it writes only where it reads another value.
mask() {
	echo "$2" >"/run/over/$(basename "$1")"
	mount --bind "/run/over/$(basename "$1")" "/proc/sys/$1"
}
mask vm/overcommit_memory 1
mask vm/panic_on_oom 0
mask kernel/panic 10
mask kernel/panic_on_oops 1
mask kernel/keys/root_maxkeys 1000000
mask kernel/keys/root_maxbytes 25000000

# A bridge that leads nowhere: a kubelet refuses loopback as its address, and wants a default route.
ip link set lo up
ip link add node0 type bridge
ip address add "$NODE_ADDRESS/24" dev node0
ip link set node0 up
ip route add default via 10.250.0.2 dev node0
echo 1 >/proc/sys/net/ipv4/ip_forward

for hierarchy in /sys/fs/cgroup /sys/fs/cgroup/*; do
	[ ! -e "$hierarchy/cgroup.procs" ] || mkdir -p "$hierarchy/$NODE_CGROUP"
done
# Not exec: this shell is process 1 and has to reap what containers leave.
"$@"
