package upgrade

import (
	"encoding/json"
	"errors"
	"strings"

	eventsv1 "k8s.io/api/events/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// gitOps applies one file server-side, as a GitOps tool does. The number of its applies is in the file: a field that it
// applied and then left out must go.
type gitOps struct {
	*scenario
	applies int
}

// applyAs applies the file for the first time.
func (j *scenario) applyAs(version string) *gitOps {
	j.Helper()
	j.Must(j.Client.Create(j.Context(), target("gitops", 1)))
	g := &gitOps{scenario: j}
	g.moveTo(version)
	return g
}

// moveTo applies the file in a version, twice: with a label and the pause of this turn, and then without the pause.
func (g *gitOps) moveTo(version string) {
	g.Helper()
	g.applies++
	g.apply(version, true)
	if object := g.scalers(version)["gitops"]; object.GetLabels()["turn"] != strings.Repeat("i", g.applies) || !paused(object.Object) {
		g.Errorf("applied as %s, turn %d: %v", version, g.applies, object.Object)
	}
	g.apply(version, false)
	object := g.scalers(version)["gitops"]
	if paused(object.Object) || len(object.GetLabels()) != 1 {
		g.Errorf("applied as %s without pause, turn %d: %v", version, g.applies, object.Object)
	}
}

func paused(object map[string]any) bool {
	spec, _ := object["spec"].(map[string]any)
	return spec["pause"] == true
}

func (g *gitOps) apply(version string, pause bool) {
	g.Helper()
	spec := map[string]any{
		"targetRef": map[string]any{"kind": "Deployment", "name": "gitops"}, "timezone": "UTC",
		"defaultReplicas": int64(1), "windows": windows("00:00", "23:59"),
	}
	if pause {
		spec["pause"] = true
	}
	object := scaler("kyklos.io/"+version, "gitops", spec)
	object.SetLabels(map[string]string{"turn": strings.Repeat("i", g.applies)})
	raw, err := json.Marshal(object.Object)
	g.Must(err)
	g.Eventually("server-side apply as "+version, func() error {
		err := g.Client.Patch(g.Context(), object.DeepCopy(), client.RawPatch(types.ApplyPatchType, raw), client.FieldOwner("gitops"))
		if apierrors.IsInternalError(err) && strings.Contains(err.Error(), "invalid group/version") {
			g.Fatalf("server-side apply as %s: %v", version, err)
		}
		return err // the API server may just be learning of the version
	})
}

// awaitMoved waits for the event that no managed fields name a version any more.
func (j *scenario) awaitMoved(version string) {
	j.Helper()
	j.Eventually("the managed fields of "+version+" moved", func() error {
		var list eventsv1.EventList
		j.Must(j.Client.List(j.Context(), &list, client.InNamespace("default")))
		for _, event := range list.Items {
			if event.Reason == "ManagedFieldsMoved" && strings.Contains(event.Note, "can be applied without "+version) {
				return nil
			}
		}
		return errors.New("there is no event")
	})
}
