package lint_test

import "strings"

// scalerFor is a scaler in the Namespace policed, with an owner.
func scalerFor(name string, replacements ...string) string {
	return strings.NewReplacer(replacements...).Replace(`apiVersion: kyklos.io/v1beta1
kind: TimeWindowScaler
metadata:
  name: ` + name + `
  namespace: policed
  labels: {owner: me}
spec:
  targetRef: {kind: Deployment, name: ` + name + `}
  timezone: Europe/Berlin
  defaultReplicas: 1
  windows:
  - {days: [Mon], start: "09:00", end: "17:00", replicas: 5}
`)
}

// deploymentOf is a Deployment of an image.
func deploymentOf(image, namespace string) string {
	return `apiVersion: apps/v1
kind: Deployment
metadata: {name: web, namespace: ` + namespace + `}
spec:
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec: {containers: [{name: web, image: "` + image + `"}]}
`
}

// policed are objects, the objects that they replace, and which bindings of testdata/policies reject them or warn.
var policed = map[string]struct {
	object, old string
	want        []string
}{
	"nothing against it":       {object: scalerFor("fine")},
	"one param of two":         {object: scalerFor("eight", "replicas: 5", "replicas: 8"), want: []string{"warn limit-all"}},
	"both params":              {object: scalerFor("twenty", "replicas: 5", "replicas: 20"), want: []string{"deny limit", "warn limit-all", "warn limit-all"}},
	"v1alpha1 as v1beta1":      {object: scalerFor("spoke", "v1beta1", "v1alpha1", "replicas: 5", "replicas: 20", "owner", "x"), want: []string{"deny limit", "warn limit-all", "warn limit-all"}},
	"another Namespace":        {object: scalerFor("away", "policed", "elsewhere", "replicas: 5", "replicas: 20", "owner", "x")},
	"no owner":                 {object: scalerFor("unowned", "owner", "x"), want: []string{"warn exact"}},
	"conditions":               {object: scalerFor("paris", "labels: {owner: me}", "labels: {owner: me}\n  annotations: {strict: 'yes'}", "Berlin", "Paris"), want: []string{"deny conditions"}},
	"conditions met":           {object: scalerFor("berlin", "labels: {owner: me}", "labels: {owner: me}\n  annotations: {strict: 'yes'}")},
	"a condition is false":     {object: scalerFor("lax", "labels: {owner: me}", "labels: {owner: me}\n  annotations: {strict: 'no'}", "Berlin", "Paris")},
	"the request's version":    {object: scalerFor("old", "v1beta1", "v1alpha1", "labels: {owner: me}", "annotations: {strict: 'yes'}"), want: []string{"deny conditions"}},
	"the request's namespace":  {object: scalerFor("there", "policed", "elsewhere", "labels: {owner: me}", "annotations: {strict: 'yes'}"), want: []string{"deny conditions"}},
	"a failure":                {object: scalerFor("fails", "owner: me", "owner: me, fails: 'yes'"), want: []string{"deny fails"}},
	"a failure is ignored":     {object: scalerFor("softly", "owner: me", "owner: me, fails: softly", "Europe/Berlin", "UTC")},
	"one failure is ignored":   {object: scalerFor("soft", "owner: me", "owner: me, fails: softly"), want: []string{"deny fails-softly"}},
	"the cost budget":          {object: scalerFor("costly", "owner: me", "owner: me, costly: 'yes'"), want: []string{"deny costly"}},
	"another zone":             {object: scalerFor("moved", "Berlin", "Vienna"), old: scalerFor("moved"), want: []string{"deny zones-stay"}},
	"the same zone":            {object: scalerFor("stays", "replicas: 5", "replicas: 6"), old: scalerFor("stays")},
	"a label of the Namespace": {object: scalerFor("team", "owner: me", "owner: me, team: shop")},
	"not of the Namespace":     {object: scalerFor("theirs", "policed", "elsewhere", "owner: me", "team: shop"), want: []string{"deny namespaces"}},
	"params that are missing":  {object: scalerFor("needs-params"), want: []string{"deny missing-denied"}},
	"an image by tag":          {object: deploymentOf("nginx:1", "policed"), want: []string{"deny built-in"}},
	"an image by digest":       {object: deploymentOf("nginx@sha256:0", "policed")},
	"an image elsewhere":       {object: deploymentOf("nginx:1", "elsewhere")},
	"an empty ConfigMap":       {object: "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: none, namespace: policed}\n", want: []string{"deny built-in"}},
	"an excluded name":         {object: "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: limits, namespace: policed}\n"},
	"only audited":             {object: scalerFor("audited", "labels: {owner: me}", "labels: {owner: me}\n  annotations: {a: b}")},
	"an annotation fails":      {object: scalerFor("unaudited", "labels: {owner: me}", "labels: {owner: me}\n  annotations: {audit-fails: b}"), want: []string{"deny audited"}},
}
