package node

import "testing"

func TestX(t *testing.T) {
	o, e, err := cluster.Kubectl(t.Context(), "", "get", "node,svc,endpointslice", "-A", "-o", "wide")
	t.Log(o, e, err)
}
