package newest

import "k8s.io/apimachinery/pkg/util/resourceversion"

// order is how the cache's state relates to the known one.
type order int

const (
	current order = iota
	behind
	unclear
)

func (o *Object[T]) compare(cached State[T]) order {
	switch {
	case o.last.UID == "" && !o.ahead: // nothing is known
		return current
	case cached.UID == "":
		if o.gone || !o.ahead { // the cache had the object, and so it has been deleted
			return current
		}
		return unclear // created or deleted
	case o.last.UID == "":
		return unclear // deleted or created
	case o.gone && cached.UID == o.last.UID:
		return behind
	}
	switch {
	case cached.UID == o.last.UID && cached.ResourceVersion == o.last.ResourceVersion:
		return current
	case older(cached.ResourceVersion, o.last.ResourceVersion):
		return behind
	case !older(o.last.ResourceVersion, cached.ResourceVersion), o.void != "" && !older(o.void, cached.ResourceVersion):
		return unclear
	default:
		return current
	}
}

// older compares resourceVersions, which grow (KEP-5504). Of versions that cannot be compared, none is older.
func older(a, b string) bool {
	order, err := resourceversion.CompareResourceVersion(a, b)
	return err == nil && order < 0
}
