// Package page renders traces of attention as one interactive HTML page: as a single file that opens from disk without
// a network ([WriteHTML], [WriteCompareHTML], [WriteProbeHTML]), live from a small server that asks a model ([NewHandler], [Serve]),
// or as a file that runs the model itself ([WritePlayground]).
//
// The front end is plain JavaScript and CSS in web/, inlined when a page is written. It sees its numbers through one
// interface, described in web/source.js, so every kind of page shares all views and differs in its source alone:
// a recorded one (the traces are inside the file), a live one (the server runs the model), or a worker (a Web Worker in the
// page runs it; web/gpt.js is its forward pass).
//
// Reading order: page.go (what a file is made of), wire.go (how numbers travel), server.go, guard.go, serve.go, playground.go;
// then web/source.js, web/codec.js, web/app.js and the views; then web/playground.js, web/worker.js, web/gpt.js.
package page
