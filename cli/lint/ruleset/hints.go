package ruleset

import (
	"fmt"
	"regexp"
	"strconv"

	"go.yaml.in/yaml/v3"

	"kyklos.io/kyklos/cli/lint/apiserver"
	"kyklos.io/kyklos/cli/manifest"
)

// mistyped are the schema's messages for a scalar of another type: the types that are wanted and written.
var mistyped = regexp.MustCompile(`in body must be of type (string|integer|boolean): "(?:string|integer|number|boolean)"$`)

// timeOfDay are the fields that are easily written as 12:30 without quotes.
var timeOfDay = regexp.MustCompile(`^spec\.windows\[\d+\]\.(start|end)$`)

const minutesPerDay = 24 * 60

// quotesHint is what to add to a message about a scalar that lacks quotes, or has too many; "" for other errors.
func quotesHint(object *manifest.Object, e apiserver.Error) string {
	match := mistyped.FindStringSubmatch(e.Message)
	node := object.Node(e.Field)
	if match == nil || node == nil || node.Kind != yaml.ScalarNode || len(node.Value) > 40 {
		return ""
	}
	switch minutes, err := strconv.Atoi(node.Value); {
	case match[1] == "integer" && err == nil, match[1] == "boolean" && (node.Value == "true" || node.Value == "false"):
		return "; write " + node.Value + " without quotes"
	case match[1] != "string":
		return ""
	case timeOfDay.MatchString(e.Field) && err == nil && 0 <= minutes && minutes < minutesPerDay: // as in YAML 1.1
		return fmt.Sprintf(`; write a time such as "09:00" in quotes, without which some tools read %d:%02d as %[3]d`, minutes/60, minutes%60, minutes)
	case timeOfDay.MatchString(e.Field):
		return `; write a time such as "09:00" in quotes`
	}
	return "; write " + strconv.Quote(node.Value)
}
