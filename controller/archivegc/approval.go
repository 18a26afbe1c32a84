package archivegc

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"
)

// AllowAnnotation on the ConfigMap approves the deletion of many archives at once: STORE:COUNT, as in the event about
// the refusal; several are separated by commas. A used approval is removed.
const AllowAnnotation = "kyklos.io/allow-archive-deletion"

// approval allows count archives of a store to be deleted at once.
func approval(store string, count int) string { return fmt.Sprintf("%s:%d", store, count) }

// approvals parses the annotation. Anything else in it is ignored.
func approvals(text string) map[string]int {
	allowed := map[string]int{}
	for one := range strings.SplitSeq(text, ",") {
		store, number, _ := strings.Cut(strings.TrimSpace(one), ":")
		if count, err := strconv.Atoi(number); err == nil && count > 0 {
			allowed[store] = count
		}
	}
	return allowed
}

// removeApproval removes the approval of a store.
func removeApproval(object *corev1.ConfigMap, store string) {
	text, ok := object.Annotations[AllowAnnotation]
	if !ok {
		return
	}
	rest := slices.DeleteFunc(strings.Split(text, ","), func(one string) bool {
		return strings.HasPrefix(strings.TrimSpace(one), store+":")
	})
	if len(rest) == 0 {
		delete(object.Annotations, AllowAnnotation)
	} else {
		object.Annotations[AllowAnnotation] = strings.Join(rest, ",")
	}
}
