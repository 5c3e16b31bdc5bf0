package decode

import "maps"

// An object is an object in the file that is used only if its fields are valid: a database,
// an embedder, a server, or the cluster of a database.
type object struct {
	*decoder
	path    string         // in the file
	entry   string         // of problems
	prefix  string         // of the fields of problems
	fields  map[string]any // as decoded
	skipped string         // effect of an invalid field
	usable  bool           // no field is invalid
}

// unexpected reports a field that is not as expected. Without a value, its line is that of the
// object.
func (o *object) unexpected(field, expected, got, effect string) {
	at := o.path + "." + field
	if o.fields[field] == nil {
		at = o.path
	}
	o.report(at, Problem{Entry: o.entry, Field: o.prefix + field, Expected: expected, Got: got, Effect: effect})
}

// wrong reports an invalid field. The object is not used then.
func (o *object) wrong(field, expected, got string) {
	o.unexpected(field, expected, got, o.skipped)
	o.usable = false
}

// secret reports a field that must not be in the file, and does not repeat its value.
func (o *object) secret(field, expected string) {
	if _, given := o.fields[field]; given {
		o.wrong(field, expected, "")
		o.fields = maps.Clone(o.fields)
		delete(o.fields, field)
	}
}

// text returns a field that is a string, or "".
func (o *object) text(field, expected string) string {
	v, given := o.fields[field]
	s, ok := v.(string)
	if given && !ok {
		o.wrong(field, expected, describe(v))
	}
	return s
}
