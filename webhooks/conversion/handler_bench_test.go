package conversion

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

// benched are objects as an API server sends them.
var benched = map[string]string{
	"plain": `{"apiVersion":"kyklos.io/v1beta1","kind":"TimeWindowScaler","metadata":{"name":"a","namespace":"shop","uid":"0d1c8f5e-5b7e-4c06-9c3c-1f2b7b1c2f10","resourceVersion":"1234","generation":1,"creationTimestamp":"2026-11-22T18:00:00Z","managedFields":[` + managed + `]},` +
		`"spec":{"targetRef":{"apiVersion":"apps/v1","kind":"Deployment","name":"a"},"timezone":"Europe/Berlin","defaultReplicas":1,"gracePeriodSeconds":0,"pause":false,"windows":[{"days":["Mon","Tue"],"start":"09:00","end":"17:00","replicas":5}]}}`,
	"rich": `{"apiVersion":"kyklos.io/v1beta1","kind":"TimeWindowScaler","metadata":{"name":"a","namespace":"shop","uid":"0d1c8f5e-5b7e-4c06-9c3c-1f2b7b1c2f10","resourceVersion":"1234","generation":1,"creationTimestamp":"2026-11-22T18:00:00Z","managedFields":[` + managed + `]},` +
		`"spec":{"targetRef":{"apiVersion":"apps/v1","kind":"Deployment","name":"a"},"timezone":"Europe/Berlin","baselineReplicas":10,"defaultReplicas":"25%","gracePeriodSeconds":60,"pause":false,"windows":[` +
		`{"name":"berlin","days":["Mon","Tue"],"start":"09:00","end":"17:00","replicas":"150%"},{"name":"new-york","days":["Mon","Tue"],"start":"10:00","end":"24:00","timezone":"America/New_York","replicas":4},` +
		`{"days":["Sat"],"start":"00:00","end":"24:00","replicas":2,"metric":{"name":"queue","target":{"type":"AverageValue","averageValue":"0.50"},"maxReplicas":9}}]}}`,
}

const managed = `{"apiVersion":"kyklos.io/v1beta1","fieldsType":"FieldsV1","fieldsV1":{"f:spec":{".":{},"f:defaultReplicas":{},"f:gracePeriodSeconds":{},"f:pause":{},"f:targetRef":{".":{},"f:apiVersion":{},"f:kind":{},"f:name":{}},"f:timezone":{},"f:windows":{}}},"manager":"test","operation":"Update","time":"2026-11-22T18:00:00Z"}`

// BenchmarkReview measures the webhook without its connection: API servers convert one object with each request, also for
// a list that they have not cached.
func BenchmarkReview(b *testing.B) {
	reviews := handler{func(context.Context) ([]string, error) { return []string{"v1beta1"}, nil }}
	for name, object := range benched {
		body := fmt.Sprintf(review, "kyklos.io/v1alpha1", object)
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(body)))
			b.ReportAllocs()
			for b.Loop() {
				recorder := httptest.NewRecorder()
				reviews.ServeHTTP(recorder, httptest.NewRequest(http.MethodPost, webhookPath, strings.NewReader(body)))
				if recorder.Code != http.StatusOK {
					b.Fatal(recorder.Code)
				}
			}
		})
	}
}
