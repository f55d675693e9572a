package page

import (
	"embed"
	"html/template"
	"strings"
)

//go:embed web
var web embed.FS

// script is the program of the front end.
func script() string {
	return program(
		"dom.js", "colour.js", "codec.js", "numbers.js", "sampler.js", "source.js", "playground.js",
		"heat.js", "grid.js", "lines.js", "head.js", "matrix.js", "strip.js", "steps.js", "next.js", "prompt.js", "compare.js", "probe.js",
		"painter.js", "app.js")
}

// worker is the program that runs the model of a playground.
func worker() string {
	return program("codec.js", "numbers.js", "sampler.js", "float16.js", "kernels.js", "gpt.js", "worker.js")
}

// program joins files, in an order in which each uses only earlier ones while it loads. The function around them keeps
// their names away from the global ones.
func program(files ...string) string {
	var b strings.Builder
	b.WriteString("(() => {\n\"use strict\";\n")
	for _, name := range files {
		b.WriteString("\n")
		b.WriteString(asset(name))
	}
	b.WriteString("})();\n")
	return b.String()
}

func style() string { return asset("style.css") }

func skeleton() *template.Template {
	return template.Must(template.New("page").Parse(asset("index.html")))
}

// asset reads an embedded file; one that is missing is a mistake in this package.
func asset(name string) string {
	text, err := web.ReadFile("web/" + name)
	if err != nil {
		panic(err)
	}
	return string(text)
}
