package docs

import (
	"bytes"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	sigsyaml "sigs.k8s.io/yaml"

	"kyklos.io/kyklos/cli/lint/policy"
	"kyklos.io/kyklos/cli/manifest"
	"kyklos.io/kyklos/test/harness"
)

const pipelines = "docs/pipelines"

// These are the keys that the pipeline samples may have. Any other one is misspelt.
type (
	workflow struct {
		Name string
		On   struct {
			PullRequest struct{ Paths []string } `yaml:"pull_request"`
		}
		Permissions map[string]string
		Jobs        map[string]struct {
			RunsOn    string `yaml:"runs-on"`
			Container string
			Steps     []struct {
				Name, Uses, Run, If string
				With                map[string]any
			}
		}
	}
	gitlab map[string]struct {
		Image string
		Rules []struct {
			If      string
			Changes []string
		}
		Script    []string
		Artifacts struct {
			When    string
			Reports struct {
				JUnit string `yaml:"junit"`
			}
		}
	}
	preCommit struct {
		Repos []struct {
			Repo  string
			Hooks []struct {
				ID            string
				Name          string
				Language      string
				Entry         string
				Files         string
				PassFilenames bool `yaml:"pass_filenames"`
			}
		}
	}
)

// readStrictly reads a sample that is not a Kubernetes manifest.
func readStrictly(t *testing.T, name string, into any) {
	t.Helper()
	decoder := yaml.NewDecoder(strings.NewReader(readText(t, filepath.Join(pipelines, name))))
	decoder.KnownFields(true)
	if err := decoder.Decode(into); err != nil {
		t.Fatalf("%s: %v", name, err)
	}
}

// pipelineCommands are the samples' commands that run kyklos.
func pipelineCommands(t *testing.T) (all []string) {
	var github workflow
	readStrictly(t, "github-actions.yaml", &github)
	for name, job := range github.Jobs {
		if job.RunsOn == "" || job.Container == "" {
			t.Errorf("job %s has no machine or no image", name)
		}
		for _, step := range job.Steps {
			if (step.Uses == "") == (step.Run == "") {
				t.Errorf("step %+v must either use or run something", step)
			}
			all = append(all, step.Run)
		}
	}
	var lab gitlab
	readStrictly(t, "gitlab-ci.yaml", &lab)
	for name, job := range lab {
		if !strings.Contains(strings.Join(job.Script, "\n"), "> "+job.Artifacts.Reports.JUnit+" ") {
			t.Errorf("job %s writes no report %q", name, job.Artifacts.Reports.JUnit)
		}
		all = append(all, job.Script...)
	}
	var hooks preCommit
	readStrictly(t, "pre-commit-config.yaml", &hooks)
	for _, repo := range hooks.Repos {
		for _, hook := range repo.Hooks {
			if !regexp.MustCompile(hook.Files).MatchString("deploy/shop/web.yaml") {
				t.Errorf("%q matches no manifest", hook.Files)
			}
			all = append(all, hook.Entry)
		}
	}
	return slices.DeleteFunc(all, func(command string) bool { return !strings.Contains(command, "kyklos lint") })
}

// The pipelines run the same commands as the page, where TestDocumentedCommands runs them.
func TestPipelinesRunWhatThePageRuns(t *testing.T) {
	page := section(readText(t, "docs/pipelines.md"), "## The same by hand")
	all := pipelineCommands(t)
	if len(all) != 5 {
		t.Errorf("%d commands: %q", len(all), all)
	}
	for _, command := range all {
		if !strings.Contains(page, "\n$ "+command) {
			t.Errorf("the page does not run %q", command)
		}
	}
}

var ymlBlock = regexp.MustCompile("(?ms)^```yml\n(.*?)^```$")

// The page shows each file below its link.
func TestPipelinesAreShown(t *testing.T) {
	page := readText(t, "docs/pipelines.md")
	shown := map[string]bool{}
	for _, match := range ymlBlock.FindAllStringSubmatchIndex(page, -1) {
		link := page[strings.LastIndex(page[:match[0]], "](pipelines/")+len("](pipelines/"):]
		name, _, _ := strings.Cut(link, ")")
		shown[name] = true
		if file := readText(t, filepath.Join(pipelines, name)); file != page[match[2]:match[3]] {
			t.Errorf("%s is not as the page shows it", name)
		}
	}
	for _, name := range []string{"github-actions.yaml", "gitlab-ci.yaml", "pre-commit-config.yaml", "policies.yaml", "argocd/lint-job.yaml", "argocd/kustomization.yaml"} {
		if !shown[name] {
			t.Errorf("the page does not show %s", name)
		}
	}
	err := filepath.WalkDir(filepath.Join(root, pipelines), func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		data, err := os.ReadFile(path)
		if !bytes.HasSuffix(data, []byte("\n")) || bytes.Contains(data, []byte("\t")) {
			t.Errorf("%s has tabs, or no end", path)
		}
		return err
	})
	if err != nil {
		t.Error(err)
	}
}

// The Job runs lint without permissions before the sync, and reads what kustomize mounts.
func TestJobBeforeTheSync(t *testing.T) {
	var job batchv1.Job
	harness.Must(t, sigsyaml.UnmarshalStrict([]byte(readText(t, filepath.Join(pipelines, "argocd/lint-job.yaml"))), &job))
	pod := job.Spec.Template.Spec
	if job.Annotations["argocd.argoproj.io/hook"] != "PreSync" || pod.RestartPolicy != corev1.RestartPolicyNever {
		t.Errorf("%v %s", job.Annotations, pod.RestartPolicy)
	}
	kustomization := readText(t, filepath.Join(pipelines, "argocd/kustomization.yaml"))
	if !strings.Contains(kustomization, "\n- name: "+pod.Volumes[0].ConfigMap.Name+"\n") {
		t.Errorf("no ConfigMap %s is made", pod.Volumes[0].ConfigMap.Name)
	}
	container := pod.Containers[0]
	if container.VolumeMounts[0].MountPath != container.Args[2] || container.VolumeMounts[0].Name != pod.Volumes[0].Name {
		t.Errorf("the Job lints %s, and has %v", container.Args[2], container.VolumeMounts)
	}
	documents := split(t, []byte(readText(t, filepath.Join(pipelines, "argocd/lint-rbac.yaml"))))
	var account corev1.ServiceAccount
	var role rbacv1.Role
	var binding rbacv1.RoleBinding
	for i, into := range []any{&account, &role, &binding} {
		harness.Must(t, sigsyaml.UnmarshalStrict([]byte(documents[i]), into))
	}
	if account.Name != pod.ServiceAccountName || binding.Subjects[0].Name != account.Name || binding.RoleRef.Name != role.Name {
		t.Error(account.Name, pod.ServiceAccountName, binding)
	}
	for _, rule := range role.Rules {
		if slices.Contains(rule.Resources, "secrets") || slices.ContainsFunc(rule.Verbs, func(verb string) bool { return verb != "get" && verb != "list" }) {
			t.Errorf("the Job may do more than read: %+v", rule)
		}
	}
}

func TestPoliciesOfThePageCompile(t *testing.T) {
	name := filepath.Join(pipelines, "policies.yaml")
	objects, problems := manifest.Parse(&manifest.File{Name: name, Data: []byte(readText(t, name))})
	if _, err := policy.Load(objects, nil); err != nil || len(problems) > 0 {
		t.Error(err, problems)
	}
}
