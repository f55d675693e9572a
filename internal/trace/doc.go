// Package trace turns a forward pass of a model into an [attention.Trace]: the numbers that the inspector shows come from
// the nodes of the same graph that trains and samples. It also keeps the traces of a text while a model learns
// (FORMAT.md).
//
// Reading order: tracer.go (one forward pass), load.go (from a checkpoint), graphs.go (a graph a length), record.go and
// recording.go (a probe in a run folder).
package trace
