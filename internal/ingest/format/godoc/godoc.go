// Package godoc reads Go source files as the documentation of their package: what is
// exported, with its comments, under the names that pkg.go.dev uses for anchors.
package godoc

import (
	"bytes"
	"cmp"
	"errors"
	"go/ast"
	"go/build/constraint"
	"go/doc"
	"go/doc/comment"
	"go/parser"
	"go/printer"
	"go/token"
	"path"
	"strings"

	"github.com/docsearch/docsearch/internal/ingest/format/code"
	"github.com/docsearch/docsearch/internal/ingest/format/mdwriter"
)

// ErrNotExported is the reason to skip a file that exports nothing and has no comment about
// its package.
var ErrNotExported = errors.New("exports nothing")

var errExcluded = errors.New("excluded from its package by //go:build")

// Parse reads a file of the package with an import path. Each exported declaration is a
// section: "Client", "Client.Get". Of a test file, only the examples are read.
func Parse(text []byte, importPath string, test bool) (mdwriter.Document, error) {
	set := token.NewFileSet()
	file, err := parser.ParseFile(set, "", text, parser.ParseComments|parser.SkipObjectResolution)
	if file == nil || err != nil && len(file.Decls) == 0 {
		return mdwriter.Document{}, err
	}
	if isExcluded(file) {
		return mdwriter.Document{}, errExcluded
	}
	r := &reader{set: set, file: file, name: path.Base(importPath)}
	r.w.Title = importPath
	r.w.Heading(1, importPath, r.line(file.Package))
	if test {
		r.examples()
	} else {
		r.declarations()
	}
	if !r.any {
		return mdwriter.Document{}, ErrNotExported
	}
	return r.w.Document(), nil
}

// systems are those whose documentation pkg.go.dev shows.
var systems = [...]struct{ name, processor string }{
	{"linux", "amd64"}, {"windows", "amd64"}, {"darwin", "amd64"}, {"js", "wasm"},
}

// isExcluded reports whether the ordinary builds for all systems exclude the file: with
// "//go:build ignore" generators stay out of their package, and with "//go:build plan9" the
// functions of a rare system, which repeat those of the others.
func isExcluded(file *ast.File) bool {
	for _, group := range file.Comments {
		if group.Pos() > file.Package {
			break
		}
		for _, c := range group.List {
			if expr, err := constraint.Parse(c.Text); err == nil {
				return !isForAnySystem(expr)
			}
		}
	}
	return false
}

func isForAnySystem(expr constraint.Expr) bool {
	for _, system := range systems {
		isUnix := system.name == "linux" || system.name == "darwin"
		if expr.Eval(func(tag string) bool {
			return tag == system.name || tag == system.processor || tag == "unix" && isUnix || tag == "gc" ||
				tag == "cgo" || strings.HasPrefix(tag, "go1.")
		}) {
			return true
		}
	}
	return false
}

type reader struct {
	set  *token.FileSet
	file *ast.File
	name string // of the package in qualified identifiers
	w    mdwriter.Writer
	any  bool // something was written
}

func (r *reader) line(pos token.Pos) int { return r.set.PositionFor(pos, false).Line }

func (r *reader) declarations() {
	if r.file.Doc != nil {
		r.any = true
		r.comment(r.file.Doc)
	}
	if r.file.Name.Name == "main" {
		return // a program exports nothing
	}
	ast.FileExports(r.file)
	for _, d := range r.file.Decls {
		switch d := d.(type) {
		case *ast.FuncDecl:
			r.function(d)
		case *ast.GenDecl:
			r.group(d)
		}
	}
}

func (r *reader) function(d *ast.FuncDecl) {
	name := d.Name.Name
	if d.Recv != nil && len(d.Recv.List) > 0 {
		receiver := code.ReceiverName(d.Recv.List[0].Type)
		if !ast.IsExported(receiver) {
			return
		}
		name = receiver + "." + name
	}
	about := d.Doc
	r.section(d, about, name, name)
	d.Doc, d.Body = nil, nil
	r.code(d, r.line(d.Pos()))
	r.comment(about)
}

// group writes the types of a declaration one by one, and constants and variables together.
func (r *reader) group(d *ast.GenDecl) {
	about := d.Doc
	d.Doc = nil
	switch d.Tok {
	case token.TYPE:
		for _, spec := range d.Specs {
			t := spec.(*ast.TypeSpec)
			text := about
			if t.Doc != nil {
				text = t.Doc
			}
			single := &ast.GenDecl{TokPos: t.Pos(), Tok: token.TYPE, Specs: []ast.Spec{t}}
			t.Doc = nil
			r.section(t, text, t.Name.Name, append([]string{t.Name.Name}, members(t)...)...)
			r.code(single, r.line(t.Pos()))
			r.comment(text)
		}
	case token.CONST, token.VAR:
		var names []string
		for _, spec := range d.Specs {
			for _, n := range spec.(*ast.ValueSpec).Names {
				names = append(names, n.Name)
			}
		}
		if len(names) == 0 {
			return
		}
		const most = 3
		heading := strings.Join(names[:min(len(names), most)], ", ")
		if len(names) > most {
			heading += ", ..."
		}
		r.section(d, about, heading, names...)
		r.comment(about)
		r.code(d, r.line(d.Pos()))
	}
}

// members returns the names of a type's fields or methods, as anchors have them.
func members(t *ast.TypeSpec) (names []string) {
	var fields *ast.FieldList
	switch t := t.Type.(type) {
	case *ast.StructType:
		fields = t.Fields
	case *ast.InterfaceType:
		fields = t.Methods
	}
	if fields == nil {
		return nil
	}
	for _, f := range fields.List {
		for _, n := range f.Names {
			names = append(names, t.Name.Name+"."+n.Name)
		}
	}
	return names
}

// section begins the section of a declaration that defines names. The first sentence of its
// comment, if it is short, becomes an index term: it is the summary, and the words of a summary
// say more about the subject than those of the rest.
func (r *reader) section(n ast.Node, about *ast.CommentGroup, heading string, names ...string) {
	r.any = true
	r.w.Heading(2, heading, r.line(n.Pos()))
	r.w.Entry()
	r.w.Term(new(doc.Package).Synopsis(about.Text()))
	for _, name := range names {
		r.w.Anchor(name)
		r.w.Term(r.name + "." + name)
	}
}

// code writes a node, which begins on line from.
func (r *reader) code(node any, from int) { r.w.Code("go", r.print(node, from)) }

// print returns a node in the layout of gofmt.
func (r *reader) print(node any, from int) []mdwriter.Line {
	var b bytes.Buffer
	config := printer.Config{Mode: printer.UseSpaces | printer.TabIndent, Tabwidth: 8}
	if config.Fprint(&b, r.set, node) != nil {
		return nil
	}
	return mdwriter.Lines(b.String(), from)
}

// examples writes each example below the name that it is for: ExampleClient_Get is one of
// Client.Get.
func (r *reader) examples() {
	for _, e := range doc.Examples(r.file) {
		name, variant := e.Name, ""
		if i := strings.LastIndexByte(name, '_'); i >= 0 && i+1 < len(name) && !ast.IsExported(name[i+1:]) {
			name, variant = name[:i], name[i+1:]
		}
		name = strings.ReplaceAll(name, "_", ".")
		heading, anchor := "Example", "example-"+cmp.Or(name, "package")
		if name != "" {
			heading = name + " example"
		}
		if variant != "" {
			heading += " (" + variant + ")"
			anchor += "-" + strings.ToUpper(variant[:1]) + variant[1:]
		}
		from := r.line(e.Code.Pos())
		r.any = true
		r.w.Heading(2, heading, from)
		r.w.Entry()
		r.w.Anchor(anchor)
		r.text(e.Doc, from)
		lines := r.print(&printer.CommentedNode{Node: e.Code, Comments: e.Comments}, from)
		if body, ok := e.Code.(*ast.BlockStmt); ok && body.Lbrace.IsValid() && len(lines) > 2 {
			lines = mdwriter.Dedent(lines[1 : len(lines)-1])
		}
		r.w.Code("go", lines)
	}
}

func (r *reader) comment(c *ast.CommentGroup) {
	if c != nil {
		r.text(c.Text(), r.line(c.Pos()))
	}
}

// text writes a doc comment, whose syntax is that of package comment.
func (r *reader) text(s string, from int) {
	// Every name in brackets is a link.
	p := comment.Parser{
		LookupSym:     func(string, string) bool { return true },
		LookupPackage: func(name string) (string, bool) { return name, true },
	}
	r.blocks(p.Parse(s).Content, from)
}

func (r *reader) blocks(blocks []comment.Block, from int) {
	for _, b := range blocks {
		switch b := b.(type) {
		case *comment.Heading:
			r.w.Text("**"+plain(b.Text)+"**", from)
		case *comment.Paragraph:
			r.w.Text(plain(b.Text), from)
		case *comment.Code:
			r.w.Code("", mdwriter.Lines(strings.TrimRight(b.Text, "\n"), from))
		case *comment.List:
			for _, item := range b.Items {
				mark := "- "
				if item.Number != "" {
					mark = item.Number + ". "
				}
				r.w.Push(mark, strings.Repeat(" ", len(mark)))
				r.blocks(item.Content, from)
				r.w.Pop()
			}
		}
	}
}

func plain(text []comment.Text) string {
	var b strings.Builder
	for _, t := range text {
		switch t := t.(type) {
		case comment.Plain:
			b.WriteString(string(t))
		case comment.Italic:
			b.WriteString(string(t))
		case *comment.Link:
			b.WriteString(plain(t.Text))
			if !t.Auto {
				b.WriteString(" (" + t.URL + ")")
			}
		case *comment.DocLink:
			b.WriteString(plain(t.Text))
		}
	}
	return b.String()
}
