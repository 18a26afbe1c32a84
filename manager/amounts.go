package manager

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
)

// amounts is a flag with amounts of resources, such as cpu=250m,memory=256Mi. Empty means none.
type amounts struct{ list *corev1.ResourceList }

// Type returns the name that --help shows.
func (amounts) Type() string { return "amounts" }

// String returns the amounts in the order of their names.
func (a amounts) String() string {
	if a.list == nil {
		return ""
	}
	var all []string
	for _, name := range slices.Sorted(maps.Keys(*a.list)) {
		amount := (*a.list)[name]
		all = append(all, string(name)+"="+amount.String())
	}
	return strings.Join(all, ",")
}

// Set replaces all amounts.
func (a amounts) Set(text string) error {
	list := corev1.ResourceList{}
	for part := range strings.SplitSeq(text, ",") {
		if text == "" {
			break
		}
		name, value, _ := strings.Cut(strings.TrimSpace(part), "=")
		switch name := corev1.ResourceName(name); name {
		case corev1.ResourceCPU, corev1.ResourceMemory, corev1.ResourceEphemeralStorage:
			amount, err := resource.ParseQuantity(value)
			if err != nil || amount.Sign() <= 0 {
				return fmt.Errorf("%s: %q is not an amount above 0, such as 500m or 4Gi", name, value)
			}
			if _, twice := list[name]; twice {
				return fmt.Errorf("%s is set twice", name)
			}
			list[name] = amount
		default:
			return errors.New("must be like cpu=250m,memory=256Mi, with cpu, memory and ephemeral-storage")
		}
	}
	*a.list = list
	return nil
}
