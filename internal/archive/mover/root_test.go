package mover

import (
	"strings"
	"testing"

	"kyklos.io/kyklos/internal/archive/filestore"
)

// W98: what file systems and Kyklos itself put beside the home does not matter, and is not archived.
func TestWhatTheStorageMakesIsNotBesideTheHome(t *testing.T) {
	from := volume(t, someHome)
	for _, name := range []string{"lost+found/#12", ".snapshot/daily/x", ".nfs000012", ".kyklos/lock", "System Volume Information/x"} {
		write(t, from, name, "x")
	}
	store := filestore.New(t.TempDir())
	if _, err := Archive(t.Context(), archiving(store, from)); err != nil {
		t.Fatal(err)
	}
	committed(t, store, tree(t, from))
}

// W98: an adopted volume needs a home before anything is started on it. The error says what is there instead.
func TestCheckHome(t *testing.T) {
	for name, test := range map[string]struct {
		files  map[string]string
		code   Code
		says   string
		volume string // "" is one with files
	}{
		"a home":                         {files: map[string]string{"home/x": "", "lost+found/y": ""}, code: OK},
		"a home, and others":             {files: map[string]string{"home/x": "", "y": ""}, code: OK},
		"an empty home":                  {files: map[string]string{"home/": ""}, code: OK},
		"nothing":                        {code: HomeMissing, says: "no folder home with files, and nothing else"},
		"what was restored, without it":  {files: map[string]string{".kyklos/content.json": "{}"}, code: HomeMissing, says: "and nothing else"},
		"a home in the root":             {files: map[string]string{"thesis.txt": "", "b\n": ""}, code: HomeMissing, says: `in its root is "b\n", "thesis.txt"`},
		"many files":                     {files: map[string]string{"1": "", "2": "", "3": "", "4": "", "5": "", "6": "", "7": ""}, code: HomeMissing, says: `"5" and 2 more`},
		"a folder that a kubelet made":   {files: map[string]string{"home/": "", "thesis.txt": ""}, code: HomeMissing, says: `in its root is "thesis.txt"`},
		"a file of the name":             {files: map[string]string{"home": "x"}, code: HomeMissing, says: "and nothing else"},
		"a volume that cannot be opened": {volume: "/nowhere", code: TarCreateFailed, says: "/nowhere"},
	} {
		t.Run(name, func(t *testing.T) {
			folder := test.volume
			if folder == "" {
				folder = volume(t, nil)
			}
			for file, content := range test.files {
				if strings.HasSuffix(file, "/") {
					write(t, folder, file+"x", "")
					remove(t, folder, file+"x")
					continue
				}
				write(t, folder, file, content)
			}
			err := CheckHome(folder)
			if codeOf(err) != test.code || err != nil && !strings.Contains(err.Error(), test.says) {
				t.Errorf("%v, want %s with %q", err, test.code, test.says)
			}
		})
	}
}
