package main

import (
	"errors"
	"os"
	"path/filepath"
	"syscall"

	"kyklos.io/kyklos/apis/v1alpha1"
)

// homesFolder is in the cluster's folder.
const homesFolder = "homes"

// homes are links to the homes: homes/NAMESPACE/NAME leads to the folder of the volume, and homes/NAMESPACE/NAME.tar.gz
// to the archive of a home without a volume.
type homes struct {
	// dir is the cluster's folder.
	dir string
}

// of returns the link of the workspace's home, or -.
func (h homes) of(ws *v1alpha1.Workspace) string {
	link, _ := h.place(ws)
	if link == "" {
		return "-"
	}
	return link
}

// place returns the link and its target, or "".
func (h homes) place(ws *v1alpha1.Workspace) (link, target string) {
	link = filepath.Join(h.dir, homesFolder, ws.Namespace, ws.Name)
	up := filepath.Join("..", "..")
	switch volume := ws.Status.Volume; {
	case volume != nil && volume.UID != "" && volume.Content != v1alpha1.ContentUninitialized:
		return link, filepath.Join(up, "volumes", volume.UID, "home")
	case ws.Status.ArchiveKey != "":
		return link + ".tar.gz", filepath.Join(up, "store", "homes", ws.Status.ArchiveKey)
	default:
		return "", ""
	}
}

// link creates the links of these workspaces and removes all others. It keeps files that are not links.
func (h homes) link(workspaces []v1alpha1.Workspace) error {
	wanted := map[string]string{}
	for i := range workspaces {
		if link, target := h.place(&workspaces[i]); link != "" {
			wanted[link] = target
		}
	}
	links, err := filepath.Glob(filepath.Join(h.dir, homesFolder, "*", "*"))
	errs := []error{err}
	for _, link := range links {
		target, err := os.Readlink(link)
		switch {
		case errors.Is(err, syscall.EINVAL):
			delete(wanted, link)
		case err != nil:
			errs = append(errs, err)
		case wanted[link] == target:
			delete(wanted, link)
		default:
			errs = append(errs, os.Remove(link))
		}
	}
	for link, target := range wanted {
		errs = append(errs, os.MkdirAll(filepath.Dir(link), 0o700), os.Symlink(target, link))
	}
	return errors.Join(errs...)
}
