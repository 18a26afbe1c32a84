package message

import "kyklos.io/kyklos/internal/lifecycle"

// EventOf describes the event for a code.
func EventOf(code lifecycle.Code) string {
	switch event := texts[code].event; {
	case event == normal:
		return "Normal"
	case event != "":
		return "Warning"
	case code == lifecycle.CodePodGone:
		return "Warning, if the Pod was not stopped by Kyklos"
	case code == lifecycle.CodeVolumeTerminating:
		return "Warning, if the home is not deleted by Kyklos"
	default:
		return ""
	}
}
