package conversion

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	ctrlmetrics "sigs.k8s.io/controller-runtime/pkg/metrics"
)

const review = `{"apiVersion":"apiextensions.k8s.io/v1","kind":"ConversionReview","request":{"uid":"7","desiredAPIVersion":%q,"objects":[%s]}}`

const hubObjectText = `{"apiVersion":"kyklos.io/v1beta1","kind":"TimeWindowScaler","metadata":{"name":"a","managedFields":[{"x":1.50}]},"spec":{"baselineReplicas":10,"defaultReplicas":"25%"},"status":{"nextBoundary":"odd"}}`

// post sends a body to the webhook of a cluster that stores v1beta1.
func post(t *testing.T, body string) (int, apiextensionsv1.ConversionReview) {
	t.Helper()
	return postTo(t, func(context.Context) ([]string, error) { return []string{"v1beta1"}, nil }, body)
}

func postTo(t *testing.T, stored storedVersions, body string) (int, apiextensionsv1.ConversionReview) {
	t.Helper()
	handler, err := newHandler(stored)
	if err != nil {
		t.Fatal(err)
	}
	recorder := httptest.NewRecorder()
	handler.ServeHTTP(recorder, httptest.NewRequest(http.MethodPost, webhookPath, strings.NewReader(body)))
	answer := apiextensionsv1.ConversionReview{}
	if recorder.Code == http.StatusOK {
		if err := json.Unmarshal(recorder.Body.Bytes(), &answer); err != nil {
			t.Fatal(err)
		}
	}
	return recorder.Code, answer
}

// counts reads kyklos_conversions_total as "from to result" to count.
func counts(t *testing.T) map[string]float64 {
	t.Helper()
	families, err := ctrlmetrics.Registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	found := map[string]float64{}
	for _, family := range families {
		if family.GetName() != "kyklos_conversions_total" {
			continue
		}
		for _, m := range family.GetMetric() {
			l := m.GetLabel() // from, result, to
			found[l[0].GetValue()+" "+l[2].GetValue()+" "+l[1].GetValue()] = m.GetCounter().GetValue()
		}
	}
	return found
}

// Two objects in one review go there and come back, each counted.
func TestReviews(t *testing.T) {
	before := counts(t)
	code, down := post(t, fmt.Sprintf(review, "kyklos.io/v1alpha1", hubObjectText+","+hubObjectText))
	if code != http.StatusOK || down.Response.UID != "7" || down.Response.Result.Status != "Success" || len(down.Response.ConvertedObjects) != 2 {
		t.Fatalf("%d %+v", code, down.Response)
	}
	spoke := string(down.Response.ConvertedObjects[1].Raw)
	if !strings.Contains(spoke, `"defaultReplicas":3`) || !strings.Contains(spoke, Annotation) {
		t.Errorf("v1alpha1 is %s", spoke)
	}
	_, up := post(t, fmt.Sprintf(review, "kyklos.io/v1beta1", spoke))
	want, got := decode([]byte(hubObjectText)), decode(up.Response.ConvertedObjects[0].Raw)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-before +after)\n%s", diff)
	}
	after := counts(t)
	if down, up := "v1beta1 v1alpha1 converted", "v1alpha1 v1beta1 converted"; after[down]-before[down] != 2 || after[up]-before[up] != 1 {
		t.Errorf("counted %v, before %v", after, before)
	}
}

// An object without room for the annotation is converted, and counted as cut.
func TestCutIsCounted(t *testing.T) {
	before := counts(t)
	large := strings.Replace(hubObjectText, `"name":"a"`, `"name":"a","annotations":{"big":"`+strings.Repeat("x", maxAnnotations-20)+`"}`, 1)
	if code, answer := post(t, fmt.Sprintf(review, "kyklos.io/v1alpha1", large)); code != http.StatusOK || answer.Response.Result.Status != "Success" {
		t.Fatalf("%d %+v", code, answer.Response)
	}
	if key := "v1beta1 v1alpha1 cut"; counts(t)[key]-before[key] != 1 {
		t.Errorf("counted %v, before %v", counts(t), before)
	}
}

// An object without room is marked, and refused when it is to be stored: in v1alpha1, or back in v1beta1. As long as nobody
// knows what is stored, it is not converted.
func TestNoRoomToStore(t *testing.T) {
	large := strings.Replace(hubObjectText, `"name":"a"`, `"name":"a","annotations":{"big":"`+strings.Repeat("x", maxAnnotations-20)+`"}`, 1)
	marked := `{"apiVersion":"kyklos.io/v1alpha1","kind":"TimeWindowScaler","metadata":{"annotations":{"` + Annotation + `":"{\"cut\":true}"}},"spec":{}}`
	const unknown = "the annotations leave no room for kyklos.io/v1beta1-spec, and it is not known in which versions objects are stored: no answer"
	for name, tc := range map[string]struct {
		versions []string
		err      error
		down, up string
	}{
		"v1beta1 is stored":      {[]string{"v1beta1"}, nil, "", ErrCut.Error()},
		"v1alpha1 may be stored": {[]string{"v1beta1", "v1alpha1"}, nil, errCannotStore.Error(), ""},
		"nobody knows":           {nil, errors.New("no answer"), unknown, unknown},
	} {
		stored := func(context.Context) ([]string, error) { return tc.versions, tc.err }
		_, down := postTo(t, stored, fmt.Sprintf(review, "kyklos.io/v1alpha1", large))
		if message := down.Response.Result.Message; message != tc.down {
			t.Errorf("%s: to v1alpha1: got %q", name, message)
		}
		_, up := postTo(t, stored, fmt.Sprintf(review, "kyklos.io/v1beta1", marked))
		if message := up.Response.Result.Message; message != tc.up {
			t.Errorf("%s: to v1beta1: got %q", name, message)
		}
	}
}

// A body that is not a review is a bad request; an object that is not a TimeWindowScaler is refused.
func TestRefusals(t *testing.T) {
	before := counts(t)
	for name, body := range map[string]string{"nothing": "", "no request": "{}", "too much": `{"x":"` + strings.Repeat("x", maxBody) + `"}`} {
		if code, _ := post(t, body); code != http.StatusBadRequest {
			t.Errorf("%s: %d", name, code)
		}
	}
	for name, body := range map[string]string{
		"another kind":        fmt.Sprintf(review, "kyklos.io/v1alpha1", strings.Replace(hubObjectText, "TimeWindowScaler", "Workspace", 1)),
		"another version":     fmt.Sprintf(review, "kyklos.io/v2", hubObjectText),
		"the version it has":  fmt.Sprintf(review, "kyklos.io/v1beta1", hubObjectText),
		"an object of a list": fmt.Sprintf(review, "kyklos.io/v1alpha1", "[]"),
	} {
		code, answer := post(t, body)
		if code != http.StatusOK || answer.Response.Result.Status != "Failure" || answer.Response.Result.Message == "" {
			t.Errorf("%s: %d %+v", name, code, answer.Response)
		}
	}
	if diff := cmp.Diff(before, counts(t)); diff != "" {
		t.Errorf("counted (-before +after)\n%s", diff)
	}
}
