package statusconv

import (
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"kyklos.io/kyklos/apis/v1alpha1"
	"kyklos.io/kyklos/internal/lifecycle"
)

// Unused returns since when it can be seen whether a Workspace is used, and it never was; zero if it was, or nothing tells.
func Unused(ws *v1alpha1.Workspace) time.Time { return moment(ws.Status.UnusedSince) }

// Activity returns what was last recorded about the use of a Workspace.
func Activity(ws *v1alpha1.Workspace) lifecycle.Activity {
	known := lifecycle.Activity{Last: moment(ws.Status.LastActivityTime)}
	switch c := meta.FindStatusCondition(ws.Status.Conditions, v1alpha1.ConditionInUse); {
	case c == nil:
	case c.Status == metav1.ConditionTrue:
		known.Use = lifecycle.InUse
	case c.Reason == v1alpha1.ReasonIdle:
		known.Use = lifecycle.Idle
	}
	return known
}
