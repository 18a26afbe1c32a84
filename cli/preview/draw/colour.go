package draw

import (
	"image/color"
	"strconv"
)

// colour reads #rrggbb. Another text is black.
func colour(hex string) color.NRGBA {
	rgb, err := strconv.ParseUint(hex[min(1, len(hex)):], 16, 32)
	if err != nil {
		rgb = 0
	}
	return color.NRGBA{R: uint8(rgb >> 16), G: uint8(rgb >> 8), B: uint8(rgb), A: 255}
}
