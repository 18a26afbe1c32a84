package lint

import "cmp"

// descriptions say in a sentence what each rule is about.
var descriptions = map[Rule]string{
	UnknownField:   "The schema has no such field: it would be dropped, or kubectl refuses it.",
	DuplicateField: "The field is there twice, and only the last one would count.",
	Invalid:        "The API server refuses the value: type, schema, list keys, metadata or a CEL rule of the definition.",
	Refused:        "The admission webhook of Kyklos refuses the object.",
	Warned:         "The API server or Kyklos takes the object and warns of it.",
	Policy:         "A ValidatingAdmissionPolicy of the organisation speaks against the object.",
}

// Description says in a sentence what the rule is about.
func (r Rule) Description() string {
	return cmp.Or(descriptions[r], "See docs/lint.md.")
}
