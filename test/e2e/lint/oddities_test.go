package lint_test

import (
	"fmt"
	"strings"

	"kyklos.io/kyklos/cli/manifest"
)

// plain is a valid object; its metadata, zone and count are what tables replace.
const plain = `apiVersion: kyklos.io/v1beta1
kind: TimeWindowScaler
metadata: {name: plain}
spec:
  targetRef: {kind: Deployment, name: web}
  timezone: Europe/Berlin
  windows:
  - days: [Mon]
    start: "09:00"
    end: "17:00"
    replicas: 3
  defaultReplicas: 0
`

// metadata are objects with every kind of metadata.
func metadata() (all []*trial, err error) {
	long := strings.Repeat("a", 64)
	for i, text := range []string{
		`{}`, `{name: ""}`, `{name: 5}`, `{name: null}`, `{name: Plain}`, `{name: a.b}`, `{name: -a}`, `{name: ` + strings.Repeat("a", 253) + `}`, `{name: ` + strings.Repeat("a", 254) + `}`,
		`{name: a/b}`, `{name: ..}`, `{name: "a b"}`, `{name: é}`, `{Name: plain}`, `{name: plain, name: other}`, `{name: plain, colour: red}`,
		`{generateName: plain-}`, `{generateName: Plain-}`, `{generateName: "` + long + `"}`, `{generateName: "` + strings.Repeat("a", 254) + `"}`, `{generateName: "%"}`, `{name: plain, generateName: other-}`, `{name: plain, generateName: "-"}`,
		`{name: plain, namespace: shop}`, `{name: plain, namespace: ""}`, `{name: plain, namespace: null}`,
		`{name: plain, labels: {a: b}}`, `{name: plain, labels: {a: 1}}`, `{name: plain, labels: {a: true}}`, `{name: plain, labels: {a: null}}`, `{name: plain, labels: null}`, `{name: plain, labels: [a]}`, `{name: plain, labels: {"a b": c}}`,
		`{name: plain, labels: {a/b/c: d}}`, `{name: plain, labels: {"": d}}`, `{name: plain, labels: {a: "b c"}}`, `{name: plain, labels: {a: ` + long + `}}`, `{name: plain, labels: {` + long + `: a}}`, `{name: plain, labels: {a: b, a: c}}`,
		`{name: plain, annotations: {a: b}}`, `{name: plain, annotations: {a: 1.5}}`, `{name: plain, annotations: {"A b": c}}`, `{name: plain, annotations: {Example.COM/x: c}}`, `{name: plain, annotations: {a: "` + strings.Repeat("x", 256<<10) + `"}}`, `{name: plain, annotations: "a"}`,
		`{name: plain, finalizers: [example.com/a]}`, `{name: plain, finalizers: [example.com]}`, `{name: plain, finalizers: [a]}`, `{name: plain, finalizers: [a, a, b.c]}`, `{name: plain, finalizers: ["a b"]}`, `{name: plain, finalizers: [""]}`, `{name: plain, finalizers: [kubernetes]}`,
		`{name: plain, finalizers: [orphan, foregroundDeletion]}`, `{name: plain, finalizers: [a/b/c]}`, `{name: plain, finalizers: a}`, `{name: plain, finalizers: [1]}`,
		`{name: plain, ownerReferences: [{apiVersion: v1, kind: Pod, name: a, uid: "1"}]}`, `{name: plain, ownerReferences: [{apiVersion: v1, kind: Pod, name: a}]}`, `{name: plain, ownerReferences: [{}]}`,
		`{name: plain, ownerReferences: [{apiVersion: v1, kind: Pod, name: a, uid: "1"}, {apiVersion: v1, kind: Pod, name: a, uid: "1"}]}`,
		`{name: plain, ownerReferences: [{apiVersion: v1, kind: Pod, name: a, uid: "1", controller: true}, {apiVersion: v1, kind: Pod, name: b, uid: "2", controller: true}]}`,
		`{name: plain, ownerReferences: [{apiVersion: v1, kind: Event, name: a, uid: "1"}]}`, `{name: plain, ownerReferences: [{apiVersion: a/b/c, kind: Pod, name: a, uid: "1"}]}`, `{name: plain, ownerReferences: [{apiVersion: v1, kind: Pod, name: a, uid: "1", colour: red}]}`, `{name: plain, ownerReferences: [{uid: 1}]}`,
		`{name: plain, uid: abc}`, `{name: plain, uid: 7}`, `{name: plain, generation: -1}`, `{name: plain, generation: 7}`, `{name: plain, generation: many}`, `{name: plain, selfLink: /a}`,
		`{name: plain, creationTimestamp: "2026-01-01T00:00:00Z"}`, `{name: plain, creationTimestamp: yesterday}`, `{name: plain, creationTimestamp: null}`, `{name: plain, deletionTimestamp: "2026-01-01T00:00:00Z"}`, `{name: plain, deletionGracePeriodSeconds: 5}`,
		`{name: plain, resourceVersion: "5"}`, `{name: plain, resourceVersion: abc}`, `{name: plain, resourceVersion: 5}`, `{name: plain, resourceVersion: ""}`, `{name: plain, resourceVersion: "0"}`,
		`{name: plain, managedFields: [{manager: me, operation: Apply}]}`, `{name: plain, managedFields: [{manager: me, operation: Foo, apiVersion: v1, fieldsType: X, fieldsV1: {}}]}`, `{name: plain, managedFields: [{colour: red}]}`, `{name: plain, managedFields: me}`,
		`5`, `plain`, `[]`, `null`,
	} {
		found, err := read(fmt.Sprintf("metadata %d %.60s", i, text), strings.Replace(plain, "{name: plain}", text, 1))
		if err != nil {
			return nil, err
		}
		for _, trial := range found {
			if strings.Contains(text, "resourceVersion") { // dry runs do not come as far
				trial.real = true
				trial.object = inNamespace(trial.object, "stored", fmt.Sprintf("plain-%d", i))
			}
		}
		all = append(all, found...)
	}
	return all, nil
}

// inNamespace is the object by another name, as JSON.
func inNamespace(object *manifest.Object, namespace, name string) *manifest.Object {
	content := object.Unstructured().DeepCopy()
	content.SetNamespace(namespace)
	content.SetName(name)
	return fromMap(content.Object)
}

// oddities are texts that mean something else than they seem to, or are not objects of the kind at all.
func oddities() (all []*trial, err error) {
	for i, edit := range [][]string{
		{"replicas: 3", "replicas: 0o17"}, {"replicas: 3", "replicas: 017"}, {"replicas: 3", "replicas: 0x1F"}, {"replicas: 3", "replicas: 1_000"}, {"replicas: 3", "replicas: 1e3"}, {"replicas: 3", "replicas: 3.0"},
		{"replicas: 3", `replicas: "3"`}, {"replicas: 3", "replicas: '3%'"}, {"replicas: 3", "replicas: 3 %"}, {"replicas: 3", "replicas: +3"}, {"replicas: 3", "replicas: .inf"}, {"replicas: 3", "replicas: ~"},
		{"replicas: 3", "replicas:"}, {"replicas: 3", "replicas: !!str 3"}, {"replicas: 3", "replicas: 9223372036854775808"}, {"replicas: 3", "replicas: -0"}, {"replicas: 3", "replicas: 3\n    replicas: 4"},
		{"replicas: 3", "replicas: 3\n    replicas: 4\n    start: \"10:00\""}, {"replicas: 3", "replicas: 3\n    \"replicas\": 4\n  timezone: UTC\n  timezone: UTC"}, {`start: "09:00"`, "start: 09:00"}, {`start: "09:00"`, "start: 10:30"}, {`start: "09:00"`, "start: 9"},
		{"  - days", "    days"}, {"    replicas: 3\n", "    replicas: 3\n    days: [Sat]\n"}, {"- days", "- - days"}, {"{kind: Deployment, name: web}", "[{kind: Deployment, name: web}]"}, {"timezone: Europe/Berlin", "timezone: {name: UTC}"}, {`start: "09:00"`, "start: 9:00"}, {`start: "09:00"`, "start: 750"},
		{"replicas: 3", "replicas: 08"}, {"replicas: 3", "replicas: 010"}, {"timezone: Europe/Berlin", "timezone: Europe/Berlin\n  gracePeriodSeconds: 0600"}, {"kind: TimeWindowScaler", "kind: TimeWindowScalers"},
		{"days: [Mon]", "days: Mon"}, {"days: [Mon]", "days: [mon]"}, {"days: [Mon]", "days: [Mon, Mon]"}, {"days: [Mon]", "days: &d [Mon]"}, {"days: [Mon]", "days: []"}, {"days: [Mon]", "days:\n    - Mon\n    - Tue"},
		{"timezone: Europe/Berlin", "timezone: no"}, {"timezone: Europe/Berlin", "timezone: yes\n  pause: no"}, {"timezone: Europe/Berlin", "timezone: Europe/Berlin\n  pause: on"}, {"timezone: Europe/Berlin", "timezone: Europe/Berlin\n  pause: True"},
		{"timezone: Europe/Berlin", "timezone: Europe/Berlin\n  pause: \"true\""}, {"timezone: Europe/Berlin", "timezone: |\n    Europe/Berlin\n"}, {"timezone: Europe/Berlin", "timezone: >-\n    Europe/Berlin\n"}, {"timezone: Europe/Berlin", "timezone: Mars/Olympus_Mons"},
		{"timezone: Europe/Berlin", "timezone: Europe/Berlin\n  yes: 1"}, {"timezone: Europe/Berlin", "timezone: Europe/Berlin\n  1: 1"}, {"timezone: Europe/Berlin", "timezone: Europe/Berlin\n  null: 1"}, {"timezone: Europe/Berlin", "timezone: Europe/Berlin\n\tpause: true"}, {"timezone: Europe/Berlin", "timezone: Europe/Berlin\n  a.b: {c[0]: 1}"},
		{"timezone: Europe/Berlin", "timeZone: Europe/Berlin"}, {"timezone: Europe/Berlin", "TIMEZONE: Europe/Berlin"}, {"{kind: Deployment, name: web}", "{kind: Deployment, name: web, name: api}"}, {"{kind: Deployment, name: web}", "&t {kind: Deployment, name: web}\n  holidays: {sourceRef: {name: a}, <<: *t}"},
		{"{kind: Deployment, name: web}", "{<<: {kind: Deployment}, name: web}"}, {"{kind: Deployment, name: web}", "{<<: {kind: Deployment, name: api}, name: web}"}, {"{kind: Deployment, name: web}", "{kind: Deployment, name: web, namespace: \"\"}"},
		{"{kind: Deployment, name: web}", "{kind: Deployment, name: web, namespace: null}"}, {"{kind: Deployment, name: web}", "null"}, {"spec:", "status: {effectiveReplicas: 3}\nspec:"}, {"spec:", "status: {effectiveReplicas: many, colour: red}\nspec:"}, {"spec:", "status: null\nspec:"},
		{"spec:", "status: []\nspec:"}, {"spec:", "colour: red\nspec:"}, {"spec:", "data: {a: b}\nsize: 3\nspec:"}, {"spec:", "spec: {}\nspec:"}, {"spec:", "Spec:"}, {"spec:\n", "spec: # a comment\n\n"}, {"spec:", "\"spec\":"}, {"v1beta1", "v1"}, {"v1beta1", "v1alpha2"},
		{"apiVersion: kyklos.io/v1beta1", "apiVersion: kyklos.io/v1beta1\napiVersion: kyklos.io/v1beta1"}, {"kind: TimeWindowScaler", "kind: TimeWindowScaler\nkind: TimeWindowScaler"}, {"kind: TimeWindowScaler", "kind: TimeWindowScalr"}, {"kind: TimeWindowScaler", "kind: timewindowscaler"},
		{"apiVersion: kyklos.io/v1beta1\nkind: TimeWindowScaler\nmetadata: {name: plain}\nspec:", "{apiVersion: kyklos.io/v1beta1, kind: TimeWindowScaler, metadata: {name: plain}, spec: 5}\n#"},
	} {
		text := strings.Replace(plain, edit[0], edit[1], 1)
		if strings.HasPrefix(text, "{") {
			text, _, _ = strings.Cut(text, "\n")
		}
		found, err := read(fmt.Sprintf("oddity %d %.60q", i, edit[1]), text)
		if err != nil {
			return nil, err
		}
		all = append(all, found...)
		for _, yaml := range found {
			if yaml.unreadable != nil {
				continue
			}
			all = append(all, &trial{name: yaml.name + " as JSON", object: asJSON(yaml.object)})
		}
	}
	for i, text := range []string{
		`{"apiVersion":"kyklos.io/v1beta1","kind":"TimeWindowScaler","metadata":{"name":"a","name":"b"},"spec":{"timezone":"UTC","timezone":"UTC","targetRef":{"kind":"Deployment","name":"web"},"windows":[{"days":["Mon"],"start":"09:00","end":"17:00","replicas":3,"replicas":3.0,"x":1,"x":2}]}}`,
		`{"apiVersion":"kyklos.io/v1beta1","kind":"TimeWindowScaler","metadata":{"name":"a"},"spec":{"a\"b":1,"a\\":2,"":3,"é":4}}`,
		`{"apiVersion":"kyklos.io/v1alpha1","kind":"Workspace","metadata":{"name":"a.b"},"spec":{"image":"busybox","resources":{"limits":{"cpu":1e300}}}}`,
		`{"apiVersion":"kyklos.io/v1beta1","kind":"TimeWindowScaler","metadata":{"name":"a"},"spec":"` + strings.Repeat("a", 3<<20) + `"}`,
	} {
		found, err := read(fmt.Sprintf("JSON %d", i), text)
		if err != nil {
			return nil, err
		}
		all = append(all, found...)
	}
	return all, nil
}
