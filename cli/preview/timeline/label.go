package timeline

import "kyklos.io/kyklos/internal/timecalc"

// Describe is a label for people: that of a window without a name, which is a hash, becomes its days and times.
func (s *Scaler) Describe(label string) string {
	if !timecalc.IsHash(label) {
		return label
	}
	for i, window := range s.Calendar.Windows {
		if s.Calendar.Label(timecalc.Verdict{Window: i}) == label {
			return window.String()
		}
	}
	return label
}
