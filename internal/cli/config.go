package cli

import (
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
)

// ErrConfig says that a file's content is not what [Flags.ReadConfig] reads.
var ErrConfig = errors.New(`it must be a JSON object of flags, such as {"n_layer": 2}`)

// maxConfig is how many bytes a file of flags has at most.
const maxConfig = 1 << 20

// ReadConfig reads a JSON object whose keys are names of flags: {"n_layer": 2, "bias": true}. A key that is no flag, or a
// value that is no number, text or truth value, is an error that names it. What is wrong with the content is an [ErrConfig].
func (f *Flags) ReadConfig(path string) (map[string]string, error) {
	content, err := ReadFile(path, maxConfig)
	if err != nil {
		return nil, err
	}
	var values map[string]any
	d := json.NewDecoder(bytes.NewReader(content))
	d.UseNumber() // a seed of 64 bits must not pass through a float64
	if err := d.Decode(&values); err != nil {
		return nil, &configError{path + notObject(content, err)}
	}
	if values == nil {
		return nil, &configError{path + " is null: " + ErrConfig.Error()}
	}
	if d.More() {
		return nil, &configError{path + " has more than one JSON value: " + ErrConfig.Error()}
	}
	if name := repeatedKey(content); name != "" {
		return nil, &configError{fmt.Sprintf("%s: %q stands there twice: keep one of them", path, name)}
	}
	settings := map[string]string{}
	for name, value := range values {
		if f.Lookup(name) == nil {
			return nil, &configError{fmt.Sprintf("%s: %q is no flag of %s", path, name, f.name)}
		}
		switch v := value.(type) {
		case string, bool, json.Number:
			settings[name] = fmt.Sprint(v)
		default:
			return nil, &configError{fmt.Sprintf("%s: %q must be a number, a text, true or false", path, name)}
		}
	}
	return settings, nil
}

type configError struct{ message string }

func (e *configError) Error() string { return e.message }
func (e *configError) Unwrap() error { return ErrConfig }

// notObject says why a content could not be read.
func notObject(content []byte, err error) string {
	var other *json.UnmarshalTypeError
	switch {
	case len(bytes.TrimSpace(content)) == 0:
		return " is empty: " + ErrConfig.Error()
	case errors.As(err, &other):
		return " is of another kind (" + other.Value + "): " + ErrConfig.Error()
	}
	return fmt.Sprintf(" is no JSON (%v): %v", err, ErrConfig)
}

// repeatedKey is a name that a JSON object of plain values has twice, or empty: encoding/json would take the last.
func repeatedKey(object []byte) string {
	seen := map[string]bool{}
	d := json.NewDecoder(bytes.NewReader(object))
	d.Token() // the opening brace
	for d.More() {
		key, _ := d.Token()
		name, _ := key.(string)
		if seen[name] {
			return name
		}
		seen[name] = true
		var value json.RawMessage
		if d.Decode(&value) != nil {
			break // cannot be: the object has been read once
		}
	}
	return ""
}

// Apply sets flags by name, as a command line would.
func (f *Flags) Apply(settings map[string]string) error {
	for _, name := range slices.Sorted(maps.Keys(settings)) { // the same one each time is the first that is wrong
		value := settings[name]
		if err := f.Set(name, value); err != nil {
			return Usagef("%s", wrongKind(f.Lookup(name), strconv.Quote(value)))
		}
	}
	return nil
}

// Config is the JSON object of all flags but some, with the values they have: what [Flags.ReadConfig] reads.
func (f *Flags) Config(but ...string) []byte {
	var b strings.Builder
	separator := "{\n"
	f.VisitAll(func(x *flag.Flag) {
		for _, name := range append(but, "version") {
			if x.Name == name {
				return
			}
		}
		value := x.Value.String()
		if value == "" {
			return // not given
		}
		if isText(x) || !json.Valid([]byte(value)) {
			quoted, _ := json.Marshal(value) // a string cannot fail
			value = string(quoted)
		}
		fmt.Fprintf(&b, "%s  %q: %s", separator, x.Name, value)
		separator = ",\n"
	})
	return []byte(b.String() + "\n}\n")
}

// isText tells whether a flag's value is a text: "1" and "true" are texts like others, and stay so.
func isText(x *flag.Flag) bool {
	g, ok := x.Value.(flag.Getter)
	if !ok {
		return true
	}
	_, ok = g.Get().(string)
	return ok
}
