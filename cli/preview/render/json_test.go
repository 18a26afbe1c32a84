package render_test

import (
	"bytes"
	"encoding/json"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/validation"
	"pgregory.net/rapid"

	"kyklos.io/kyklos/cli/preview/render"
	"kyklos.io/kyklos/cli/preview/timeline"
)

func printed(t testing.TB, zone *time.Location, timelines ...*timeline.Timeline) []byte {
	t.Helper()
	var text bytes.Buffer
	if err := render.JSON(&text, timelines, zone); err != nil {
		t.Fatal(err)
	}
	return text.Bytes()
}

// The JSON is stable: this one changes only with a new major version.
const officeJSON = `{
  "scalers": [
    {
      "namespace": "stores",
      "name": "<shop> & co",
      "target": {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "name": "shop"
      },
      "timezone": "Europe/Berlin",
      "from": "2027-03-27T23:00:00Z",
      "until": "2027-03-28T22:30:00Z",
      "paused": false,
      "replicasAtStart": 3,
      "windowAtStart": "nights",
      "transitions": [
        {
          "time": "2027-03-28T01:00:00Z",
          "local": "2027-03-28T03:00:00+02:00",
          "from": 3,
          "to": 5,
          "window": "tokyo",
          "reason": "WindowEntered"
        },
        {
          "time": "2027-03-28T02:00:00Z",
          "local": "2027-03-28T04:00:00+02:00",
          "from": 5,
          "to": 1,
          "window": "OffHours",
          "reason": "WindowLeft",
          "graceUntil": "2027-03-28T03:30:00Z"
        },
        {
          "time": "2027-03-28T20:00:00Z",
          "local": "2027-03-28T22:00:00+02:00",
          "from": 1,
          "to": 3,
          "window": "nights",
          "reason": "WindowEntered"
        },
        {
          "time": "2027-03-28T22:00:00Z",
          "local": "2027-03-29T00:00:00+02:00",
          "from": 3,
          "to": 1,
          "window": "OffHours",
          "reason": "HolidayStarted",
          "holiday": "2027-03-29",
          "graceUntil": "2027-03-28T23:30:00Z"
        }
      ],
      "replicaHours": 35.5,
      "highest": 5,
      "alwaysHighestReplicaHours": 117.5,
      "savedReplicaHours": 82,
      "days": [
        {
          "date": "2027-03-28",
          "replicaHours": 35,
          "clockChange": true
        },
        {
          "date": "2027-03-29",
          "replicaHours": 0.5,
          "holiday": true
        }
      ],
      "clockChanges": [
        {
          "time": "2027-03-28T01:00:00Z",
          "local": "2027-03-28T03:00:00+02:00",
          "timezone": "Europe/Berlin",
          "before": "+01:00",
          "after": "+02:00"
        }
      ],
      "notes": []
    }
  ]
}
`

func TestJSON(t *testing.T) {
	made := compute(t, "<shop> & co", shop(), "2027-03-28T00:00:00+01:00", "2027-03-29T00:30:00+02:00", "2027-03-29")
	got := string(printed(t, nil, made))
	begin, end := strings.Index(got, `"notes": [`), strings.LastIndex(got, "]\n    }")
	if begin < 0 || end < begin {
		t.Fatalf("no notes in\n%s", got)
	}
	got = got[:begin] + `"notes": [` + got[end:] // their wording may change
	if diff := cmp.Diff(officeJSON, got); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	if empty := string(printed(t, nil)); empty != "{\n  \"scalers\": []\n}\n" {
		t.Errorf("nothing is %s", empty)
	}
}

// In another zone the local time is that zone's, and the instant the same.
func TestJSONInAnotherZone(t *testing.T) {
	at := string(printed(t, time.UTC, spring(t)))
	if want := "\"time\": \"2027-03-27T01:30:00Z\",\n          \"local\": \"2027-03-27T01:30:00+00:00\""; !strings.Contains(at, want) {
		t.Errorf("no %s in\n%s", want, at)
	}
}

func TestJSONOfACluster(t *testing.T) {
	got := decoded(t, printed(t, nil, inCluster(t)))["scalers"].([]any)[0].(map[string]any)["state"]
	want := map[string]any{
		"effectiveReplicas": 3.0, "observedReplicas": 2.0, "currentWindow": "nights", "holiday": "2027-03-27", "gracePeriodExpiry": "2027-03-27T03:00:00Z",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

// schema is docs/preview.schema.json, validated as the API server validates CRDs.
func schema(t *testing.T) validation.SchemaValidator {
	t.Helper()
	content, err := os.ReadFile("../../../docs/preview.schema.json")
	if err != nil {
		t.Fatal(err)
	}
	var external apiextensionsv1.JSONSchemaProps
	var internal apiextensions.JSONSchemaProps
	if err := json.Unmarshal(content, &external); err != nil {
		t.Fatal(err)
	}
	if err := apiextensionsv1.Convert_v1_JSONSchemaProps_To_apiextensions_JSONSchemaProps(&external, &internal, nil); err != nil {
		t.Fatal(err)
	}
	validator, _, err := validation.NewSchemaValidator(&internal)
	if err != nil {
		t.Fatal(err)
	}
	return validator
}

func decoded(t *testing.T, text []byte) (content map[string]any) {
	t.Helper()
	if err := json.Unmarshal(text, &content); err != nil {
		t.Fatal(err)
	}
	return content
}

func TestTheSchemaDescribesTheJSON(t *testing.T) {
	good := printed(t, nil, spring(t), inCluster(t))
	validator := schema(t)
	if result := validator.Validate(decoded(t, good)); !result.IsValid() {
		t.Errorf("refused: %v", result.Errors)
	}
	for name, change := range map[string]func(scaler, transition map[string]any){
		"an unknown field":     func(scaler, _ map[string]any) { scaler["more"] = 1 },
		"a missing field":      func(scaler, _ map[string]any) { delete(scaler, "replicaHours") },
		"hours as text":        func(scaler, _ map[string]any) { scaler["replicaHours"] = "1" },
		"an unknown reason":    func(_, transition map[string]any) { transition["reason"] = "Whim" },
		"a local time in time": func(_, transition map[string]any) { transition["time"] = transition["local"] },
		"a count of halves":    func(_, transition map[string]any) { transition["to"] = 1.5 },
	} {
		content := decoded(t, good)
		scaler := content["scalers"].([]any)[0].(map[string]any)
		change(scaler, scaler["transitions"].([]any)[0].(map[string]any))
		if validator.Validate(content).IsValid() {
			t.Errorf("%s is not refused", name)
		}
	}
}

// The transitions of the JSON add up to its hours.
func TestTheTransitionsAddUpToTheReplicaHours(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		from := instant(t, "2027-03-01T00:00:00Z").Add(time.Duration(rapid.IntRange(0, 60*24*60).Draw(r, "minutes")) * time.Minute)
		until := from.Add(time.Duration(rapid.IntRange(1, 20*24*3600).Draw(r, "seconds")) * time.Second)
		made := compute(t, "shop", shop(), from.Format(time.RFC3339), until.Format(time.RFC3339), "2027-03-29", "2027-04-02")
		var read struct {
			Scalers []struct {
				From, Until     time.Time
				ReplicasAtStart int
				Transitions     []struct {
					Time, Local time.Time
					From, To    int
				}
				ReplicaHours, SavedReplicaHours, AlwaysHighestReplicaHours float64
				Days                                                       []struct{ ReplicaHours float64 }
			}
		}
		if err := json.Unmarshal(printed(t, nil, made), &read); err != nil {
			r.Fatal(err)
		}
		s := read.Scalers[0]
		at, count, sum := s.From, s.ReplicasAtStart, 0.0
		for _, tr := range s.Transitions {
			if !tr.Time.After(at) || !tr.Time.Equal(tr.Local) || tr.From != count || tr.To == count {
				r.Fatalf("transition %+v after %v with %d", tr, at, count)
			}
			sum += tr.Time.Sub(at).Hours() * float64(count)
			at, count = tr.Time, tr.To
		}
		sum += s.Until.Sub(at).Hours() * float64(count)
		days := 0.0
		for _, d := range s.Days {
			days += d.ReplicaHours
		}
		for what, got := range map[string]float64{"the hours": s.ReplicaHours, "the days": days, "what is not saved": s.AlwaysHighestReplicaHours - s.SavedReplicaHours} {
			if diff := got - sum; diff > 1e-6 || diff < -1e-6 {
				r.Fatalf("%s: %v, the transitions add up to %v", what, got, sum)
			}
		}
	})
}
