package docs

import (
	"regexp"
	"slices"
	"strings"
	"testing"
)

// The samples quote the newest Kubernetes. Older minor versions word a few refusals of the schema differently.

var (
	// beforeFormats are the minor versions whose API servers do not know the formats of numbers.
	beforeFormats = []string{"1.34", "1.35"}
	// beforeValues is the minor version whose API server prints the type of a value that a rule refuses, instead of the value.
	// A count that may be a percentage has no type.
	beforeValues = "1.34"

	ofFormat = regexp.MustCompile(`^<nil>: Invalid value: "": Checked value must be of type integer `)
	asInt32  = regexp.MustCompile(`"float64": (\S+) in body must be of type int32: "float64"$`)
	typeOf   = regexp.MustCompile(`^(\S+: Invalid value: )"(?:string|integer|number|boolean|object|array|)": `)
	valueOf  = regexp.MustCompile(`^(\S+: Invalid value: )(?:"(?:[^"\\]|\\.)*"|-?[0-9.]+): `)
)

// inOneWording returns want as an API server of the minor version says it, and got with the values that such a server leaves out.
// "" is the newest version.
func inOneWording(minor string, want, got []string) (wanted, said []string) {
	wanted, said = slices.Clone(want), slices.Clone(got)
	if slices.Contains(beforeFormats, minor) {
		wanted = slices.DeleteFunc(wanted, ofFormat.MatchString)
		for i := range wanted {
			wanted[i] = asInt32.ReplaceAllString(wanted[i], `"number": $1 in body must be of type integer: "number"`)
		}
	}
	if minor != beforeValues {
		return wanted, said
	}
	for i, message := range said {
		if strings.Contains(message, " in body ") || !typeOf.MatchString(message) {
			continue // refused by the schema, or by a webhook: the same in all versions
		}
		bare := typeOf.ReplaceAllString(message, "$1")
		for _, w := range wanted {
			if valueOf.ReplaceAllString(w, "$1") == bare {
				said[i] = w
			}
		}
	}
	return wanted, said
}

// Only what is known to differ in a minor version is forgiven there.
func TestOlderWording(t *testing.T) {
	const (
		rule      = `spec.defaultReplicas: Invalid value: "2": must be a number`
		ruleOf134 = `spec.defaultReplicas: Invalid value: "string": must be a number`
		list      = `spec.windows: Invalid value: names of windows must be unique`
		listOf134 = `spec.windows: Invalid value: "array": names of windows must be unique`
		noType134 = `spec.defaultReplicas: Invalid value: "": must be a number`
		quoted    = `spec.storage.mountPath: Invalid value: "/a\"b\n": must be a path`
		pathOf134 = `spec.storage.mountPath: Invalid value: "string": must be a path`
		format    = `<nil>: Invalid value: "": Checked value must be of type integer with format int32 in spec.windows[0].replicas`
		half      = `spec.windows[0].replicas: Invalid value: "float64": spec.windows[0].replicas in body must be of type int32: "float64"`
		halfOf135 = `spec.windows[0].replicas: Invalid value: "number": spec.windows[0].replicas in body must be of type integer: "number"`
		bound     = `spec.gracePeriodSeconds: Invalid value: -1: spec.gracePeriodSeconds in body should be greater than or equal to 0`
		webhook   = `spec.targetRef.kind: Invalid value: "Pod": Pod of v1 cannot be scaled`
	)
	for name, tc := range map[string]struct {
		minor     string
		want, got []string
		equal     bool
	}{
		"a rule about a value":            {"1.34", []string{rule}, []string{ruleOf134}, true},
		"a rule without a type":           {"1.34", []string{rule}, []string{noType134}, true},
		"a rule about a list":             {"1.34", []string{list}, []string{listOf134}, true},
		"a rule about quotes":             {"1.34", []string{quoted}, []string{pathOf134}, true},
		"another rule":                    {"1.34", []string{rule}, []string{`spec.defaultReplicas: Invalid value: "string": must be odd`}, false},
		"another field":                   {"1.34", []string{rule}, []string{strings.Replace(ruleOf134, "default", "baseline", 1)}, false},
		"another value of a webhook":      {"1.34", []string{webhook}, []string{strings.Replace(webhook, "Pod", "Job", 1)}, false},
		"another value of the schema":     {"1.34", []string{bound}, []string{strings.Replace(bound, "-1", "-2", 1)}, false},
		"the type in a later version":     {"1.35", []string{rule}, []string{ruleOf134}, false},
		"no format":                       {"1.35", []string{format, half}, []string{halfOf135}, true},
		"no format in the oldest":         {"1.34", []string{format, half}, []string{halfOf135}, true},
		"no format in a later version":    {"1.36", []string{format, half}, []string{halfOf135}, false},
		"a format that is not said to be": {"1.35", []string{half}, []string{format, halfOf135}, false},
		"a bound that is missing":         {"1.35", []string{format, bound}, nil, false},
		"the newest":                      {"", []string{format, half, rule}, []string{format, half, rule}, true},
	} {
		if want, got := inOneWording(tc.minor, tc.want, tc.got); slices.Equal(want, got) != tc.equal {
			t.Errorf("%s: got %q and %q, want equal %t", name, want, got, tc.equal)
		}
	}
}
