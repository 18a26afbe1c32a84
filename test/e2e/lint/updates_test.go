package lint_test

import (
	"fmt"
	"os"
	"strings"

	"kyklos.io/kyklos/cli/manifest"
)

// updates are pairs: what is stored, written before the definitions had any rule, and what is to replace it. Each is an edit
// of an object in testdata.
func updates() (all []*trial, err error) {
	standby := []string{"deletionPolicy: Retain", "deletionPolicy: Retain\nstatus: {phase: STANDBY, volume: {uid: a, content: Empty}}"}
	for i, pair := range []struct {
		file     string
		old, new []string
	}{
		{"workspace.yaml", nil, nil},
		{"workspace.yaml", nil, []string{"owner: ann", "owner: ben"}},
		{"workspace.yaml", nil, []string{"  owner: ann\n", ""}},
		{"workspace.yaml", []string{"  owner: ann\n", ""}, nil},
		{"workspace.yaml", nil, []string{"size: 10Gi", "size: 5Gi"}},
		{"workspace.yaml", standby, []string{"size: 10Gi", "size: 5Gi"}},
		{"workspace.yaml", standby, []string{"storageClassName: standard", "storageClassName: fast"}},
		{"workspace.yaml", standby, []string{"accessMode: ReadWriteOnce", "accessMode: ReadWriteOncePod"}},
		{"workspace.yaml", nil, []string{"size: 10Gi", "size: 20480Mi"}},
		{"workspace.yaml", nil, []string{"storageClassName: standard", "storageClassName: fast"}},
		{"workspace.yaml", nil, []string{"storageClassName: standard, ", ""}},
		{"workspace.yaml", nil, []string{"accessMode: ReadWriteOnce", "accessMode: ReadWriteOncePod", "mountPath: /home/ann", "mountPath: /home/ben"}},
		{"workspace.yaml", []string{"deletionPolicy: Retain", "deletionPolicy: Retain\nstatus: {phase: PENDING, archiveKey: archives/a}"}, []string{"  archive: {retain: 2, storeRef: {name: store}}\n", ""}},
		{"workspace.yaml", []string{"deletionPolicy: Retain", "deletionPolicy: Retain\nstatus: {phase: RUNNING, archiveKey: archives/a}"}, []string{"  archive: {retain: 2, storeRef: {name: store}}\n", ""}},
		{"workspace.yaml", []string{"deletionPolicy: Retain", "deletionPolicy: Retain\nstatus: {phase: RUNNING, archiveKey: elsewhere/a}"}, []string{"pause: false", "pause: true"}},
		{"workspace.yaml", []string{"deletionPolicy: Retain", "deletionPolicy: Retain\nstatus: {phase: RUNNING, archiveKey: archives/a}"}, []string{"restoreFrom: latest", "restoreFrom: empty"}},
		{"workspace.yaml", []string{"deletionPolicy: Retain", "deletionPolicy: Retain\nstatus: {phase: RUNNING, archiveKey: archives/a}"}, []string{"  restoreFrom: latest\n", ""}},
		{"workspace.yaml", nil, []string{"deletionPolicy: Retain", "deletionPolicy: Retain\nstatus: {phase: NOPE}"}},
		{"workspace.yaml", []string{"desiredState: RUNNING", "desiredState: AWAY"}, []string{"desiredState: RUNNING", "desiredState: AWAY"}},
		{"workspace.yaml", []string{"desiredState: RUNNING", "desiredState: AWAY"}, []string{"desiredState: RUNNING", "desiredState: GONE"}},
		{"workspace.yaml", []string{"desiredState: RUNNING", "desiredState: AWAY"}, []string{"desiredState: RUNNING", "desiredState: AWAY", "owner: ann", "owner: ben"}},
		{"workspace.yaml", []string{"ports: [8080, 9090]", "ports: [8080, 8080]"}, []string{"ports: [8080, 9090]", "ports: [9090, 9090]"}},
		{"workspace.yaml", []string{"{name: EDITOR, value: vim}", "{name: THEME, value: vim}"}, []string{"{name: EDITOR, value: vim}", "{name: THEME, value: emacs}"}},
		{"workspace.yaml", []string{"{name: EDITOR, value: vim}", "{name: 1EDITOR=, value: vim}"}, []string{"{name: EDITOR, value: vim}", "{name: 1EDITOR=, value: emacs}"}},
		{"workspace.yaml", []string{"cpu: 500m", "cpu: many"}, []string{"cpu: 500m", "cpu: many", "memory: 1Gi", "memory: 2Gi"}},
		{"workspace.yaml", []string{"image: registry.example.com/ide:1.2", "image: UPPER"}, []string{"image: registry.example.com/ide:1.2", "image: UPPER", "pause: false", "pause: true"}},
		{"workspace.yaml", nil, []string{"{name: ann, namespace: shop}", "{name: ann, namespace: shop, finalizers: [a]}"}},
		{"workspace.yaml", []string{"{name: ann, namespace: shop}", "{name: ann, namespace: shop, finalizers: [a]}"}, []string{"{name: ann, namespace: shop}", "{name: ann, namespace: shop, finalizers: [a, b.c]}"}},
		{"workspace.yaml", nil, []string{"{name: ann, namespace: shop}", "{name: ann, namespace: shop, labels: {a: b c}}"}},
		{"workspace.yaml", nil, []string{"{name: ann, namespace: shop}", "{name: ann, namespace: shop, labels: {a: 1}}"}},
		{"workspace.yaml", nil, []string{"{name: ann, namespace: shop}", "{name: ann, namespace: shop, ownerReferences: [{apiVersion: v1, kind: Pod, name: a, uid: '1'}, {apiVersion: v1, kind: Pod, name: a, uid: '1'}]}"}},
		{"workspace.yaml", nil, []string{"{name: ann, namespace: shop}", "{name: ann, namespace: shop, generation: 7, creationTimestamp: '2020-01-01T00:00:00Z', deletionGracePeriodSeconds: 3}"}},
		{"workspace.yaml", nil, []string{"pause: false", "pause: false\n  colour: red"}},
		{"workspace.yaml", []string{"pause: false", "pause: false\n  colour: red"}, nil},
		{"workspace.yaml", []string{"spec:", "spoc:"}, nil},
		{"workspace.yaml", nil, []string{"spec:", "status:"}},
		{"scaler-v1beta1.yaml", nil, nil},
		{"scaler-v1beta1.yaml", []string{"timezone: Europe/Berlin", "timezone: Mars/Olympus_Mons"}, []string{"timezone: Europe/Berlin", "timezone: Mars/Olympus_Mons", "pause: false", "pause: true"}},
		{"scaler-v1beta1.yaml", []string{"timezone: Europe/Berlin", "timezone: Mars/Olympus_Mons"}, []string{"timezone: Europe/Berlin", "timezone: Venus/Maxwell"}},
		{"scaler-v1beta1.yaml", []string{"Asia/Tokyo", "Mars/Olympus_Mons"}, []string{"Asia/Tokyo", "Mars/Olympus_Mons", "replicas: 2", "replicas: 3"}},
		{"scaler-v1beta1.yaml", []string{"Asia/Tokyo", "Mars/Olympus_Mons"}, []string{"Asia/Tokyo", "Venus/Maxwell"}},
		{"scaler-v1beta1.yaml", []string{"replicas: 150%", "replicas: lots"}, []string{"replicas: 150%", "replicas: lots", "pause: false", "pause: true"}},
		{"scaler-v1beta1.yaml", []string{"replicas: 150%", "replicas: lots"}, []string{"replicas: 150%", "replicas: lots", "replicas: 2", "replicas: 3"}},
		{"scaler-v1beta1.yaml", []string{"  baselineReplicas: 8\n", ""}, []string{"  baselineReplicas: 8\n", "", "pause: false", "pause: true"}},
		{"scaler-v1beta1.yaml", []string{"  baselineReplicas: 8\n", ""}, []string{"  baselineReplicas: 8\n", "  baselineReplicas: 0\n"}},
		{"scaler-v1beta1.yaml", []string{"days: [Mon, Tue]", "days: [Mon, Mon]"}, []string{"days: [Mon, Tue]", "days: [Mon, Mon]", "pause: false", "pause: true"}},
		{"scaler-v1beta1.yaml", []string{"days: [Mon, Tue]", "days: [Mon, Mon]"}, []string{"days: [Mon, Tue]", "days: [Tue, Tue]"}},
		{"scaler-v1beta1.yaml", []string{"mode: treat-as-closed", "mode: party"}, []string{"mode: treat-as-closed", "mode: party", "pause: false", "pause: true"}},
		{"scaler-v1beta1.yaml", []string{"mode: treat-as-closed", "mode: party"}, []string{"mode: treat-as-closed", "mode: feast"}},
		{"scaler-v1beta1.yaml", []string{"targetRef:", "targetRaf:"}, []string{"targetRef:", "targetRaf:"}},
		{"scaler-v1beta1.yaml", []string{"name: sun", "name: sun\n  colour: red"}, nil},
		{"scaler-v1alpha1.yaml", nil, nil},
		{"scaler-v1alpha1.yaml", []string{"kind: Deployment", "kind: StatefulSet"}, []string{"kind: Deployment", "kind: StatefulSet", "pause: true", "pause: false"}},
		{"scaler-v1alpha1.yaml", []string{"kind: Deployment", "kind: StatefulSet"}, []string{"kind: Deployment", "kind: DaemonSet"}},
		{"scaler-v1alpha1.yaml", []string{"timezone: Europe/Berlin", "timezone: Local"}, []string{"timezone: Europe/Berlin", "timezone: Local", "replicas: 5", "replicas: 6"}},
		{"scaler-v1alpha1.yaml", []string{"timezone: Europe/Berlin", "timezone: Local"}, []string{"timezone: Europe/Berlin", "timezone: localtime"}},
		{"scaler-v1alpha1.yaml", []string{`end: "17:00"`, `end: "24:00"`}, []string{`end: "17:00"`, `end: "24:00"`, "pause: true", "pause: false"}},
		{"scaler-v1alpha1.yaml", nil, []string{`end: "17:00"`, `end: "09:00"`}},
	} {
		old, err := edited(pair.file, i, pair.old)
		if err != nil {
			return nil, err
		}
		object, err := edited(pair.file, i, pair.new)
		if err != nil {
			return nil, err
		}
		all = append(all, &trial{name: fmt.Sprintf("update %d of %s: %q to %q", i, pair.file, pair.old, pair.new), old: old, object: object})
	}
	return all, nil
}

// edited is the object of a file, as JSON and with a name of its own, in which the first of each pair of edits is replaced by the second.
func edited(file string, number int, edits []string) (*manifest.Object, error) {
	text, err := os.ReadFile("testdata/" + file)
	if err != nil {
		return nil, err
	}
	edited := string(text)
	for i := 0; i < len(edits); i += 2 {
		if !strings.Contains(edited, edits[i]) {
			return nil, fmt.Errorf("%s: %q is not in it", file, edits[i])
		}
		edited = strings.Replace(edited, edits[i], edits[i+1], 1)
	}
	found, err := read(file, edited)
	if err != nil || len(found) != 1 {
		return nil, fmt.Errorf("%s: %d objects, %w", file, len(found), err)
	}
	content := found[0].object.Object
	metadata := content["metadata"].(map[string]any)
	metadata["name"], metadata["namespace"] = fmt.Sprintf("%s-%d", metadata["name"], number), "stored"
	return fromMap(content), nil
}
