package apischema

import (
	"fmt"
	"io/fs"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"sigs.k8s.io/yaml"

	"kyklos.io/kyklos/config/crd"
)

// Kyklos returns the schema of a version of one of Kyklos's own resources, such as timewindowscalers.
func Kyklos(resource, version string) (*Schema, error) {
	text, err := fs.ReadFile(crd.Bases, "bases/kyklos.io_"+resource+".yaml")
	if err != nil {
		return nil, err
	}
	var definition apiextensionsv1.CustomResourceDefinition
	if err := yaml.UnmarshalStrict(text, &definition); err != nil {
		return nil, err
	}
	for i := range definition.Spec.Versions {
		if v := &definition.Spec.Versions[i]; v.Name == version {
			return New(v)
		}
	}
	return nil, fmt.Errorf("%s has no version %s", definition.Name, version)
}
