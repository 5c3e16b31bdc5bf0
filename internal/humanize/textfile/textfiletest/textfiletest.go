// Package textfiletest checks the texts of a package against the code that uses them.
package textfiletest

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/docsearch/docsearch/internal/humanize/textfile"
)

// Check reports each text and each placeholder of the package in the working directory that
// the code does not use exactly once per call, and each one in the code that no file has.
// The names in the code must be literals.
func Check(t *testing.T) {
	t.Helper()
	problems, texts := check(".")
	for _, problem := range problems {
		t.Error(problem)
	}
	if texts == 0 {
		t.Error("the package has no texts")
	}
}

// check returns the problems of the package in a folder and the number of its texts.
func check(folder string) (problems []string, texts int) {
	set := token.NewFileSet()
	var sources []*ast.File
	names, _ := filepath.Glob(filepath.Join(folder, "*.go"))
	for _, name := range names {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		source, err := parser.ParseFile(set, name, nil, parser.ParseComments)
		if err != nil {
			return []string{err.Error()}, 0
		}
		sources = append(sources, source)
	}
	files := make(map[string]textfile.File) // by variable
	unused := make(map[string]string)       // variable and text -> place
	for _, source := range sources {
		for name, path := range embedded(source) {
			data, err := os.ReadFile(filepath.Join(folder, path))
			if err != nil {
				problems = append(problems, err.Error())
			}
			files[name] = textfile.File(data)
			for _, text := range headings(string(data)) {
				texts++
				if _, twice := unused[name+" "+text]; twice {
					problems = append(problems, path+": two texts "+text)
				}
				unused[name+" "+text] = path
			}
		}
	}

	for _, source := range sources {
		ast.Inspect(source, func(n ast.Node) bool {
			variable, arguments := textCall(n)
			file, ok := files[variable]
			if !ok {
				return true
			}
			place := set.Position(n.Pos()).String()
			name, literal := constant(arguments[0])
			delete(unused, variable+" "+name)
			switch {
			case !literal:
				problems = append(problems, place+": the name of a text is no literal")
			case !slices.Contains(headings(string(file)), name):
				problems = append(problems, place+": no text "+name)
			default:
				problems = append(problems, compare(place, file.Text(name), arguments[1:])...)
			}
			return true
		})
	}
	for text, path := range unused {
		problems = append(problems, path+": the code does not use "+text)
	}
	return problems, texts
}

// compare returns the differences between the placeholders of a text and the values of a call.
func compare(place, text string, values []ast.Expr) (problems []string) {
	var filled []string
	for i := 0; i < len(values); i += 2 {
		name, literal := constant(values[i])
		if !literal || i+1 == len(values) || slices.Contains(filled, name) {
			problems = append(problems, place+": values must be pairs of a different literal name and a value")
		}
		filled = append(filled, name)
		if !strings.Contains(text, "{"+name+"}") {
			problems = append(problems, place+": the text has no placeholder "+name)
		}
	}
	for _, found := range placeholder.FindAllStringSubmatch(text, -1) {
		if !slices.Contains(filled, found[1]) {
			problems = append(problems, place+": no value for the placeholder "+found[1])
		}
	}
	return problems
}

var (
	heading     = regexp.MustCompile(`(?m)^\[(.*)\]$`)
	placeholder = regexp.MustCompile(`\{([^{}]*)\}`)
)

// headings returns the names of the texts in a file.
func headings(file string) (names []string) {
	for _, found := range heading.FindAllStringSubmatch(file, -1) {
		names = append(names, found[1])
	}
	return names
}

// embedded returns the paths of the embedded text files by their variables.
func embedded(source *ast.File) map[string]string {
	files := make(map[string]string)
	ast.Inspect(source, func(n ast.Node) bool {
		declaration, ok := n.(*ast.GenDecl)
		if !ok {
			return true
		}
		for _, s := range declaration.Specs {
			spec, ok := s.(*ast.ValueSpec)
			if !ok {
				continue
			}
			of, ok := spec.Type.(*ast.SelectorExpr)
			if !ok || of.Sel.Name != "File" {
				continue
			}
			doc := spec.Doc
			if doc == nil {
				doc = declaration.Doc
			}
			if doc == nil {
				continue
			}
			for _, c := range doc.List {
				if path, ok := strings.CutPrefix(c.Text, "//go:embed "); ok && fs.ValidPath(path) {
					files[spec.Names[0].Name] = path
				}
			}
		}
		return true
	})
	return files
}

// textCall returns the variable and the arguments of a call of its method Text, or "".
func textCall(n ast.Node) (variable string, arguments []ast.Expr) {
	call, ok := n.(*ast.CallExpr)
	if !ok || len(call.Args) == 0 {
		return "", nil
	}
	method, ok := call.Fun.(*ast.SelectorExpr)
	if !ok || method.Sel.Name != "Text" {
		return "", nil
	}
	on, ok := method.X.(*ast.Ident)
	if !ok {
		return "", nil
	}
	return on.Name, call.Args
}

// constant returns the value of a string literal.
func constant(e ast.Expr) (string, bool) {
	literal, ok := e.(*ast.BasicLit)
	if !ok || literal.Kind != token.STRING {
		return "", false
	}
	value, err := strconv.Unquote(literal.Value)
	return value, err == nil
}
