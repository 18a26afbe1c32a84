package schedule

import (
	"regexp"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation/field"
)

// maxNameLength is that of status.currentWindow, which shows the name. A longer one could never be stored there.
const maxNameLength = 63

var validName = regexp.MustCompile(`^[A-Za-z0-9]([-A-Za-z0-9_.]*[A-Za-z0-9])?$`)

// nameError returns why a window cannot have its name. The schema says the same, but an object can be older than its rules.
func nameError(name string, path *field.Path) *field.Error {
	switch {
	case name == "":
		return nil
	case len(name) > maxNameLength:
		return field.TooLong(path, name, maxNameLength)
	case !validName.MatchString(name) || name == "OffHours" || name == "Holiday" || strings.HasPrefix(name, "Custom-"):
		return field.Invalid(path, name, "must be letters, digits, '-', '_' and '.', starting and ending with a letter or digit; OffHours, Holiday and names starting with Custom- are reserved")
	}
	return nil
}
