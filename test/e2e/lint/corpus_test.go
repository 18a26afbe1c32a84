package lint_test

import (
	"encoding/json"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"kyklos.io/kyklos/cli/manifest"
)

// corpus is everything that is asked of the API server: the samples, what is written in this folder's tables, and what
// a fuzzer makes of the objects in testdata, the same each time.
func corpus() (all []*trial, err error) {
	for _, part := range []func() ([]*trial, error){samples, bases, metadata, oddities, mutants, updates} {
		more, err := part()
		if err != nil {
			return nil, err
		}
		all = append(all, more...)
	}
	return all, nil
}

// read makes trials of the objects of Kyklos in a text, or one of a text that cannot be read.
func read(name, text string) (all []*trial, err error) {
	objects, problems := manifest.Parse(&manifest.File{Name: name, Data: []byte(text)})
	for _, problem := range problems {
		content := map[string]any{"apiVersion": "kyklos.io/v1beta1", "kind": "TimeWindowScaler"}
		return []*trial{{name: name, unreadable: problem, object: &manifest.Object{Raw: []byte(text), Object: content}}}, nil
	}
	for _, object := range objects {
		if object.GroupVersionKind().Group == "kyklos.io" {
			all = append(all, &trial{name: fmt.Sprintf("%s (%d)", name, object.Document), object: object})
		}
	}
	return all, nil
}

// asJSON is the object as kubectl sends it.
func asJSON(object *manifest.Object) *manifest.Object {
	return fromMap(object.Object)
}

func fromMap(content map[string]any) *manifest.Object {
	text, err := json.Marshal(content)
	if err != nil {
		panic(err)
	}
	objects, problems := manifest.Parse(&manifest.File{Name: "-", Data: text})
	if len(problems) > 0 || len(objects) != 1 {
		panic(fmt.Sprintf("%v in %s", problems, text))
	}
	return objects[0]
}

const samplesDir = "../../../config/samples"

// samples are the files of config/samples: as they are, as kubectl sends them, and with the other version of their kind.
func samples() (all []*trial, err error) {
	err = filepath.WalkDir(samplesDir, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || filepath.Ext(path) != ".yaml" || entry.Name() == "kustomization.yaml" {
			return err
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		found, err := read(strings.TrimPrefix(path, samplesDir+"/"), string(text))
		for _, sample := range found {
			all = append(all, sample, &trial{name: sample.name + " as JSON", object: asJSON(sample.object)})
			if sample.object.GroupVersionKind().Kind != "TimeWindowScaler" {
				continue
			}
			other := map[string]string{"v1beta1": "v1alpha1", "v1alpha1": "v1beta1"}[sample.object.GroupVersionKind().Version]
			content := sample.object.Unstructured().DeepCopy().Object
			content["apiVersion"] = "kyklos.io/" + other
			all = append(all, &trial{name: sample.name + " as " + other, object: fromMap(content)})
		}
		return err
	})
	return all, err
}

// bases are the objects that mutants are made of. Every one is valid.
func bases() (all []*trial, err error) {
	files, err := filepath.Glob("testdata/*.yaml")
	if err != nil || len(files) == 0 {
		return nil, fmt.Errorf("no objects in testdata: %w", err)
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			return nil, err
		}
		found, err := read(file, string(text))
		if err != nil || len(found) != 1 {
			return nil, fmt.Errorf("%s: %d objects, %w", file, len(found), err)
		}
		all = append(all, found[0], &trial{name: file + " as JSON", object: asJSON(found[0].object)})
	}
	return all, nil
}

const (
	seed = 6
	// share of the mutants that do not aim at a rule, and are drawn.
	share = 0.15
	// combined is how many objects have two or three faults.
	combined = 250
)

// mutants are the bases with every rule of their schema broken, with faults of other kinds at some places, and with two or
// three faults at once.
func mutants() (all []*trial, err error) {
	random := rand.New(rand.NewPCG(seed, seed))
	schemas, err := structurals()
	if err != nil {
		return nil, err
	}
	valid, err := bases()
	if err != nil {
		return nil, err
	}
	valid = slices.DeleteFunc(valid, func(t *trial) bool { return strings.HasSuffix(t.name, "JSON") })
	add := func(base *trial, m mutant) {
		all = append(all, &trial{name: filepath.Base(base.name) + ": " + m.name, object: fromMap(m.content)})
	}
	faults := map[*trial][]mutant{}
	for _, base := range valid {
		faults[base] = mutate(base.object.Object, schemas[base.object.GroupVersionKind()])
		for _, m := range faults[base] {
			if m.aimed || random.Float64() < share {
				add(base, m)
			}
		}
	}
	for range combined {
		base := valid[random.IntN(len(valid))]
		m := faults[base][random.IntN(len(faults[base]))]
		for range 1 + random.IntN(2) {
			next := mutate(m.content, schemas[base.object.GroupVersionKind()])
			if len(next) == 0 {
				break
			}
			n := next[random.IntN(len(next))]
			m = mutant{name: m.name + ", " + n.name, content: n.content}
		}
		if _, ok := m.content["metadata"].(map[string]any); ok && m.content["kind"] != nil && m.content["apiVersion"] != nil {
			add(base, m)
		}
	}
	return all, nil
}
