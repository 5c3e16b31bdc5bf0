package code

import (
	"go/ast"
	"go/parser"
	"go/token"
)

// splitGo splits a Go file into declarations. If it does not parse, the valid
// part is split.
func splitGo(text []byte) []Section {
	set := token.NewFileSet()
	file, err := parser.ParseFile(set, "", text, parser.ParseComments|parser.SkipObjectResolution)
	if file == nil || err != nil && len(file.Decls) == 0 {
		return nil
	}
	line := func(pos token.Pos) int { return set.PositionFor(pos, false).Line }
	sections := []Section{{Level: 1, Heading: "package " + file.Name.Name, First: 1, Last: line(file.FileEnd)}}
	if file.Name.Name == "" || file.Name.Name == "_" {
		sections[0].Heading = ""
	}
	for _, d := range file.Decls {
		if len(sections) >= maxSections {
			break
		}
		s := Section{Level: 1, First: line(d.Pos())}
		var doc *ast.CommentGroup
		switch d := d.(type) {
		case *ast.FuncDecl:
			doc = d.Doc
			s.Heading, s.Names = funcName(d)
		case *ast.GenDecl:
			if d.Tok == token.IMPORT {
				continue
			}
			doc = d.Doc
			s.Heading, s.Names = specNames(d)
		default:
			continue
		}
		if doc != nil {
			s.First = min(s.First, line(doc.Pos()))
		}
		if last := &sections[len(sections)-1]; s.First > last.First {
			last.Last = s.First - 1
			s.Last = line(file.FileEnd)
			sections = append(sections, s)
		} else {
			last.Names = append(last.Names, s.Names...) // on the same line
		}
	}
	return sections
}

// funcName returns a heading such as "func Open" or "func (Database) Close",
// and the names.
func funcName(d *ast.FuncDecl) (string, []string) {
	if d.Recv == nil || len(d.Recv.List) == 0 {
		return "func " + d.Name.Name, []string{d.Name.Name}
	}
	receiver := ReceiverName(d.Recv.List[0].Type)
	return "func (" + receiver + ") " + d.Name.Name, []string{receiver + "." + d.Name.Name}
}

// ReceiverName returns the name of a receiver's type, without pointer and type parameters; "?"
// if it is no name.
func ReceiverName(e ast.Expr) string {
	for {
		switch t := e.(type) {
		case *ast.StarExpr:
			e = t.X
		case *ast.IndexExpr:
			e = t.X
		case *ast.IndexListExpr:
			e = t.X
		case *ast.ParenExpr:
			e = t.X
		case *ast.Ident:
			return t.Name
		default:
			return "?"
		}
	}
}

// specNames returns the heading and names of a declaration of types, constants
// or variables.
func specNames(d *ast.GenDecl) (string, []string) {
	var names []string
	for _, spec := range d.Specs {
		switch spec := spec.(type) {
		case *ast.TypeSpec:
			names = append(names, spec.Name.Name)
		case *ast.ValueSpec:
			for _, n := range spec.Names {
				names = append(names, n.Name)
			}
		}
	}
	if len(names) == 0 {
		return "", nil
	}
	return d.Tok.String() + " " + names[0], names
}
