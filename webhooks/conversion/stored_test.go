package conversion

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/discovery"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// apiServer answers the list of definitions with an error, and discovery with resources.
type apiServer struct {
	client.Reader
	discovery.ServerResourcesInterfaceWithContext
	answer    error
	resources []metav1.APIResource
}

func (s *apiServer) List(context.Context, client.ObjectList, ...client.ListOption) error {
	return s.answer
}

func (s *apiServer) ServerResourcesForGroupVersionWithContext(context.Context, string) (*metav1.APIResourceList, error) {
	return &metav1.APIResourceList{APIResources: s.resources}, nil
}

// A manager that may not read the definition recognizes the storage version in discovery. It does not guess.
func TestTheStorageVersionInDiscovery(t *testing.T) {
	forbidden := apierrors.NewForbidden(schema.GroupResource{Resource: "customresourcedefinitions"}, "", errors.New("no role"))
	scalers := func(hash string) []metav1.APIResource {
		return []metav1.APIResource{
			{Name: "workspaces", Kind: "Workspace", StorageVersionHash: "jP4cBhUJpyU="},
			{Name: "timewindowscalers", Kind: "TimeWindowScaler", StorageVersionHash: hash},
			{Name: "timewindowscalers/status", Kind: "TimeWindowScaler"},
		}
	}
	for name, tc := range map[string]struct {
		apiServer
		want []string
		err  string
	}{
		"v1beta1":                {apiServer{answer: forbidden, resources: scalers("qOTsyp9ayAk=")}, []string{"v1beta1"}, ""},
		"v1alpha1":               {apiServer{answer: forbidden, resources: scalers("dFUcm452K7E=")}, []string{"v1alpha1"}, ""},
		"another hash":           {apiServer{answer: forbidden, resources: scalers("bm90aGluZw==")}, nil, "does not show it"},
		"no hash":                {apiServer{answer: forbidden, resources: scalers("")}, nil, "does not show it"},
		"a server without reply": {apiServer{answer: errors.New("no answer"), resources: scalers("qOTsyp9ayAk=")}, nil, "no answer"},
	} {
		got, err := storedIn(&tc.apiServer, &tc.apiServer)(t.Context())
		if tc.err == "" && (err != nil || !slices.Equal(got, tc.want)) || tc.err != "" && (err == nil || !strings.Contains(err.Error(), tc.err)) {
			t.Errorf("%s: %v, %v", name, got, err)
		}
	}
}
