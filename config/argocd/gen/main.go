// Command gen writes config/argocd/argocd-cm.yaml: the health checks and the actions of
// config/argocd/resource_customizations in the form in which Argo CD takes them from its ConfigMap.
package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/yaml"
)

//go:generate go run . ../resource_customizations/kyklos.io ../argocd-cm.yaml

func main() {
	if len(os.Args) != 3 {
		fmt.Fprintln(os.Stderr, "usage: gen SCRIPTS PATCH.yaml")
		os.Exit(2)
	}
	patch, err := patchOf(os.Args[1])
	if err == nil {
		err = os.WriteFile(os.Args[2], patch, 0o644)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "gen:", err)
		os.Exit(1)
	}
}

const header = `# How Argo CD shows TimeWindowScalers and Workspaces, and what its menu offers. Generated from resource_customizations:
# kubectl --namespace argocd patch configmap argocd-cm --patch-file config/argocd/argocd-cm.yaml
`

// actions is the value of the ConfigMap's key resource.customizations.actions.
type actions struct {
	Discovery   string       `json:"discovery.lua"`
	Definitions []definition `json:"definitions"`
}

type definition struct {
	Name   string `json:"name"`
	Script string `json:"action.lua"`
}

// patchOf returns a patch for argocd-cm with the scripts below folder, which is laid out as
// resource_customizations/GROUP of Argo CD itself: a folder for each kind.
func patchOf(folder string) ([]byte, error) {
	kinds, err := os.ReadDir(folder)
	if err != nil {
		return nil, err
	}
	configMap := corev1.ConfigMap{Data: map[string]string{}}
	configMap.APIVersion, configMap.Kind = "v1", "ConfigMap"
	configMap.Name = "argocd-cm"
	for _, kind := range kinds {
		if err := addKind(configMap.Data, filepath.Join(folder, kind.Name()), filepath.Base(folder)+"_"+kind.Name()); err != nil {
			return nil, err
		}
	}
	text, err := yaml.Marshal(configMap)
	return bytes.Join([][]byte{[]byte(header), text}, nil), err
}

// addKind adds the scripts below folder; name is the part of a key in argocd-cm that names the kind.
func addKind(data map[string]string, folder, name string) error {
	health, err := os.ReadFile(filepath.Join(folder, "health.lua"))
	if err != nil {
		return err
	}
	discovery, err := os.ReadFile(filepath.Join(folder, "actions", "discovery.lua"))
	if err != nil {
		return err
	}
	menu := actions{Discovery: string(discovery)}
	scripts, err := filepath.Glob(filepath.Join(folder, "actions", "*", "action.lua")) // in the order of their names
	if err != nil {
		return err
	}
	for _, path := range scripts {
		script, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		menu.Definitions = append(menu.Definitions, definition{Name: filepath.Base(filepath.Dir(path)), Script: string(script)})
	}
	text, err := yaml.Marshal(menu)
	data["resource.customizations.health."+name] = string(health)
	data["resource.customizations.actions."+name] = string(text)
	return err
}
