package admission

import (
	"bytes"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/version"
	"k8s.io/apimachinery/pkg/util/yaml"
	apiadmission "k8s.io/apiserver/pkg/admission"
	"k8s.io/apiserver/pkg/admission/plugin/cel"
	"k8s.io/apiserver/pkg/admission/plugin/webhook/matchconditions"
	"k8s.io/apiserver/pkg/authentication/user"
	"k8s.io/apiserver/pkg/cel/environment"
	"k8s.io/client-go/rest"
	clocktesting "k8s.io/utils/clock/testing"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"
	"sigs.k8s.io/controller-runtime/pkg/webhook"

	"kyklos.io/kyklos/apis/v1beta1"
)

// webhookKinds are the resources with webhooks, in the order of the configurations.
var webhookKinds = []string{"timewindowscalers", "workspaces"}

// webhookManifests reads the generated configurations; unknown fields are errors. The webhook for writes in v1alpha1 is
// apart.
func webhookManifests(t *testing.T) (mutating []admissionregistrationv1.MutatingWebhook, validating []admissionregistrationv1.ValidatingWebhook, old admissionregistrationv1.ValidatingWebhook) {
	t.Helper()
	text, err := os.ReadFile("../../config/webhook/manifests.yaml")
	if err != nil {
		t.Fatal(err)
	}
	for documents := yaml.NewYAMLOrJSONDecoder(bytes.NewReader(text), 4096); ; {
		var doc runtime.RawExtension
		if err := documents.Decode(&doc); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			t.Fatal(err)
		}
		if strings.Contains(string(doc.Raw), `"MutatingWebhookConfiguration"`) {
			var config admissionregistrationv1.MutatingWebhookConfiguration
			if err := yaml.UnmarshalStrict(doc.Raw, &config); err != nil {
				t.Fatal(err)
			}
			mutating = append(mutating, config.Webhooks...)
			continue
		}
		var config admissionregistrationv1.ValidatingWebhookConfiguration
		if err := yaml.UnmarshalStrict(doc.Raw, &config); err != nil {
			t.Fatal(err)
		}
		validating = append(validating, config.Webhooks...)
	}
	if i := slices.IndexFunc(validating, func(w admissionregistrationv1.ValidatingWebhook) bool { return strings.Contains(w.Name, ".v1alpha1.") }); i >= 0 {
		old = validating[i]
		validating = slices.Delete(validating, i, i+1)
	}
	if len(mutating) != len(webhookKinds) || len(validating) != len(webhookKinds) || old.Name == "" {
		t.Fatalf("%d mutating and %d validating webhooks for %v", len(mutating), len(validating), webhookKinds)
	}
	return mutating, validating, old
}

// With all webhooks down nothing is blocked, and none is ever asked about status (A5).
func TestWebhooksFailOpen(t *testing.T) {
	mutating, validating, _ := webhookManifests(t)
	all := validating
	for i, w := range mutating {
		if w.ReinvocationPolicy == nil || *w.ReinvocationPolicy != admissionregistrationv1.NeverReinvocationPolicy {
			t.Errorf("%s: reinvocation: %v", w.Name, w.ReinvocationPolicy)
		}
		kind := strings.TrimSuffix(webhookKinds[i], "s")
		if w.Name != "default."+kind+".kyklos.io" || validating[i].Name != "validate."+kind+".kyklos.io" {
			t.Errorf("names: %s, %s", w.Name, validating[i].Name)
		}
		all = append(all, admissionregistrationv1.ValidatingWebhook{
			Name: w.Name, FailurePolicy: w.FailurePolicy, MatchPolicy: w.MatchPolicy, SideEffects: w.SideEffects,
			TimeoutSeconds: w.TimeoutSeconds, Rules: w.Rules, AdmissionReviewVersions: w.AdmissionReviewVersions,
		})
	}
	for i, w := range all {
		if *w.FailurePolicy != admissionregistrationv1.Ignore || *w.MatchPolicy != matchPolicy(w.Name) ||
			*w.SideEffects != admissionregistrationv1.SideEffectClassNone || *w.TimeoutSeconds != 5 || strings.Join(w.AdmissionReviewVersions, ",") != "v1" {
			t.Errorf("%s: %v %v %v %d %v", w.Name, *w.FailurePolicy, *w.MatchPolicy, *w.SideEffects, *w.TimeoutSeconds, w.AdmissionReviewVersions)
		}
		for _, rule := range w.Rules {
			if strings.Join(rule.Resources, ",") != webhookKinds[i%len(webhookKinds)] {
				t.Errorf("%s is called for %v", w.Name, rule.Resources)
			}
		}
	}
}

// matchPolicy is Exact where a webhook for each version sees its objects as they were written.
func matchPolicy(name string) admissionregistrationv1.MatchPolicyType {
	if name == "validate.timewindowscaler.kyklos.io" {
		return admissionregistrationv1.Exact
	}
	return admissionregistrationv1.Equivalent
}

// Every version of TimeWindowScaler is validated by exactly one webhook. That of v1alpha1 fails closed: writes in
// v1alpha1 need the conversion webhook of the same server anyway (A2, A5).
func TestWebhookOfV1alpha1(t *testing.T) {
	_, validating, old := webhookManifests(t)
	if *old.FailurePolicy != admissionregistrationv1.Fail || *old.MatchPolicy != admissionregistrationv1.Exact || *old.TimeoutSeconds != 5 ||
		*old.SideEffects != admissionregistrationv1.SideEffectClassNone || *old.ClientConfig.Service.Path != validateV1alpha1Path {
		t.Errorf("%+v", old)
	}
	var versions []string
	for _, rule := range append(slices.Clone(validating[0].Rules), old.Rules...) {
		if strings.Join(rule.Resources, ",") != "timewindowscalers" {
			t.Errorf("called for %v", rule.Resources)
		}
		versions = append(versions, rule.APIVersions...)
	}
	if strings.Join(versions, ",") != "v1beta1,v1alpha1" {
		t.Errorf("versions %v", versions)
	}
	annotated := strings.Replace(stored, `"name":"office"`, `"name":"office","annotations":{"kyklos.io/v1beta1-spec":"x"}`, 1)
	other := strings.Replace(annotated, `"x"`, `"y"`, 1)
	relabelled := strings.Replace(annotated, `"name":"office"`, `"name":"office","labels":{"a":"b"}`, 1)
	matcher := compileConditions(old.MatchConditions)
	for name, tc := range map[string]struct {
		obj, old string
		called   bool
	}{
		"create":                 {stored, "", true},
		"a change of spec":       {strings.Replace(stored, `"replicas":5`, `"replicas":6`, 1), stored, true},
		"the annotation removed": {stored, annotated, true},
		"the annotation added":   {annotated, stored, true},
		"the annotation changed": {other, annotated, true},
		"no spec any more":       {`{"apiVersion":"kyklos.io/v1alpha1","kind":"TimeWindowScaler","metadata":{}}`, stored, true},
		"a label":                {relabelled, annotated, true},
		"leaving":                {strings.Replace(stored, `"name":"office"`, `"name":"office","deletionTimestamp":"2026-11-21T09:00:00Z"`, 1), annotated, false},
	} {
		result := matcher.Match(t.Context(), attributes(t, tc.obj, tc.old), nil, nil)
		if result.Error != nil || result.Matches != tc.called {
			t.Errorf("%s: %+v, want it called: %t", name, result, tc.called)
		}
	}
}

// What the configurations call is what the manager serves.
func TestWebhooksServeTheirPaths(t *testing.T) {
	server := webhook.NewServer(webhook.Options{})
	mgr, err := manager.New(&rest.Config{Host: "https://kubernetes.invalid"}, manager.Options{
		Scheme: scheme(t), WebhookServer: server, Metrics: metricsserver.Options{BindAddress: "0"},
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := SetupWithManager(mgr, Options{Clock: clocktesting.NewFakePassiveClock(time.Time{}), Converts: func() error { return nil }}); err != nil {
		t.Fatal(err)
	}
	mutating, validating, old := webhookManifests(t)
	for i := range mutating {
		for _, config := range []admissionregistrationv1.WebhookClientConfig{mutating[i].ClientConfig, validating[i].ClientConfig, old.ClientConfig} {
			path := *config.Service.Path
			if _, served := server.WebhookMux().Handler(httptest.NewRequest(http.MethodPost, path, nil)); served != path {
				t.Errorf("%s is served as %q", path, served)
			}
		}
	}
}

// The match conditions are evaluated as the oldest supported API server compiles them; an error of a
// condition counts as a failure here, while in the cluster it would silently skip the webhook.
func TestMatchConditions(t *testing.T) {
	mutating, validating, _ := webhookManifests(t)
	leaving := strings.Replace(stored, `"name":"office"`, `"name":"office","deletionTimestamp":"2026-11-21T09:00:00Z"`, 1)
	edited := strings.Replace(stored, `"replicas":5`, `"replicas":6`, 1)
	shorter := strings.Replace(stored, `"pause":false,`, ``, 1)
	relabelled := strings.Replace(stored, `"name":"office"`, `"name":"office","labels":{"a":"b"}`, 1)
	all := map[string][]admissionregistrationv1.MatchCondition{}
	for i := range mutating {
		all[mutating[i].Name], all[validating[i].Name] = mutating[i].MatchConditions, validating[i].MatchConditions
	}
	for which, conditions := range all { // they read nothing that is not in every kind
		matcher := compileConditions(conditions)
		for name, tc := range map[string]struct {
			obj, old string
			skipped  string // the condition that skips the webhook, "" when it is called
		}{
			"create":                           {stored, "", ""},
			"a change of spec":                 {edited, stored, ""},
			"a field of spec added":            {stored, shorter, ""},
			"a change of labels":               {relabelled, stored, "spec-changed"},
			"an update that changes nothing":   {stored, stored, "spec-changed"},
			"a finalizer taken away":           {strings.Replace(leaving, `"finalizers":["kyklos.io/test"],`, "", 1), leaving, "not-deleting"},
			"a change of spec while it leaves": {strings.Replace(leaving, `"replicas":5`, `"replicas":6`, 1), leaving, "not-deleting"},
		} {
			result := matcher.Match(t.Context(), attributes(t, tc.obj, tc.old), nil, nil)
			if result.Error != nil || result.Matches != (tc.skipped == "") || result.FailedConditionName != tc.skipped {
				t.Errorf("%s, %s: %+v, want it skipped by %q", which, name, result, tc.skipped)
			}
		}
	}
}

func compileConditions(conditions []admissionregistrationv1.MatchCondition) matchconditions.Matcher {
	var expressions []cel.ExpressionAccessor
	for _, c := range conditions {
		expressions = append(expressions, (*matchconditions.MatchCondition)(&c))
	}
	compiled := cel.NewConditionCompiler(environment.MustBaseEnvSet(version.MajorMinor(1, 32))).
		CompileCondition(expressions, cel.OptionalVariableDeclarations{}, environment.NewExpressions)
	fail := admissionregistrationv1.Fail
	return matchconditions.NewMatcher(compiled, &fail, "webhook", "validating", "test")
}

func attributes(t *testing.T, obj, old string) *apiadmission.VersionedAttributes {
	t.Helper()
	read := func(text string) *unstructured.Unstructured {
		u := &unstructured.Unstructured{}
		if err := u.UnmarshalJSON([]byte(text)); err != nil {
			t.Fatal(err)
		}
		return u
	}
	kind, resource := v1beta1.GroupVersion.WithKind(v1beta1.Kind), v1beta1.GroupVersion.WithResource("timewindowscalers")
	object, operation := read(obj), apiadmission.Create
	versioned := &apiadmission.VersionedAttributes{VersionedObject: apiadmission.NewLazyObject(object), VersionedKind: kind}
	var before runtime.Object
	if old != "" {
		before, operation = read(old), apiadmission.Update
		versioned.VersionedOldObject = apiadmission.NewLazyObject(before)
	}
	versioned.Attributes = apiadmission.NewAttributesRecord(object, before, kind, "shop", "office", resource, "", operation, nil, false, &user.DefaultInfo{})
	return versioned
}
