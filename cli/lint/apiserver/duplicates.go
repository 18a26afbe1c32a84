package apiserver

import (
	"errors"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"kyklos.io/kyklos/cli/lint"
)

// duplicate is a key that its mapping already has: its path, its name and the line of its value.
type duplicate struct {
	path, key string
	line      int
}

// duplicateKeys parses the YAML decoder's message, which names key and line of each duplicate. The paths come from
// another decoder.
func duplicateKeys(message string, text []byte) (all []Error) {
	duplicates, _ := duplicatesIn(text)
	for _, match := range duplicateKey.FindAllStringSubmatch(message, -1) {
		_, text, _ := strings.Cut(match[0], ": ")
		e := Error{Rule: lint.DuplicateField, Message: text}
		e.Field, duplicates, _ = take(duplicates, match)
		all = append(all, e)
	}
	if len(all) == 0 {
		return []Error{{Rule: lint.DuplicateField, Message: message}}
	}
	return all
}

// withoutMerged is an error of strict decoding without keys that set again what a merge key (<<) has. It is nil if nothing else is
// wrong.
func withoutMerged(err error, text []byte) error {
	strict, ok := runtime.AsStrictDecodingError(err)
	if !ok {
		return err
	}
	var kept []error
	for _, one := range strict.Errors() {
		if one = writtenTwice(one, text); one != nil {
			kept = append(kept, one)
		}
	}
	if len(kept) == 0 {
		return nil
	}
	return runtime.NewStrictDecodingError(kept)
}

// writtenTwice is the YAML decoder's message without keys that are not written twice in one mapping. Others are returned as they are.
func writtenTwice(err error, text []byte) error {
	head, lines, _ := strings.Cut(err.Error(), "\n")
	matches := duplicateKey.FindAllStringSubmatch(lines, -1)
	duplicates, merges := duplicatesIn(text)
	if !merges || len(matches) != strings.Count(lines, "\n")+1 {
		return err
	}
	kept := []string{head}
	for _, match := range matches {
		var written bool
		if _, duplicates, written = take(duplicates, match); written {
			kept = append(kept, "  "+match[0])
		}
	}
	if len(kept) == 1 {
		return nil
	}
	return errors.New(strings.Join(kept, "\n"))
}

// take removes what a match of duplicateKey is about, and returns its path.
func take(duplicates []duplicate, match []string) (path string, rest []duplicate, ok bool) {
	line, _ := strconv.Atoi(match[1])
	i := slices.IndexFunc(duplicates, func(d duplicate) bool { return strconv.Quote(d.key) == `"`+match[2]+`"` && d.line == line })
	if i < 0 {
		return "", duplicates, false
	}
	path = duplicates[i].path
	return path, slices.Delete(duplicates, i, i+1), true
}

// duplicatesIn are the keys that are written twice in one mapping, and whether there is any merge key.
func duplicatesIn(text []byte) (duplicates []duplicate, merges bool) {
	var root yaml.Node
	if yaml.Unmarshal(text, &root) != nil || len(root.Content) == 0 {
		return nil, false
	}
	return findDuplicates(root.Content[0], nil), hasMerge(root.Content[0])
}

func hasMerge(node *yaml.Node) bool {
	return node.Tag == "!!merge" || slices.ContainsFunc(node.Content, hasMerge)
}

func findDuplicates(node *yaml.Node, path *field.Path) (all []duplicate) {
	switch node.Kind {
	case yaml.SequenceNode:
		for i, item := range node.Content {
			all = append(all, findDuplicates(item, path.Index(i))...)
		}
	case yaml.MappingNode:
		seen := map[string]bool{}
		for i := 0; i+1 < len(node.Content); i += 2 {
			key, value := node.Content[i].Value, node.Content[i+1]
			at := path.Child(key)
			if seen[key] {
				all = append(all, duplicate{at.String(), key, value.Line})
			}
			seen[key] = true
			all = append(all, findDuplicates(value, at)...)
		}
	}
	return all
}
