package api

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// annsHome is a Workspace with all fields that the tests change.
const annsHome = `
apiVersion: kyklos.io/v1alpha1
kind: Workspace
metadata: {name: ann, namespace: shop}
spec:
  owner: ann
  image: registry.example.com/ide:1.2
  env: [{name: EDITOR, value: vim}]
  resources: {requests: {cpu: 500m}, limits: {cpu: 2, memory: 4Gi}}
  tolerations: [{key: dedicated, value: ide, effect: NoSchedule}]
  storage: {size: 10Gi, storageClassName: standard, mountPath: /home/ann}
  archive: {storeRef: {name: store}}
  deletionPolicy: Delete
status: {}
`

func workspaceValidator(t *testing.T) validator {
	return newValidator(t, "workspaces.kyklos.io", "v1alpha1")
}

// The defaults of W47 and W49, and of everything else.
func TestWorkspaceDefaults(t *testing.T) {
	obj := object(t, "apiVersion: kyklos.io/v1alpha1\nkind: Workspace\nmetadata: {name: a}\nspec: {image: a}")
	if errs := workspaceValidator(t).create(t, obj); len(errs) > 0 {
		t.Fatal(errs)
	}
	want := object(t, `
desiredState: RUNNING
pause: false
image: a
ports: [8080]
resources: {requests: {cpu: 500m, memory: 512Mi}, limits: {cpu: "2", memory: 4Gi}}
terminationGracePeriodSeconds: 30
storage: {size: 10Gi, accessMode: ReadWriteOnce, mountPath: /home/coder}
standbyTTLSeconds: 300
archiveTTLSeconds: 86400
timeouts: {provisioningSeconds: 300, restoringSeconds: 1800, archivingSeconds: 1800, startingSeconds: 300, stoppingSeconds: 300, deletingSeconds: 600}
deletionPolicy: Delete`)
	if diff := cmp.Diff(want, obj["spec"]); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

func TestWorkspaceAccepts(t *testing.T) {
	validator := workspaceValidator(t)
	const image, mount = "registry.example.com/ide:1.2", "mountPath: /home/ann"
	for name, edit := range map[string][]string{
		"as it is":                       nil,
		"a name of 50":                   {"{name: ann,", "{name: " + strings.Repeat("a", 50) + ","},
		"no owner":                       {"owner: ann", "pause: true"},
		"an image's name alone":          {image, "busybox"},
		"an image with a port":           {image, `"localhost:5000/ide"`},
		"an image of an IPv6 registry":   {image, `"[fd00::1]:5000/team/ide__x:V1.0-rc_1"`},
		"an image by digest":             {image, `"ide@sha256:` + strings.Repeat("0a", 32) + `"`},
		"an image by tag and digest":     {image, `"a/b--c/d.e:1@sha256:` + strings.Repeat("0a", 32) + `"`},
		"a program of the host":          {image, `"host:///usr/bin/true"`},
		"numbers as text":                {"cpu: 2,", `cpu: "2",`},
		"requests as high as limits":     {"cpu: 500m", "cpu: 2000m, memory: 4096Mi"},
		"requests without a limit":       {"cpu: 500m", "ephemeral-storage: 100Gi"},
		"no memory limit to speak of":    {"memory: 4Gi", `memory: "0"`},
		"a thousand devices":             {"cpu: 2,", "example.com/gpu: 1k,"},
		"more devices than can be":       {"cpu: 2,", `example.com/gpu: "1e30",`},
		"a variable with a dot":          {"name: EDITOR", "name: .editor.name"},
		"a folder of one's own in /var":  {mount, "mountPath: /var/lib/home"},
		"a folder of one's own in /usr":  {mount, "mountPath: /usr/local/app"},
		"an extended resource":           {"cpu: 2,", "example.com/gpu: 1,"},
		"huge pages":                     {"cpu: 2,", "hugepages-2Mi: 4Mi,"},
		"no limits":                      {"{cpu: 2, memory: 4Gi}", "{}"},
		"a fraction of a CPU":            {"cpu: 500m", `cpu: "0.25"`},
		"a size with a fraction":         {"size: 10Gi", "size: 1.5Gi"},
		"memory with a fraction":         {"memory: 4Gi", "memory: 0.5Gi"},
		"a size of powers of ten":        {"size: 10Gi", `size: "1e10"`},
		"a folder below one of system":   {mount, "mountPath: /usr/src/app"},
		"a folder named like one":        {mount, "mountPath: /development"},
		"a home that begins with a dot":  {mount, "mountPath: /home/.ann"},
		"every taint":                    {"{key: dedicated, value: ide, effect: NoSchedule}", "{operator: Exists}"},
		"a taint for a while":            {"effect: NoSchedule", "effect: NoExecute, tolerationSeconds: 60"},
		"a variable of a Secret":         {"value: vim", "valueFrom: {secretKeyRef: {name: other, key: a}}"},
		"a ConfigMap named as the store": {"value: vim", "valueFrom: {configMapKeyRef: {name: store, key: a}}"},
		"a home to be archived last":     {"deletionPolicy: Delete", "deletionPolicy: ArchiveThenDelete"},
		"PENDING without an archive":     {"archive: {storeRef: {name: store}}", "desiredState: PENDING"},
	} {
		t.Run(name, func(t *testing.T) {
			if errs := validator.create(t, object(t, annsHome, edit...)); len(errs) > 0 {
				t.Error(errs)
			}
		})
	}
}

// The samples test each rule once. These are further cases.
func TestWorkspaceRefuses(t *testing.T) {
	validator := workspaceValidator(t)
	const image, mount = "registry.example.com/ide:1.2", "mountPath: /home/ann"
	const noImage, system = "spec.image: Invalid value", "must not be a folder of the system"
	for name, tc := range map[string]struct {
		edit []string
		want string
	}{
		"a name of 51":              {[]string{"{name: ann,", "{name: " + strings.Repeat("a", 51) + ","}, "metadata: Invalid value: the name must have at most 50 characters and no dots"},
		"an image with a space":     {[]string{image, `"ide :1"`}, noImage},
		"an image with a newline":   {[]string{image, `"ide\n"`}, noImage},
		"an image of a URL":         {[]string{image, "https://registry.example.com/ide"}, noImage},
		"an image without a tag":    {[]string{image, `"ide:"`}, noImage},
		"an image of a short sum":   {[]string{image, `"ide@sha256:00"`}, noImage},
		"a host without a program":  {[]string{image, `"host://"`}, noImage},
		"no image":                  {[]string{image, `""`}, noImage},
		"more than it may use":      {[]string{"cpu: 500m", "cpu: 2001m"}, "spec.resources.requests: Invalid value: must not be above limits"},
		"less than nothing":         {[]string{"cpu: 500m", "cpu: -1"}, "each amount must be a quantity"},
		"a size of nothing":         {[]string{"size: 10Gi", `size: "0"`}, "must be a size in whole bytes above 0"},
		"a colon":                   {[]string{mount, `mountPath: "/home/a:b"`}, "must be an absolute path"},
		"a dot":                     {[]string{mount, "mountPath: /home/./ann"}, "must be an absolute path"},
		"two slashes":               {[]string{mount, "mountPath: //home"}, "must be an absolute path"},
		"the root":                  {[]string{mount, "mountPath: /"}, "must be an absolute path"},
		"below a folder of devices": {[]string{mount, "mountPath: /dev/shm"}, system},
		"a folder of programs":      {[]string{mount, "mountPath: /usr/bin"}, system},
		"programs of the machine":   {[]string{mount, "mountPath: /usr/local/bin"}, system},
		"a folder below programs":   {[]string{mount, "mountPath: /bin/home"}, system},
		"libraries":                 {[]string{mount, "mountPath: /usr/lib64"}, system},
		"another name of /run":      {[]string{mount, "mountPath: /var/run/home"}, system},
		"a newline in a path":       {[]string{mount, `mountPath: "/usr\n"`}, "must be an absolute path without colons, control characters"},
		"a NUL in a path":           {[]string{mount, `mountPath: "/home/\0"`}, "must be an absolute path"},
		"a variable of two dots":    {[]string{"name: EDITOR", "name: .."}, "spec.env[0].name: Invalid value: \"..\": must be the name of an environment variable"},
		"a variable of one dot":     {[]string{"name: EDITOR", "name: ."}, "spec.env[0].name"},
		"a variable after two dots": {[]string{"name: EDITOR", "name: ..a"}, "spec.env[0].name"},
		"a key after two dots":      {[]string{"value: vim", "valueFrom: {secretKeyRef: {name: other, key: ..data}}"}, "spec.env[0].valueFrom.secretKeyRef.key"},
		"half a device":             {[]string{"cpu: 2,", "example.com/gpu: 500m,"}, "spec.resources.limits: Invalid value: each amount of an extended resource must be a whole number"},
		"a device and a half":       {[]string{"cpu: 2,", `example.com/gpu: "1.5",`}, "each amount of an extended resource must be a whole number"},
		"a thousandth of a byte":    {[]string{"size: 10Gi", `size: "1e-3"`}, "must be a size in whole bytes above 0"},
		"half a byte":               {[]string{"size: 10Gi", `size: "0.5"`}, "must be a size in whole bytes above 0"},
		"memory of half a byte":     {[]string{"memory: 4Gi", `memory: "0.5"`}, "memory and ephemeral-storage must be whole bytes"},
		"memory by an exponent":     {[]string{"memory: 4Gi", `memory: "1500e-3"`}, "memory and ephemeral-storage must be whole bytes"},
		"the folder for a while":    {[]string{mount, "mountPath: /tmp"}, system},
		"no taint at all":           {[]string{"{key: dedicated, value: ide, effect: NoSchedule}", `{key: "", operator: Equal}`}, "spec.tolerations[0].key: Required value"},
		"an error with a job":       {[]string{"status: {}", "status: {phase: ERROR, operation: {type: STARTING, id: a}}"}, "a workspace in ERROR has no operation"},
		"a job without an id":       {[]string{"status: {}", "status: {operation: {type: STARTING}}"}, "an operation has an id"},
		"a foreign archive":         {[]string{"status: {}", "status: {archiveKey: homes/a}"}, "archiveKey must begin with archives/"},
	} {
		t.Run(name, func(t *testing.T) {
			mustRefuse(t, validator.create(t, object(t, annsHome, tc.edit...)), tc.want)
		})
	}
}

// The fields of a volume are immutable while there is one, even if they were absent at first.
func TestWorkspaceKeepsWhatItWasMadeWith(t *testing.T) {
	validator := workspaceValidator(t)
	const archived = "status: {phase: PENDING, archiveKey: archives/1/2/home.tar.gz}"
	withoutArchive := []string{"  archive: {storeRef: {name: store}}\n", ""}
	on, smaller, noClass := []string{"status: {}", "status: {phase: STANDBY}"}, []string{"size: 10Gi", "size: 9Gi"}, []string{"storageClassName: standard, ", ""}
	once := []string{"mountPath: /home/ann", "mountPath: /home/ann, accessMode: ReadWriteOncePod"}
	all := slices.Concat(smaller, []string{"storageClassName: standard", "storageClassName: fast"}, once)
	keep := func(word string) string {
		return ": Forbidden: must not " + word + " while the home is on its volume: archive it first, with desiredState PENDING, and then change this"
	}
	status := func(fields string) []string { return []string{"status: {}", "status: {" + fields + "}"} }
	refused := []string{"spec.storage.storageClassName" + keep("change"), "spec.storage.accessMode" + keep("change"), "spec.storage.size" + keep("shrink")}
	for name, tc := range map[string]struct{ old, edit, want []string }{
		"all that may change":                           {on, []string{"registry.example.com/ide:1.2", "b", "size: 10Gi", "size: 20480Mi", "name: store", "name: other"}, nil},
		"the same size":                                 {on, []string{"size: 10Gi", "size: 10240Mi"}, nil},
		"a smaller volume":                              {on, smaller, refused[2:]},
		"an owner taken away":                           {nil, []string{"owner: ann", "pause: true"}, []string{"spec.owner: Forbidden: must not change"}},
		"an owner added":                                {[]string{"owner: ann", "pause: true"}, nil, []string{"spec.owner: Forbidden: must not change"}},
		"a class taken away":                            {on, noClass, refused[:1]},
		"a class added":                                 {slices.Concat(on, noClass), nil, refused[:1]},
		"another access mode":                           {on, once, refused[1:2]},
		"another volume in RUNNING":                     {status("phase: RUNNING, volume: {uid: a, content: Empty}"), all, refused},
		"another volume while it is deleted":            {status("phase: STANDBY, volume: {uid: a, content: Uninitialized}, operation: {type: ARCHIVING, id: a, pointOfNoReturn: true}"), all, refused},
		"another volume in ERROR":                       {status("phase: ERROR, volume: {uid: a, content: Restored}"), all, refused},
		"another volume in ERROR without one":           {status("phase: ERROR, archiveKey: archives/1/2/home.tar.gz"), all, nil},
		"another volume in ERROR with half a one":       {status("phase: ERROR, volume: {uid: a, content: Uninitialized}"), all, nil},
		"another volume before the first":               {nil, all, nil},
		"another volume while it is provisioned":        {status("phase: PENDING, operation: {type: PROVISIONING, id: a}"), all, nil},
		"another volume while it is restored":           {status("phase: PENDING, volume: {uid: a, content: Uninitialized}, operation: {type: RESTORING, id: a}"), all, nil},
		"another volume for what is archived":           {[]string{"status: {}", archived}, all, nil},
		"no class for what is archived":                 {[]string{"status: {}", archived}, noClass, nil},
		"a class for what is archived":                  {append([]string{"status: {}", archived}, noClass...), nil, nil},
		"an archive taken away from one that runs":      {[]string{"status: {}", strings.Replace(archived, "PENDING", "RUNNING", 1)}, withoutArchive, nil},
		"an archive taken away from what is only there": {[]string{"status: {}", archived}, withoutArchive, []string{"spec.archive: Forbidden: must stay while the home is archived"}},
		"restoreFrom changed before there is a home":    {[]string{"owner: ann", "owner: ann\n  restoreFrom: latest", "status: {}", "status: {phase: PENDING}"}, []string{"owner: ann", "owner: ann\n  restoreFrom: empty"}, nil},
		"restoreFrom changed while a home is made":      {[]string{"owner: ann", "owner: ann\n  restoreFrom: latest", "status: {}", "status: {phase: PENDING, operation: {type: RESTORING, id: 11111111-1111-4111-8111-111111111111}}"}, []string{"owner: ann", "owner: ann\n  restoreFrom: empty"}, []string{"spec.restoreFrom: Forbidden: must not change once there is a home"}},
		"restoreFrom changed for a home":                {[]string{"owner: ann", "owner: ann\n  restoreFrom: latest", "status: {}", archived}, []string{"owner: ann", "owner: ann\n  restoreFrom: empty"}, []string{"spec.restoreFrom: Forbidden: must not change once there is a home"}},
		"restoreFrom given to a home":                   {[]string{"status: {}", "status: {volume: {uid: v}}"}, []string{"owner: ann", "owner: ann\n  restoreFrom: empty"}, []string{"spec.restoreFrom: Forbidden: must not change once there is a home"}},
		"restoreFrom taken away from a home":            {[]string{"owner: ann", "owner: ann\n  restoreFrom: latest", "status: {}", archived}, nil, nil},
		"an archive given to what has one":              {append([]string{"status: {}", archived}, withoutArchive...), nil, nil},
	} {
		t.Run(name, func(t *testing.T) {
			mustRefuse(t, validator.update(t, object(t, annsHome, tc.edit...), object(t, annsHome, tc.old...)), tc.want...)
		})
	}
}

// What was stored before there was a rule for it stays valid while it is unchanged, whatever else changes.
func TestWorkspaceForgivesWhatIsUnchanged(t *testing.T) {
	validator := workspaceValidator(t)
	for name, edit := range map[string][]string{
		"a folder of programs":   {"mountPath: /home/ann", "mountPath: /usr/bin"},
		"a newline in a path":    {"mountPath: /home/ann", `mountPath: "/usr\n"`},
		"a variable of two dots": {"name: EDITOR", "name: .."},
		"a key after two dots":   {"value: vim", "valueFrom: {secretKeyRef: {name: other, key: ..data}}"},
		"half a device":          {"cpu: 2,", "example.com/gpu: 500m,"},
		"a thousandth of a byte": {"size: 10Gi", `size: "1e-3"`},
	} {
		t.Run(name, func(t *testing.T) {
			if len(validator.create(t, object(t, annsHome, edit...))) == 0 {
				t.Error("it may be created")
			}
			edited := object(t, annsHome, append(edit, "registry.example.com/ide:1.2", "registry.example.com/ide:1.3")...)
			if errs := validator.update(t, edited, object(t, annsHome, edit...)); len(errs) > 0 {
				t.Error(errs)
			}
		})
	}
}
