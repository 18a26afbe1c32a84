package manifest_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"kyklos.io/kyklos/cli/manifest"
)

func write(t *testing.T, root string, files map[string]string) {
	t.Helper()
	for name, text := range files {
		path := filepath.Join(root, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

func configMap(name string) string {
	return "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: " + name + "}\n"
}

func names(set *manifest.Set) (names []string) {
	for _, object := range set.Objects {
		names = append(names, object.Name()+" "+filepath.ToSlash(object.File.Name))
	}
	return names
}

// A folder that is named is read, also by a link to it.
func TestReadLinkedFolder(t *testing.T) {
	t.Chdir(t.TempDir())
	write(t, ".", map[string]string{"v1/a.yaml": configMap("a")})
	if err := os.Symlink("v1", "current"); err != nil {
		t.Fatal(err)
	}
	set, err := manifest.Read([]string{"current", "current/", "./v1"}, nil)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"a current/a.yaml", "a current/a.yaml", "a v1/a.yaml"}, names(set)); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

// A folder is read with all that is below it, but for what is hidden or no manifest; what cannot be read there matters if it
// speaks of Kyklos.
func TestReadFolders(t *testing.T) {
	t.Chdir(t.TempDir())
	write(t, ".", map[string]string{
		"base/b.yaml": configMap("b"), "base/a.yml": configMap("a"), "base/deep/c.json": `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"c"}}`,
		"base/README.md": "no manifest", "base/.git/d.yaml": configMap("hidden"), "base/.e.yaml": configMap("hidden"),
		"base/templates/f.yaml": "name: {{ .x }}", "base/templates/g.yaml": "apiVersion: kyklos.io/v1beta1\nname: {{ .x }}\n",
		"named.txt": configMap("named"),
	})
	set, err := manifest.Read([]string{"named.txt", "base", "-"}, strings.NewReader(configMap("piped")))
	if err != nil {
		t.Fatal(err)
	}
	want := []string{"named named.txt", "a base/a.yml", "b base/b.yaml", "c base/deep/c.json", "piped -"}
	if diff := cmp.Diff(want, names(set)); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	if len(set.Problems) != 1 || filepath.ToSlash(set.Problems[0].File.Name) != "base/templates/g.yaml" {
		t.Errorf("problems %v", set.Problems)
	}
	if len(set.Skipped) != 1 || filepath.ToSlash(set.Skipped[0].Name) != "base/templates/f.yaml" {
		t.Errorf("skipped %v", set.Skipped)
	}
}

// What cannot be read in a folder is a problem, and stops nothing: a link to nothing, a folder with the name of a manifest, and a
// pipe, for which reading would wait for ever.
func TestReadFolderWithUnreadableEntries(t *testing.T) {
	t.Chdir(t.TempDir())
	write(t, ".", map[string]string{"a/first.yaml": configMap("first"), "a/last.yaml": configMap("last"), "b/c.yaml": configMap("c")})
	want := []string{"a/dangling.yaml: no such file or directory", "a/link.yaml is not a regular file"}
	for link, to := range map[string]string{"a/dangling.yaml": "nowhere", "a/link.yaml": "../b"} {
		if err := os.Symlink(to, link); err != nil {
			t.Fatal(err)
		}
	}
	if err := exec.Command("mkfifo", "a/pipe.yaml").Run(); err == nil {
		want = append(want, "a/pipe.yaml is not a regular file")
	}
	set, err := manifest.Read([]string{"a"}, nil)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"first a/first.yaml", "last a/last.yaml"}, names(set)); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	var got []string
	for _, problem := range set.Problems {
		got = append(got, filepath.ToSlash(strings.TrimPrefix(problem.Error(), "stat ")))
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	if files, err := manifest.Files([]string{"a"}, nil); err == nil || !strings.Contains(err.Error(), "a/dangling.yaml") {
		t.Errorf("files %v, %v", files, err)
	}
}

func TestReadMissing(t *testing.T) {
	if _, err := manifest.Read([]string{"no/such/file.yaml"}, nil); err == nil || !strings.Contains(err.Error(), "no/such/file.yaml") {
		t.Errorf("got %v", err)
	}
}

// repository is an empty one, and the working directory.
func repository(t *testing.T) {
	t.Helper()
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("git is not installed")
	}
	t.Chdir(t.TempDir())
	t.Setenv("GIT_CONFIG_GLOBAL", os.DevNull)
	git(t, "init", "-q")
}

func git(t *testing.T, args ...string) {
	t.Helper()
	command := exec.Command("git", append([]string{"-c", "user.name=a", "-c", "user.email=a@b"}, args...)...)
	if out, err := command.CombinedOutput(); err != nil {
		t.Fatalf("git %v: %s", args, out)
	}
}

// commit commits all that is there.
func commit(t *testing.T, message string) {
	t.Helper()
	git(t, "add", ".")
	git(t, "commit", "-qm", message)
}

func TestReadRevision(t *testing.T) {
	repository(t)
	write(t, ".", map[string]string{"apps/a.yaml": configMap("before"), "apps/b.yaml": configMap("gone"), "other/c.yaml": configMap("other")})
	commit(t, "first")
	write(t, ".", map[string]string{"apps/a.yaml": configMap("after"), "new/d.yaml": configMap("new")})
	git(t, "rm", "-qf", "apps/b.yaml")
	write(t, ".", map[string]string{".gitattributes": "/other export-ignore\n", ".hidden/e.yaml": configMap("hidden"), "apps/.f.yaml": configMap("hidden"), "apps/README.md": "no manifest"})
	commit(t, "second")
	here, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}

	for name, tc := range map[string]struct {
		paths, want []string
	}{
		"everything":           {nil, []string{"before HEAD~1:apps/a.yaml", "gone HEAD~1:apps/b.yaml", "other HEAD~1:other/c.yaml"}},
		"a folder":             {[]string{"./apps/"}, []string{"before HEAD~1:apps/a.yaml", "gone HEAD~1:apps/b.yaml"}},
		"a file":               {[]string{"apps/a.yaml"}, []string{"before HEAD~1:apps/a.yaml"}},
		"a folder that is new": {[]string{"new"}, nil},
		"the working folder":   {[]string{"."}, []string{"before HEAD~1:apps/a.yaml", "gone HEAD~1:apps/b.yaml", "other HEAD~1:other/c.yaml"}},
		"an absolute path":     {[]string{filepath.Join(here, "apps", "b.yaml")}, []string{"gone HEAD~1:apps/b.yaml"}},
		"out of archives":      {[]string{"other"}, []string{"other HEAD~1:other/c.yaml"}},
	} {
		set, err := manifest.ReadRevision(t.Context(), "HEAD~1", tc.paths)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if diff := cmp.Diff(tc.want, names(set)); diff != "" {
			t.Errorf("%s (-want +got)\n%s", name, diff)
		}
	}
	if _, err := manifest.ReadRevision(t.Context(), "nowhere", nil); err == nil || !strings.Contains(err.Error(), `"nowhere" is not a revision`) {
		t.Errorf("an unknown revision: %v", err)
	}
	if _, err := manifest.ReadRevision(t.Context(), "--output=x", nil); err == nil {
		t.Error("a flag was taken for a revision")
	}
	if set, err := manifest.ReadRevision(t.Context(), "HEAD", []string{"apps", "other", "new"}); err != nil || cmp.Diff([]string{"after HEAD:apps/a.yaml", "new HEAD:new/d.yaml", "other HEAD:other/c.yaml"}, names(set)) != "" {
		t.Errorf("nothing hidden, and what archives leave out: %v, %v", names(set), err)
	}
	if _, err := manifest.ReadRevision(t.Context(), "HEAD", []string{".."}); err == nil || !strings.Contains(err.Error(), "is outside of the Git repository") {
		t.Errorf("a path beyond the repository: %v", err)
	}
}

// A link is read as the file that it leads to, as in a folder; a link without a file in the revision is not a manifest there.
func TestReadRevisionFollowsLinks(t *testing.T) {
	repository(t)
	write(t, ".", map[string]string{"base/a.yaml": configMap("before"), "shop/b.yaml": configMap("b")})
	for link, to := range map[string]string{"a b.yaml": "../base/a.yaml", "folder.yaml": "../base", "gone.yaml": "nowhere.yaml", "loop.yaml": "loop.yaml", "out.yaml": "/etc/passwd"} {
		if err := os.Symlink(to, filepath.Join("shop", link)); err != nil {
			t.Fatal(err)
		}
	}
	commit(t, "first")
	write(t, ".", map[string]string{"base/a.yaml": configMap("after")})
	for _, paths := range [][]string{{"shop"}, {"shop/a b.yaml", "shop/b.yaml"}} {
		set, err := manifest.ReadRevision(t.Context(), "HEAD", paths)
		if err != nil || len(set.Problems)+len(set.Skipped) > 0 {
			t.Fatal(err, set)
		}
		if diff := cmp.Diff([]string{"before HEAD:shop/a b.yaml", "b HEAD:shop/b.yaml"}, names(set)); diff != "" {
			t.Errorf("%v (-want +got)\n%s", paths, diff)
		}
	}
}

// Paths are those of the folder one is in, and names too, also where the revision does not have that folder.
func TestReadRevisionBelowTheRoot(t *testing.T) {
	repository(t)
	write(t, ".", map[string]string{"apps/a.yaml": configMap("a"), "apps/b.yaml": configMap("b")})
	commit(t, "first")
	for folder, paths := range map[string][]string{"apps": {"a.yaml", "./b.yaml"}, "apps/new": {"../a.yaml", "../b.yaml", "c.yaml"}, "other": {"../apps"}} {
		t.Run(folder, func(t *testing.T) {
			if err := os.MkdirAll(folder, 0o755); err != nil {
				t.Fatal(err)
			}
			t.Chdir(folder)
			to := strings.TrimSuffix(paths[0], "a.yaml")
			if folder == "other" {
				to = "../apps/"
			}
			set, err := manifest.ReadRevision(t.Context(), "HEAD", paths)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff([]string{"a HEAD:" + to + "a.yaml", "b HEAD:" + to + "b.yaml"}, names(set)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// Outside of a repository the error says that, not that the revision is wrong.
func TestReadRevisionOutsideARepository(t *testing.T) {
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("git is not installed")
	}
	t.Chdir(t.TempDir())
	if _, err := manifest.ReadRevision(t.Context(), "HEAD", nil); err == nil || !strings.HasPrefix(err.Error(), "not a git repository") {
		t.Errorf("got %v", err)
	}
}
