package harness

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	auditv1 "k8s.io/apiserver/pkg/apis/audit/v1"
)

// AuditLog is a flag for Start that records every request. See Cluster.Audited.
const AuditLog = "--audit-log"

// ManagerUser is the user name of the shipped ServiceAccount.
const ManagerUser = "system:serviceaccount:" + SystemNamespace + ":" + managerAccount

// Audited returns the user's requests so far, oldest first. A watch appears when it has ended. The cluster must have been
// started with AuditLog.
func (c *Cluster) Audited(user string) ([]auditv1.Event, error) {
	file, err := os.Open(filepath.Join(c.Dir, "audit.log"))
	if err != nil {
		return nil, fmt.Errorf("open the audit log (was the cluster started with %s?): %w", AuditLog, err)
	}
	defer func() { _ = file.Close() }()
	var events []auditv1.Event
	lines := bufio.NewScanner(file)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		var event auditv1.Event
		if json.Unmarshal(lines.Bytes(), &event) != nil {
			break // the last line is still being written
		}
		if event.User.Username == user {
			events = append(events, event)
		}
	}
	if err := lines.Err(); err != nil {
		return nil, fmt.Errorf("read the audit log: %w", err)
	}
	return events, nil
}

// NothingForbidden returns an error if authorization refused a request of the manager, or if there was no request.
func (c *Cluster) NothingForbidden() error {
	asked, err := c.Audited(ManagerUser)
	if err != nil {
		return err
	}
	if len(asked) == 0 {
		return fmt.Errorf("no requests of %s: its roles were not tested", ManagerUser)
	}
	refused, err := c.Forbidden(ManagerUser)
	if err != nil {
		return err
	}
	if len(refused) > 0 {
		return fmt.Errorf("the manager sent %d requests that its roles do not allow:\n%s", len(refused), strings.Join(refused, "\n"))
	}
	return nil
}

// Forbidden returns the user's requests that authorization refused, as verb and path. It ignores a 403 of admission.
func (c *Cluster) Forbidden(user string) ([]string, error) {
	events, err := c.Audited(user)
	if err != nil {
		return nil, err
	}
	var refused []string
	for i := range events {
		if events[i].Annotations["authorization.k8s.io/decision"] == "forbid" {
			refused = append(refused, events[i].Verb+" "+events[i].RequestURI)
		}
	}
	return refused, nil
}
