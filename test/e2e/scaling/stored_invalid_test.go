package scaling

import (
	"encoding/json"
	"fmt"
	"slices"
	"testing"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apiextensions "k8s.io/apiextensions-apiserver/pkg/client/clientset/clientset/typed/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/intstr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"kyklos.io/kyklos/apis/v1beta1"
)

// The controller handles objects that were stored before a rule existed (B5).

func TestStoredUnknownZone(t *testing.T) {
	s := newScenario(t, "2025-01-27 14:00:00")
	s.target(7)
	withoutRules(s, func() {
		s.officeHours(func(tws *v1beta1.TimeWindowScaler) { tws.Spec.Timezone = "Mars/Olympus_Mons" })
	})
	s.settles(2) // defaultReplicas
	s.condition("Degraded", "True", v1beta1.ReasonInvalidTimezone)
	s.Until("InvalidSchedule", func() bool { return len(s.notes("InvalidSchedule")) == 1 })

	s.change(func(spec *v1beta1.TimeWindowScalerSpec) { spec.Timezone = "Asia/Kolkata" })
	s.settles(10)
	s.condition("Degraded", "False", v1beta1.ReasonOperationalNormal)
}

// The rules ratchet: an unknown time zone does not block other changes.
func TestUnknownZoneHoldsUpNothing(t *testing.T) {
	s := newScenario(t, "2025-01-27 14:00:00")
	s.target(2)
	withoutRules(s, func() {
		s.officeHours(func(tws *v1beta1.TimeWindowScaler) { tws.Spec.Timezone = "Mars/Olympus_Mons" })
	})
	s.change(func(spec *v1beta1.TimeWindowScalerSpec) { spec.DefaultReplicas = intstr.FromInt32(3) })
	s.settles(3)
}

// A window with an unknown time zone is ignored. Status and spec can be written, and only a change of that zone is
// refused (A4).
func TestStoredUnknownZoneOfAWindow(t *testing.T) {
	s := newScenario(t, "2025-01-27 14:00:00")
	s.target(2)
	withoutRules(s, func() {
		s.officeHours(func(tws *v1beta1.TimeWindowScaler) {
			tws.Spec.Windows = append(tws.Spec.Windows, tws.Spec.Windows[0])
			tws.Spec.Windows[1].Timezone, tws.Spec.Windows[1].Replicas = "Mars/Olympus_Mons", intstr.FromInt32(20)
		})
	})
	s.settles(10) // the first window
	s.condition("Degraded", "True", v1beta1.ReasonInvalidTimezone)
	s.change(func(spec *v1beta1.TimeWindowScalerSpec) { spec.Windows[0].Replicas = intstr.FromInt32(11) })
	s.settles(11)

	s.change(func(spec *v1beta1.TimeWindowScalerSpec) { spec.Windows[1].Timezone = "Asia/Dubai" })
	s.condition("Degraded", "False", v1beta1.ReasonOperationalNormal)
	s.settles(20) // it is half past twelve in Dubai
}

func TestStoredUnreadableWindow(t *testing.T) {
	s := newScenario(t, "2025-01-27 14:00:00")
	s.target(7)
	withoutRules(s, func() {
		s.officeHours(func(tws *v1beta1.TimeWindowScaler) { tws.Spec.Windows[0].End = tws.Spec.Windows[0].Start })
	})
	message := s.condition("Degraded", "True", v1beta1.ReasonInvalidConfiguration)
	t.Log(message)
	s.condition("Ready", "False", v1beta1.ReasonInvalidConfiguration)
	s.Until("InvalidSchedule", func() bool { return len(s.notes("InvalidSchedule")) == 1 })
	s.equal("target left alone", *s.deployment().Spec.Replicas, int32(7))
}

// withoutRules runs store while the CRD has no CEL rules, and waits until they are back.
func withoutRules(s *scenario, store func()) {
	s.Helper()
	crds, err := apiextensions.NewForConfig(cluster.Config)
	s.Must(err)
	const name = "timewindowscalers.kyklos.io"
	crd, err := crds.CustomResourceDefinitions().Get(s.Context(), name, metav1.GetOptions{})
	s.Must(err)
	index := slices.IndexFunc(crd.Spec.Versions, func(v apiextensionsv1.CustomResourceDefinitionVersion) bool {
		return v.Name == v1beta1.GroupVersion.Version
	})
	schema := *crd.Spec.Versions[index].Schema.DeepCopy()
	dropRules(crd.Spec.Versions[index].Schema.OpenAPIV3Schema)
	replaceSchema := func(schema *apiextensionsv1.CustomResourceValidation) {
		patch, err := json.Marshal([]map[string]any{{"op": "replace", "path": fmt.Sprintf("/spec/versions/%d/schema", index), "value": schema}})
		s.Must(err)
		_, err = crds.CustomResourceDefinitions().Patch(s.Context(), name, types.JSONPatchType, patch, metav1.PatchOptions{})
		s.Must(err)
	}
	ruled := func() bool { // the API server learns of a new schema a little later
		return admin.Create(s.Context(), &v1beta1.TimeWindowScaler{
			ObjectMeta: metav1.ObjectMeta{Namespace: s.namespace, Name: "probe"},
			Spec: v1beta1.TimeWindowScalerSpec{
				TargetRef: v1beta1.TargetRef{Kind: "Deployment", Name: "none"}, Timezone: "",
				Windows: []v1beta1.Window{{Days: []v1beta1.Weekday{"Mon"}, Start: "1", End: "1"}},
			},
		}, client.DryRunAll) != nil
	}
	replaceSchema(crd.Spec.Versions[index].Schema)
	defer func() {
		replaceSchema(&schema)
		s.Until("the rules back", ruled)
	}()
	s.Until("the rules gone", func() bool { return !ruled() })
	store()
}

func dropRules(schema *apiextensionsv1.JSONSchemaProps) {
	schema.XValidations = nil
	for name, property := range schema.Properties {
		dropRules(&property)
		schema.Properties[name] = property
	}
	if schema.Items != nil && schema.Items.Schema != nil {
		dropRules(schema.Items.Schema)
	}
}
