package page

import (
	"embed"
	"html/template"
	"strings"
)

//go:embed web
var web embed.FS

// script joins the files of the front end into one program, in an order in which each file uses only earlier ones
// while it loads. The function around them keeps their names away from the page's global ones.
func script() string {
	files := []string{
		"dom.js", "colour.js", "codec.js", "numbers.js", "sampler.js", "source.js",
		"heat.js", "grid.js", "lines.js", "head.js", "matrix.js", "strip.js", "steps.js", "next.js", "prompt.js", "compare.js", "probe.js", "app.js",
	}
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
