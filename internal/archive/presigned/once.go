package presigned

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"

	"kyklos.io/kyklos/internal/archive"
)

// once sends a request once. Errors never contain the URL, which is a secret.
func (s *Store) once(ctx context.Context, method, name, target string, body []byte) (*http.Response, error) {
	request, err := http.NewRequestWithContext(ctx, method, target, bytes.NewReader(body))
	if err != nil {
		return nil, fmt.Errorf("%s: %w: the ticket's URL is invalid", name, archive.ErrDenied)
	}
	if name != s.key.Note() && creates(request) {
		request.Header.Set("If-None-Match", "*") // part of the signature
	}
	answer, err := s.client.Do(request)
	if err != nil {
		if wrapped := (*url.Error)(nil); errors.As(err, &wrapped) {
			err = wrapped.Err
		}
		return nil, fmt.Errorf("%s: %w: %w", name, archive.ErrUnreachable, err)
	}
	if answer.StatusCode/100 == 2 {
		return answer, nil
	}
	defer func() { _ = answer.Body.Close() }()
	code, message := failure(answer.Body)
	kind := archive.FromStatus(answer.StatusCode, code)
	return nil, fmt.Errorf("%s: %w: %s", name, kind, strings.TrimSpace(answer.Status+" "+code+" "+message))
}

func creates(request *http.Request) bool {
	return request.Method != http.MethodGet && !request.URL.Query().Has("partNumber")
}
