// Package page renders traces of attention as one interactive HTML page: as a single file that opens from disk without
// a network ([WriteHTML], [WriteCompareHTML], [WriteProbeHTML]), or live from a small server that asks a model ([NewHandler], [Serve]).
//
// The front end is plain JavaScript and CSS in web/, inlined when a page is written. It sees its numbers through one
// interface, described in web/source.js, so every kind of page shares all views and differs in its source alone:
// a recorded one (the traces are inside the file), or a live one (the server runs the model). A source that runs the
// model inside the page needs one more file there and one more kind here.
//
// Reading order: page.go (what a file is made of), wire.go (how numbers travel), server.go, guard.go, serve.go;
// then web/source.js, web/codec.js, web/app.js and the views.
package page
