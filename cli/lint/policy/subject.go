package policy

import (
	"regexp"
	"strings"
)

// fieldOf matches a path of fields of the object in an expression, and a parenthesis after it.
var fieldOf = regexp.MustCompile(`\bobject((?:\.\??[A-Za-z_][A-Za-z0-9_]*)+)(\(?)`)

// subject guesses the field that an expression is about: the common prefix of the object's fields in it, "" for the
// whole object.
func subject(expression string) string {
	var common []string
	for i, found := range fieldOf.FindAllStringSubmatch(expression, -1) {
		steps := strings.Split(strings.ReplaceAll(found[1], "?", ""), ".")[1:]
		if found[2] != "" { // the last one is a function
			steps = steps[:len(steps)-1]
		}
		if i == 0 {
			common = steps
			continue
		}
		equal := 0
		for equal < min(len(common), len(steps)) && common[equal] == steps[equal] {
			equal++
		}
		common = common[:equal]
	}
	return strings.Join(common, ".")
}
