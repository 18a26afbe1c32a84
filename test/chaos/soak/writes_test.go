package soak

import (
	"encoding/json"
	"net/http"
	"slices"
	"time"

	"kyklos.io/kyklos/test/harness"
	"kyklos.io/kyklos/test/harness/fixtures"
)

// seen is called before a manager's write is sent on, and when the API server has answered it.
func (s *soak) seen(r *replica, request harness.Request, answered bool) {
	accepted := answered && request.Code < http.StatusMultipleChoices
	o := s.byKey[request.Resource+"/"+request.Namespace+"/"+request.Name]
	switch {
	case request.Resource == "leases" && accepted:
		s.leads(r, request.At)
	case request.Resource == "timewindowscalers" && accepted:
		s.progress()
		s.reported(request)
	case o == nil || request.Subresource == "status":
	default:
		if body := s.countIn(r, o, request); body != nil {
			s.followed(r, o, request, body, answered)
		}
	}
}

// followed tells the model about a manager's write of a count.
func (s *soak) followed(r *replica, o *object, request harness.Request, body map[string]any, answered bool) {
	switch {
	case !answered:
		o.sent(request.At)
	case request.Code < http.StatusMultipleChoices:
		s.progress()
		s.judge(r, o, write{request.At, o.kind.Count(body), r.name}, body, request.Body)
	case request.Code < http.StatusInternalServerError: // otherwise it may have been carried out
		o.refused(request.At)
	}
}

// reported tells the model what a status says.
func (s *soak) reported(request harness.Request) {
	var body struct {
		Status struct {
			EffectiveReplicas *int32 `json:"effectiveReplicas"`
		} `json:"status"`
	}
	if json.Unmarshal([]byte(request.Body), &body) != nil || body.Status.EffectiveReplicas == nil {
		return // that of the poison is replaced as a whole
	}
	if o := s.byName[request.Namespace+"/"+request.Name]; o != nil {
		o.report(*body.Status.EffectiveReplicas)
	}
}

// countIn returns the body of a write that sets the target's count. Managers write no other fields, but for Workspaces' own
// controller.
func (s *soak) countIn(r *replica, o *object, request harness.Request) map[string]any {
	var body map[string]any
	if err := json.Unmarshal([]byte(request.Body), &body); err != nil {
		if o.kind.TargetKind != fixtures.Homes || request.Body[0] != '[' {
			s.failed("%s: manager %s wrote what is no JSON: %s", o.key(), r.name, request.Body)
		}
		return nil
	}
	if o.kind.Count(body) >= 0 {
		return body
	}
	if o.kind.TargetKind != fixtures.Homes {
		s.failed("%s: manager %s wrote something else than a count: %s", o.key(), r.name, request.Body)
	}
	return nil
}

func (s *soak) judge(r *replica, o *object, w write, body map[string]any, text string) {
	if others := otherFields(body, ""); len(others) > 0 {
		s.failed("%s: manager %s wrote the fields %v: %s", o.key(), r.name, others, text)
	}
	err := o.wrote(w)
	s.mu.Lock()
	s.writes++
	_, since, ok := o.want(w.at)
	if boundary := since.Equal(since.Truncate(time.Second)); ok && boundary && s.active == 0 && s.settledAt.After(s.calmSince) && since.After(s.settledAt) {
		s.late = append(s.late, w.at.Sub(since))
	}
	s.mu.Unlock()
	if err != nil {
		s.failed("%s: %v\n%s", o.key(), err, o.history())
	}
}

// otherFields returns the fields of a patch that a schedule has no business with.
func otherFields(value map[string]any, path string) (others []string) {
	for key, inner := range value {
		at := path + "." + key
		if fields, nested := inner.(map[string]any); nested {
			others = append(others, otherFields(fields, at)...)
		} else if !slices.Contains([]string{
			".metadata.resourceVersion", ".metadata.uid", ".spec.replicas", ".spec.desiredState", ".spec.template.spec.nodeSelector.kyklos.io/suspended",
		}, at) {
			others = append(others, at)
		}
	}
	return others
}
