package timewindowscaler

import (
	"fmt"
	"time"
)

// takeoverMessage says that the owner of the target is gone, and when this scaler takes over.
func (p *passResult) takeoverMessage() string {
	reference := p.tws.Spec.TargetRef
	return fmt.Sprintf("TimeWindowScaler %s no longer scales %s %s; this one takes over at %s UTC",
		p.obs.owner, reference.Kind, reference.Name, p.obs.takesOver.UTC().Format(time.TimeOnly))
}
