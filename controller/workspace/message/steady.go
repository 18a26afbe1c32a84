package message

import (
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// steady is the message of a condition. If it differs from the last one only in what differs with each answer of a store, such as a
// time, a port or the id of a request, the last one stays: a status at rest is not written.
func (f Facts) steady(next metav1.Condition) string {
	last := meta.FindStatusCondition(f.Workspace.Status.Conditions, next.Type)
	if f.Cause == "" || last == nil || last.Reason != next.Reason || last.Status != next.Status || shape(last.Message) != shape(next.Message) {
		return next.Message
	}
	return last.Message
}

// shape is a text without the words that have a digit.
func shape(text string) string {
	return strings.Join(slices.DeleteFunc(strings.Fields(text), func(word string) bool { return strings.ContainsAny(word, "0123456789") }), " ")
}
