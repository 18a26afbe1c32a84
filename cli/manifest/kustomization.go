package manifest

import (
	"slices"
	"strings"

	k8syaml "sigs.k8s.io/yaml"
)

// kustomizationNames are the files in which kustomize looks for what to do with a folder.
var kustomizationNames = []string{"kustomization.yaml", "kustomization.yml", "Kustomization"}

// kustomization is what matters here of such a file: what it takes in, and what makes something else of it.
type kustomization struct {
	Resources  []string `json:"resources"`
	Bases      []string `json:"bases"` // the older name
	Components []string `json:"components"`

	Patches               []patch  `json:"patches"`
	PatchesJSON6902       []patch  `json:"patchesJson6902"`
	PatchesStrategicMerge []string `json:"patchesStrategicMerge"` // paths, or the patches themselves

	Namespace    string `json:"namespace"`
	NamePrefix   string `json:"namePrefix"`
	NameSuffix   string `json:"nameSuffix"`
	Replicas     []any  `json:"replicas"`
	Replacements []any  `json:"replacements"`
	Transformers []any  `json:"transformers"`
	Generators   []any  `json:"generators"`
	HelmCharts   []any  `json:"helmCharts"`
}

// patch is one that stands in a file of its own, or without a path in the kustomization.
type patch struct {
	Path string `json:"path"`
}

// readKustomization is nil if it cannot be read. Of one that is wrong in places, kustomize says so; the rest is taken.
func readKustomization(data []byte) *kustomization {
	var k kustomization
	asJSON, err := k8syaml.YAMLToJSON(data)
	if err != nil {
		return nil
	}
	_ = k8syaml.Unmarshal(asJSON, &k)
	return &k
}

// entries are the files and folders that it takes in, relative to its own; of others, as of the web, there is no file here.
func (k *kustomization) entries() []string {
	return slices.Concat(k.Resources, k.Bases, k.Components)
}

// patchFiles are the files that hold no more than patches.
func (k *kustomization) patchFiles() (paths []string) {
	for _, p := range slices.Concat(k.Patches, k.PatchesJSON6902) {
		if p.Path != "" {
			paths = append(paths, p.Path)
		}
	}
	for _, text := range k.PatchesStrategicMerge {
		if !strings.Contains(text, "\n") {
			paths = append(paths, text)
		}
	}
	return paths
}

// changes reports whether it makes something else of what it takes in than what stands there. Labels, annotations and images do not
// matter to Kyklos.
func (k *kustomization) changes() bool {
	some := len(k.Patches) + len(k.PatchesJSON6902) + len(k.PatchesStrategicMerge) + len(k.Components) +
		len(k.Replicas) + len(k.Replacements) + len(k.Transformers) + len(k.Generators) + len(k.HelmCharts)
	return some > 0 || k.Namespace+k.NamePrefix+k.NameSuffix != ""
}
