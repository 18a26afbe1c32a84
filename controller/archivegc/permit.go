package archivegc

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"
)

// AllowAnnotation on the ConfigMap allows many archives of a store to go at once: STORE:COUNT, as the
// event that tells of the refusal has it; several are separated by commas. It is taken away when it was
// used.
const AllowAnnotation = "kyklos.io/allow-archive-deletion"

// permit is what allows count archives of a store to go at once.
func permit(store string, count int) string { return fmt.Sprintf("%s:%d", store, count) }

// permits reads the annotation. What is no permit allows nothing.
func permits(text string) map[string]int {
	allowed := map[string]int{}
	for one := range strings.SplitSeq(text, ",") {
		store, number, _ := strings.Cut(strings.TrimSpace(one), ":")
		if count, err := strconv.Atoi(number); err == nil && count > 0 {
			allowed[store] = count
		}
	}
	return allowed
}

// use takes the permit of a store away.
func use(object *corev1.ConfigMap, store string) {
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
