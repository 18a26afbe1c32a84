package admission

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"gomodules.xyz/jsonpatch/v2"
	admissionv1 "k8s.io/api/admission/v1"
	appsv1 "k8s.io/api/apps/v1"
	authenticationv1 "k8s.io/api/authentication/v1"
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	ctrlmetrics "sigs.k8s.io/controller-runtime/pkg/metrics"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"

	"kyklos.io/kyklos/apis/v1alpha1"
	"kyklos.io/kyklos/apis/v1beta1"
)

// stored is a scaler as the API server sends it, after the schema's defaults.
const stored = `{"apiVersion":"kyklos.io/v1beta1","kind":"TimeWindowScaler",
"metadata":{"name":"office","namespace":"shop","finalizers":["kyklos.io/test"]},
"spec":{"targetRef":{"apiVersion":"apps/v1","kind":"Deployment","name":"web","namespace":"shop"},
"timezone":"Europe/Berlin","defaultReplicas":0,"gracePeriodSeconds":0,"pause":false,
"holidays":{"mode":"treat-as-closed","sourceRef":{"name":"public-holidays"}},
"windows":[{"days":["Mon"],"start":"09:00","end":"17:00","replicas":5}]}}`

// scheme knows what the webhooks read.
func scheme(t *testing.T) *runtime.Scheme {
	t.Helper()
	s := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{
		v1alpha1.AddToScheme, v1beta1.AddToScheme, appsv1.AddToScheme, autoscalingv2.AddToScheme, corev1.AddToScheme, metav1.AddMetaToScheme,
	} {
		if err := add(s); err != nil {
			t.Fatal(err)
		}
	}
	return s
}

// jane writes the objects of the tests.
var jane = authenticationv1.UserInfo{Username: "jane", UID: "7", Groups: []string{"shop", "system:authenticated"}, Extra: map[string]authenticationv1.ExtraValue{"scopes": {"a", "b"}}}

func request(obj, old string) admission.Request {
	req := admission.Request{AdmissionRequest: admissionv1.AdmissionRequest{
		UID: "1", Namespace: "shop", Operation: admissionv1.Create, Object: runtime.RawExtension{Raw: []byte(obj)},
		UserInfo: jane,
	}}
	if old != "" {
		req.Operation, req.OldObject = admissionv1.Update, runtime.RawExtension{Raw: []byte(old)}
	}
	return req
}

// The patch holds the namespace alone, whatever else the object has or lacks: the schema validates it
// afterwards and has to see what its author wrote, a forgotten number as forgotten and not as 0.
func TestDefaultingPatchesTheNamespaceOnly(t *testing.T) {
	bare := strings.Replace(stored, `"name":"web","namespace":"shop"`, `"name":"web"`, 1)
	filled := []jsonpatch.JsonPatchOperation{jsonpatch.NewOperation("add", "/spec/targetRef/namespace", "shop")}
	for name, tc := range map[string]struct {
		obj  string
		want []jsonpatch.JsonPatchOperation
	}{
		"left out":           {bare, filled},
		"empty":              {strings.Replace(stored, `"namespace":"shop"},`, `"namespace":""},`, 1), filled},
		"null":               {strings.Replace(stored, `"namespace":"shop"},`, `"namespace":null},`, 1), filled},
		"an unknown field":   {strings.Replace(bare, `"replicas":5`, `"replicas":5,"later":1`, 1), filled},
		"forgotten replicas": {strings.Replace(bare, `,"replicas":5`, ``, 1), filled},
		"replicas as text":   {strings.Replace(bare, `"replicas":5`, `"replicas":"5"`, 1), filled},
		"already there":      {stored, nil},
		"another namespace":  {strings.Replace(stored, `"namespace":"shop"},`, `"namespace":"back"},`, 1), nil},
		"no target":          {`{"spec":{}}`, nil},
		"a target of text":   {`{"spec":{"targetRef":"web"}}`, nil},
	} {
		response := defaulter(v1beta1.GroupKind).Handler.Handle(t.Context(), request(tc.obj, ""))
		if diff := cmp.Diff(tc.want, response.Patches); diff != "" || !response.Allowed {
			t.Errorf("%s: %v (-want +got)\n%s", name, response.Result, diff)
		}
	}
}

// An object that was stored without the namespace keeps its target as it is: filling it in would end ratcheting. One that
// has it keeps it when a client leaves it out.
func TestDefaultingOfUpdates(t *testing.T) {
	bare := strings.Replace(stored, `"name":"web","namespace":"shop"`, `"name":"web"`, 1)
	filled := []jsonpatch.JsonPatchOperation{jsonpatch.NewOperation("add", "/spec/targetRef/namespace", "shop")}
	for name, tc := range map[string]struct {
		obj, old string
		want     []jsonpatch.JsonPatchOperation
	}{
		"never there":      {strings.Replace(bare, `"pause":false`, `"pause":true`, 1), bare, nil},
		"left out":         {bare, stored, filled},
		"with another one": {stored, bare, nil},
		"no target before": {bare, `{"spec":{}}`, filled},
	} {
		response := defaulter(v1beta1.GroupKind).Handler.Handle(t.Context(), request(tc.obj, tc.old))
		if diff := cmp.Diff(tc.want, response.Patches); diff != "" || !response.Allowed {
			t.Errorf("%s: %v (-want +got)\n%s", name, response.Result, diff)
		}
	}
}

func named(name string) metav1.ObjectMeta { return metav1.ObjectMeta{Namespace: "shop", Name: name} }

func scaler(t *testing.T, edit func(*v1beta1.TimeWindowScaler)) *v1beta1.TimeWindowScaler {
	t.Helper()
	obj := &v1beta1.TimeWindowScaler{}
	if err := json.Unmarshal([]byte(stored), obj); err != nil {
		t.Fatal(err)
	}
	edit(obj)
	return obj
}

func hpa(name, apiVersion, kind, target string) *autoscalingv2.HorizontalPodAutoscaler {
	return &autoscalingv2.HorizontalPodAutoscaler{ObjectMeta: named(name), Spec: autoscalingv2.HorizontalPodAutoscalerSpec{
		ScaleTargetRef: autoscalingv2.CrossVersionObjectReference{APIVersion: apiVersion, Kind: kind, Name: target}}}
}

// quiet is a cluster that gives no warning about stored: the namesakes are all of another
// namespace, kind or group, on their way out, or the object itself.
func quiet(t *testing.T) []client.Object {
	elsewhere := hpa("hpa", "apps/v1", "Deployment", "web")
	elsewhere.Namespace = "back"
	return []client.Object{
		&appsv1.Deployment{ObjectMeta: named("web")},
		&corev1.ConfigMap{ObjectMeta: named("public-holidays"), BinaryData: map[string][]byte{"2026-12-25": {0xff}}},
		elsewhere,
		hpa("stateful", "apps/v1", "StatefulSet", "web"),
		hpa("foreign", "example.com/v1", "Deployment", "web"),
		hpa("other", "apps/v1", "Deployment", "api"),
		scaler(t, func(o *v1beta1.TimeWindowScaler) {}),
		scaler(t, func(o *v1beta1.TimeWindowScaler) { o.Name, o.Spec.TargetRef.Name = "api", "api" }),
		scaler(t, func(o *v1beta1.TimeWindowScaler) { o.Name, o.Spec.TargetRef.Kind = "stateful", "StatefulSet" }),
		scaler(t, func(o *v1beta1.TimeWindowScaler) { o.Namespace = "back" }),
		scaler(t, func(o *v1beta1.TimeWindowScaler) {
			o.Name, o.DeletionTimestamp = "leaving", &metav1.Time{Time: time.Unix(0, 0)}
		}),
	}
}

// results reads kyklos_admission_total as "operation result" to count.
func results(t *testing.T) map[string]float64 {
	t.Helper()
	families, err := ctrlmetrics.Registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	counts := map[string]float64{}
	for _, family := range families {
		if family.GetName() != "kyklos_admission_total" {
			continue
		}
		for _, m := range family.GetMetric() {
			counts[m.GetLabel()[0].GetValue()+" "+m.GetLabel()[1].GetValue()] = m.GetCounter().GetValue()
		}
	}
	return counts
}

// handle returns the response and the one result it was counted as, "" for none.
func handle(t *testing.T, webhook *admission.Webhook, req admission.Request) (admission.Response, string) {
	t.Helper()
	before := results(t)
	response := webhook.Handle(t.Context(), req)
	counted := ""
	for result, count := range results(t) {
		if count != before[result] {
			counted += result
		}
	}
	return response, counted
}

func TestValidatorGathersFacts(t *testing.T) {
	rival := scaler(t, func(o *v1beta1.TimeWindowScaler) { o.Name = "night" })
	edited := strings.Replace(stored, `"replicas":5`, `"replicas":6`, 1)
	for name, tc := range map[string]struct {
		objects  []client.Object
		obj, old string
		warnings []string
		result   string
	}{
		"nothing to say":             {quiet(t), stored, "", nil, "create allowed"},
		"nothing to say on update":   {quiet(t), edited, stored, nil, "update allowed"},
		"an autoscaler and no more":  {append(quiet(t)[1:], hpa("web", "apps/v1beta1", "Deployment", "web")), stored, "", []string{`Deployment "web" does not exist`, `HorizontalPodAutoscaler "web" also scales`}, "create warned"},
		"no ConfigMap":               {quiet(t)[:1], stored, "", []string{`ConfigMap "public-holidays" does not exist`}, "create warned"},
		"a rival":                    {append(quiet(t), rival), stored, "", nil, "create denied"},
		"a rival from before":        {append(quiet(t), rival), edited, stored, []string{`TimeWindowScaler "night"`}, "update warned"},
		"an update of labels alone":  {nil, strings.Replace(stored, `"name":"office"`, `"name":"office","labels":{"a":"b"}`, 1), stored, nil, ""},
		"an update while leaving":    {append(quiet(t), rival), strings.Replace(edited, `"name":"office"`, `"name":"office","deletionTimestamp":"2026-11-21T09:00:00Z"`, 1), stored, nil, ""},
		"a target named differently": {append(quiet(t), rival), strings.Replace(stored, `"name":"web"`, `"name":"web2"`, 1), "", []string{`Deployment "web2" does not exist`}, "create warned"},
	} {
		t.Run(name, func(t *testing.T) {
			response, result := handle(t, cluster{objects: tc.objects}.validator(t), request(tc.obj, tc.old))
			if result != tc.result || response.Allowed == strings.HasSuffix(tc.result, "denied") {
				t.Errorf("counted as %q, want %q; response %v", result, tc.result, response.Result)
			}
			warns(t, response, tc.warnings)
		})
	}
}

// warns holds a response to warnings, each by a part of it.
func warns(t *testing.T, response admission.Response, parts []string) {
	t.Helper()
	if len(response.Warnings) != len(parts) {
		t.Fatalf("got %q, want %q", response.Warnings, parts)
	}
	for i, want := range parts {
		if !strings.Contains(response.Warnings[i], want) {
			t.Errorf("got %q, want %q", response.Warnings[i], want)
		}
	}
}

// A refusal names the fields, so that clients can point at them, and comes with the warnings.
func TestValidatorRefusesByField(t *testing.T) {
	elsewhere := strings.NewReplacer(`"namespace":"shop"},`, `"namespace":"back"},`, "Europe/Berlin", "US/Eastern").Replace(stored)
	response, _ := handle(t, cluster{objects: quiet(t)}.validator(t), request(elsewhere, ""))
	if response.Allowed || response.Result.Reason != metav1.StatusReasonInvalid || response.Result.Code != 422 {
		t.Fatalf("%+v", response.Result)
	}
	details := response.Result.Details
	if details.Kind != "TimeWindowScaler" || details.Group != "kyklos.io" || details.Name != "office" ||
		len(details.Causes) != 1 || details.Causes[0].Field != "spec.targetRef.namespace" {
		t.Errorf("%+v", details)
	}
	if len(response.Warnings) != 1 || !strings.Contains(response.Warnings[0], "America/New_York") {
		t.Errorf("warnings: %q", response.Warnings)
	}
}

func TestValidatorLetsDeletionsPass(t *testing.T) {
	req := request("", stored)
	req.Operation = admissionv1.Delete
	if response, result := handle(t, cluster{}.validator(t), req); !response.Allowed || result != "" {
		t.Errorf("%q %v", result, response.Result)
	}
}
