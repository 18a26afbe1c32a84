package statusconv_test

import (
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	structuralschema "k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/cel"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/defaulting"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/validation"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"
	celconfig "k8s.io/apiserver/pkg/apis/cel"
	"pgregory.net/rapid"
	"sigs.k8s.io/yaml"

	"kyklos.io/kyklos/apis/v1alpha1"
	"kyklos.io/kyklos/controller/workspace/statusconv"
	"kyklos.io/kyklos/internal/lifecycle"
)

func ann() *v1alpha1.Workspace {
	return &v1alpha1.Workspace{
		TypeMeta:   metav1.TypeMeta{APIVersion: "kyklos.io/v1alpha1", Kind: "Workspace"},
		ObjectMeta: metav1.ObjectMeta{Namespace: "team", Name: "ann", UID: "u1", Generation: 1},
		Spec:       v1alpha1.WorkspaceSpec{DesiredState: v1alpha1.DesiredRunning, WorkspacePod: v1alpha1.WorkspacePod{Image: "ide"}},
	}
}

// pick draws one of the values.
func pick[T any](t *rapid.T, what string, from ...T) T { return rapid.SampledFrom(from).Draw(t, what) }

// simulate lets the engine decide about a Workspace, its own statuses and random observations, for some
// steps. Each status is passed to check.
func simulate(t *rapid.T, ws *v1alpha1.Workspace, check func(lifecycle.Status, lifecycle.Observation)) lifecycle.Status {
	now := time.Date(2026, 3, 2, 8, 0, 0, 0, time.UTC)
	var status lifecycle.Status
	ws.Spec.Archive = pick(t, "store", &v1alpha1.WorkspaceArchive{StoreRef: v1alpha1.StoreRef{Name: "s"}, Retain: 1}, nil)
	for step := range rapid.IntRange(1, 60).Draw(t, "steps") {
		now = now.Add(time.Duration(rapid.IntRange(0, 300).Draw(t, "seconds")) * time.Second)
		if step%6 == 0 {
			ws.Spec.DesiredState = pick(t, "desired", v1alpha1.DesiredPending, v1alpha1.DesiredStandby, v1alpha1.DesiredRunning)
		}
		ws.Finalizers = []string{"kyklos.io/workspace"}
		ws.Annotations = map[string]string{"kyklos.io/retry": pick(t, "retry", "", "a", "b"), "kyklos.io/accept-data-loss": pick(t, "accept", "", "v1")}
		seen := seen(t, status)
		key := status.ArchiveKey
		if status.Operation.Type == lifecycle.Archiving && !status.Operation.PointOfNoReturn {
			key = lifecycle.ArchiveKey("u1", status.Operation.ID)
		}
		found := lifecycle.Archive{SHA256: strings.Repeat("0a", 32), Size: 5, VolumeUID: "v1", Epoch: status.Volume.Epoch, CompletedAt: now}
		decision := lifecycle.Decide(lifecycle.Input{
			Now: now, NewID: fmt.Sprintf("%08d-0000-4000-8000-000000000000", step), Workspace: statusconv.Spec(ws, false), Status: status, Observed: seen,
			Archive: lifecycle.ArchiveView{
				Key: key, Archive: found, Store: pick(t, "the store", "https://s3.example.com/homes/", "https://s3.example.com/homes/", "file:///srv/homes/"),
				Verdict: pick(t, "verdict", lifecycle.Verified, lifecycle.Verified, lifecycle.Verified, lifecycle.Absent, lifecycle.Corrupt, lifecycle.StoreUnreachable),
			},
			Newest:   lifecycle.ArchiveView{Verdict: lifecycle.Absent},
			Rejected: lifecycle.Rejection{Reason: pick(t, "refused", "", "", "", "", "", "", lifecycle.ActionFailed), Code: lifecycle.CodeRefused},
		})
		status = decision.Status
		check(status, seen)
	}
	return status
}

// succeeding is a world without failures: each operation has succeeded by the next pass.
func succeeding(status lifecycle.Status) lifecycle.Observation {
	op := status.Operation
	o := lifecycle.Observation{Live: true, PodsLive: true}
	home := lifecycle.VolumeView{
		State: lifecycle.VolumeBound, UID: "v1", OperationID: op.ID,
		Marker: lifecycle.Marker{Content: status.Volume.Content, RestoredFrom: status.Volume.RestoredFrom},
	}
	pod := lifecycle.Pod{State: lifecycle.PodReady, UID: "p", OperationID: op.ID, Attempt: op.Attempt}
	switch {
	case op.Type == lifecycle.Provisioning:
		home.Marker = lifecycle.Marker{Content: lifecycle.Empty, OperationID: op.ID}
		o.Volume = home
	case op.Type == lifecycle.Restoring:
		home.Marker = lifecycle.Marker{}
		if status.Volume.UID != "" {
			home.Marker = lifecycle.Marker{Content: lifecycle.Restored, RestoredFrom: status.ArchiveKey, OperationID: op.ID}
		}
		o.Volume = home
	case op.Type == lifecycle.Starting, op.Type == lifecycle.None && status.Phase == lifecycle.Running:
		o.Volume, o.Pod = home, pod
	case op.Type == lifecycle.Archiving && op.PointOfNoReturn:
	case status.Volume.UID != "":
		o.Volume = home
	}
	return o
}

// seen draws an observation: mostly one without failures, and sometimes any.
func seen(t *rapid.T, status lifecycle.Status) lifecycle.Observation {
	o := succeeding(status)
	if pick(t, "kind", true, true, true, true, true, false) {
		return o
	}
	op := pick(t, "origin", status.Operation.ID, "other")
	o.Pod = lifecycle.Pod{
		State: pick(t, "pod", lifecycle.PodAbsent, lifecycle.PodReady, lifecycle.PodNotReady, lifecycle.PodEnded), UID: "p", OperationID: op, Attempt: status.Operation.Attempt,
	}
	o.Volume.State = pick(t, "volume", lifecycle.VolumeBound, lifecycle.VolumeAbsent, lifecycle.VolumeTerminating)
	o.Volume.UID = pick(t, "uid", "v1", "v2")
	if pick(t, "job", false, true) {
		o.Jobs = []lifecycle.Job{{
			Name: "j", UID: "j", OperationID: op, Attempt: status.Operation.Attempt, VolumeUID: o.Volume.UID,
			State:  pick(t, "state", lifecycle.JobRunning, lifecycle.JobSucceeded, lifecycle.JobFailed),
			Reason: lifecycle.Unreachable, Code: lifecycle.CodeStoreUnreachable,
		}}
	}
	return o
}

// throughJSON sends ws through JSON, as to the API server and back.
func throughJSON(t *rapid.T, ws *v1alpha1.Workspace) {
	text, err := json.Marshal(ws)
	if err != nil {
		t.Fatal(err)
	}
	*ws = v1alpha1.Workspace{}
	if err := json.Unmarshal(text, ws); err != nil {
		t.Fatal(err)
	}
}

// crdValidator validates a Workspace as the API server does: schema, bounds and CEL rules.
type crdValidator struct {
	structural *structuralschema.Structural
	schema     validation.SchemaValidator
	rules      *cel.Validator
}

func newCRDValidator(t *testing.T) crdValidator {
	t.Helper()
	text, err := os.ReadFile("../../../config/crd/bases/kyklos.io_workspaces.yaml")
	if err != nil {
		t.Fatal(err)
	}
	var crd apiextensionsv1.CustomResourceDefinition
	var schema apiextensions.JSONSchemaProps
	if err := yaml.Unmarshal(text, &crd); err != nil {
		t.Fatal(err)
	}
	if err := apiextensionsv1.Convert_v1_JSONSchemaProps_To_apiextensions_JSONSchemaProps(crd.Spec.Versions[0].Schema.OpenAPIV3Schema, &schema, nil); err != nil {
		t.Fatal(err)
	}
	structural, err := structuralschema.NewStructural(&schema)
	if err != nil {
		t.Fatal(err)
	}
	validator, _, err := validation.NewSchemaValidator(&schema)
	if err != nil {
		t.Fatal(err)
	}
	return crdValidator{structural, validator, cel.NewValidator(structural, true, celconfig.PerCallLimit)}
}

func (j crdValidator) refuses(t *rapid.T, ws *v1alpha1.Workspace) field.ErrorList {
	object, err := runtime.DefaultUnstructuredConverter.ToUnstructured(ws)
	if err != nil {
		t.Fatal(err)
	}
	defaulting.Default(object, j.structural)
	wrong := validation.ValidateCustomResource(nil, object, j.schema)
	broken, _ := j.rules.Validate(t.Context(), nil, j.structural, object, nil, celconfig.RuntimeCELCostBudget)
	var ofStatus field.ErrorList
	for _, err := range append(wrong, broken...) {
		if strings.HasPrefix(err.Field, "status") {
			ofStatus = append(ofStatus, err)
		}
	}
	return ofStatus
}
