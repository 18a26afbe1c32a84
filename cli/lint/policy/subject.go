package policy

import (
	"regexp"
	"strings"
)

// fieldOf is a chain of fields of the object in an expression, and what follows it.
var fieldOf = regexp.MustCompile(`\bobject((?:\.\??[A-Za-z_][A-Za-z0-9_]*)+)(\(?)`)

// subject is the field that an expression is about: what all the fields of the object in it begin with, "" for the object as a whole.
// It only says where to look.
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
