// Package chart draws how a run went: [Losses] turns its metrics.csv into a picture.
//
// Read it in this order: metrics.go (the table), losses.go (what is drawn), render.go (panels, legend and files).
package chart
