// Package draw draws timelines for people: a strip for each scaler with a row for each day, as SVG, as PNG and on a page of HTML.
//
// What is drawn is laid out once, as a scene of rectangles, lines and texts; SVG and PNG are two ways to write a scene, and the page
// has the SVG of each strip in it. The same timelines give the same bytes. Nothing is told by a colour alone: counts and names stand beside it.
package draw
