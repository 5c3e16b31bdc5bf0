package man

import (
	"strconv"
	"strings"

	"golang.org/x/text/unicode/norm"

	"github.com/docsearch/docsearch/internal/ingest/format/mdwriter"
)

// composed returns a letter with an accent.
func composed(letter byte, accent rune) string {
	return norm.NFC.String(string(rune(letter)) + string(accent))
}

// mdoc executes a macro of the mdoc package.
func (p *parser) mdoc(name string, args []string) bool {
	const most = 1000 // arguments; real commands have fewer
	if len(args) > most {
		p.addText(strings.Join(args, " "), "")
		return true
	}
	switch name {
	case "Dd", "Os", "Bk", "Ek", "Sm", "Hf", "Db", "Ud":
	case "Dt":
		if len(args) > 1 {
			p.beginPage(args[0], args[1])
		}
	case "Sh":
		p.beginSection(2, strings.Join(args, " "))
	case "Ss":
		p.beginSection(3, strings.Join(args, " "))
	case "Pp", "Lp":
		p.flush()
	case "Bl":
		kind := "tag"
		for _, a := range args {
			switch a {
			case "-bullet", "-dash", "-hyphen", "-item", "-enum", "-column", "-tag", "-diag", "-hang", "-ohang", "-inset":
				kind = a[1:]
			}
		}
		p.openPart(frame{list: kind})
	case "El":
		p.closePart()
	case "It":
		p.mdocItem(args)
	case "Bd":
		p.flush()
		for _, a := range args {
			p.fixed = p.fixed || a == "-literal" || a == "-unfilled"
		}
	case "Ed":
		p.flush()
		p.fixed = false
	case "D1", "Dl":
		p.flush()
		p.w.Code("", []mdwriter.Line{{Text: p.inline(args), From: p.at}})
	case "Nm":
		if p.section == "NAME" && p.name == "" && len(args) > 0 {
			p.name = args[0]
		}
		p.addText(p.inline(append([]string{"Nm"}, args...)), "")
	case "Nd":
		if n := len(p.text); n > 0 { // a dash at the beginning of a line would be a list item
			p.text[n-1].Text += " -"
			p.about += " -"
		}
		p.addText(p.inline(args), "")
	case "Xo", "Xc":
		if len(args) > 0 {
			p.addText(p.inline(args), "")
		}
	case "%A", "%B", "%C", "%D", "%I", "%J", "%N", "%O", "%P", "%Q", "%R", "%T", "%U", "%V":
		p.addText(strings.Join(args, " ")+",", "")
	case "Rs":
		if p.section == "SEE ALSO" {
			p.flush()
		}
	case "Re":
		if n := len(p.text); n > 0 {
			p.text[n-1].Text = strings.TrimSuffix(p.text[n-1].Text, ",") + "."
		}
	case "Ta":
		p.glue = len(p.text) > 0
		p.addText(cellEnd+p.inline(args), "")
	case "Fo":
		p.addText(strings.Join(args, " ")+"(", `\c`)
	case "Fc":
		p.glue = true
		p.addText(")"+strings.Join(args, ""), "")
	default:
		if !callable(name) {
			return false
		}
		p.addText(p.inline(append([]string{name}, args...)), "")
	}
	return true
}

// cellEnd separates the cells of a row in the text of a paragraph.
const cellEnd = "\x1f"

// endRow makes the current paragraph a row of the open list of columns.
func (p *parser) endRow(list *frame) {
	var words []string
	for _, l := range p.text {
		words = append(words, l.Text)
	}
	list.rows = append(list.rows, mdwriter.Row{Cells: strings.Split(strings.Join(words, " "), cellEnd), From: p.text[0].From})
	p.text = nil
}

// mdocItem begins an item of the open list.
func (p *parser) mdocItem(args []string) {
	p.closeItem()
	kind, number := "tag", 1
	if n := len(p.stack); n > 0 && p.stack[n-1].list != "" {
		p.stack[n-1].count++
		kind, number = p.stack[n-1].list, p.stack[n-1].count
	}
	switch kind {
	case "bullet", "dash", "hyphen", "item":
		p.item("- ")
	case "enum":
		p.item(strconv.Itoa(number) + ". ")
	case "column":
		cells := strings.Split(" "+strings.Join(args, " ")+" ", " Ta ")
		for i, c := range cells {
			cells[i] = p.inline(strings.Fields(c))
		}
		p.addText(strings.Join(cells, cellEnd), "")
	default:
		p.tag = tagDue
		text := p.inline(args)
		// A long item continues between Xo and Xc.
		if n := len(args); n > 0 && args[n-1] == "Xo" {
			for p.at < len(p.lines) {
				line := strings.TrimSpace(p.lines[p.at])
				p.at++
				if strings.HasPrefix(line, ".Xc") {
					break
				}
				if strings.HasPrefix(line, ".It") || strings.HasPrefix(line, ".El") {
					p.at--
					break
				}
				if rest, ok := strings.CutPrefix(line, "."); ok {
					text += " " + p.inline(p.arguments(rest))
				} else {
					text += " " + p.unescape(line)
				}
			}
		}
		p.term(text)
	}
}

// A macro defines the output of a callable mdoc macro: delimiters around the
// rest of the line, a fixed text, or a function of its arguments.
type macro struct {
	open, end string // around the rest of the line
	// Fixed text without arguments. It may attach to the word before or after.
	sign          string
	before, after bool
	// text formats the arguments up to the next macro or closing delimiter.
	text func(p *parser, args []string) string
	// write handles macros with other arguments or with several words of
	// output. It returns how many arguments of rest it used; text would get the
	// first own of them.
	write func(j *joiner, rest []string, own int) int
}

// macros are the mdoc macros that can be called within the arguments of others.
var macros = map[string]macro{
	"Op": {open: "[", end: "]"}, "Bq": {open: "[", end: "]"}, "Pq": {open: "(", end: ")"}, "Aq": {open: "<", end: ">"},
	"Brq": {open: "{", end: "}"}, "Dq": {open: `"`, end: `"`}, "Qq": {open: `"`, end: `"`}, "Sq": {open: "'", end: "'"}, "Ql": {open: "'", end: "'"},

	"Oo": {sign: "["}, "Bo": {sign: "["}, "Po": {sign: "("}, "Oc": {sign: "]"}, "Bc": {sign: "]"}, "Pc": {sign: ")"},
	"Ao": {sign: "<", after: true}, "Bro": {sign: "{", after: true}, "Qo": {sign: `"`, after: true}, "Do": {sign: `"`, after: true}, "So": {sign: "'", after: true},
	"Ac": {sign: ">", before: true}, "Brc": {sign: "}", before: true}, "Qc": {sign: `"`, before: true}, "Dc": {sign: `"`, before: true}, "Sc": {sign: "'", before: true},
	"Ap": {sign: "'", before: true, after: true}, "Ns": {after: true},
	"Xo": {}, "Xc": {}, "No": {}, "Eo": {}, "Ec": {}, "Ta": {},

	"Ar": {text: func(_ *parser, args []string) string { return orDefault(args, "file ...") }},
	"Nm": {text: func(p *parser, args []string) string { return orDefault(args, p.name) }},
	"Fn": {text: function},
	"In": {text: func(_ *parser, args []string) string { return "<" + strings.Join(args, " ") + ">" }},
	"Lk": {text: link},
	"St": {text: func(_ *parser, args []string) string { return strings.TrimPrefix(strings.Join(args, " "), "-") }},
	"Ex": {text: func(p *parser, _ []string) string {
		return "The " + p.name + " utility exits 0 on success, and >0 if an error occurs."
	}},
	"Rv": {text: func(*parser, []string) string { return "Returns 0 if successful; otherwise -1, and errno is set." }},
	"Ux": {text: system("UNIX")}, "Bx": {text: system("BSD")}, "Bsx": {text: system("BSD/OS")}, "Fx": {text: system("FreeBSD")},
	"Nx": {text: system("NetBSD")}, "Ox": {text: system("OpenBSD")}, "Dx": {text: system("DragonFly BSD")}, "At": {text: system("AT&T UNIX")},

	"Fl": {write: flags}, "Pf": {write: prefix}, "Xr": {write: reference},

	"Ad": {text: plain}, "An": {text: plain}, "Cd": {text: plain}, "Cm": {text: plain}, "Dv": {text: plain}, "Em": {text: plain},
	"Er": {text: plain}, "Ev": {text: plain}, "Fa": {text: plain}, "Fr": {text: plain}, "Ft": {text: plain}, "Ic": {text: plain},
	"Lb": {text: plain}, "Li": {text: plain}, "Ms": {text: plain}, "Mt": {text: plain}, "Ot": {text: plain}, "Pa": {text: plain},
	"Sx": {text: plain}, "Sy": {text: plain}, "Tn": {text: plain}, "Va": {text: plain}, "Vt": {text: plain},
}

func plain(_ *parser, args []string) string { return strings.Join(args, " ") }

func orDefault(args []string, none string) string {
	if len(args) == 0 {
		return none
	}
	return strings.Join(args, " ")
}

func function(_ *parser, args []string) string {
	if len(args) == 0 {
		return ""
	}
	return args[0] + "(" + strings.Join(args[1:], ", ") + ")"
}

// link returns an address with its text.
func link(_ *parser, args []string) string {
	if len(args) < 2 {
		return strings.Join(args, " ")
	}
	return strings.Join(args[1:], " ") + " (" + args[0] + ")"
}

// system formats the name and version of an operating system.
func system(name string) func(*parser, []string) string {
	return func(_ *parser, args []string) string { return strings.TrimSpace(name + " " + strings.Join(args, " ")) }
}

// flags writes each argument with a dash.
func flags(j *joiner, rest []string, own int) int {
	if own == 0 {
		j.add("-")
		j.glue = len(rest) > 0 && (rest[0] == "Ns" || rest[0] == "Fl" || closing(rest[0]))
	}
	for _, a := range rest[:own] {
		if a != "|" {
			a = "-" + a
		}
		j.add(a)
	}
	return own
}

// prefix writes a word that attaches to the next one.
func prefix(j *joiner, rest []string, own int) int {
	if own == 0 {
		return 0
	}
	j.add(rest[0])
	j.glue = true
	return 1
}

// reference writes the name and section of another page.
func reference(j *joiner, rest []string, own int) int {
	if own < 2 {
		j.add(strings.Join(rest[:own], " "))
		return own
	}
	j.add(rest[0] + "(" + rest[1] + ")")
	return 2
}

// callable reports whether an argument is a macro.
func callable(name string) bool {
	_, ok := macros[name]
	return ok
}

// A joiner joins words with spaces, except before closing and after opening
// delimiters.
type joiner struct {
	b    strings.Builder
	glue bool
}

func (j *joiner) add(word string) {
	if word == "" {
		return
	}
	if j.b.Len() > 0 && !j.glue && !closing(word) {
		j.b.WriteByte(' ')
	}
	j.b.WriteString(word)
	j.glue = word == "(" || word == "["
}

func closing(word string) bool { return len(word) == 1 && strings.Contains(".,:;)]?!", word) }

// inline executes the macros among the arguments of another.
func (p *parser) inline(args []string) string {
	var j joiner
	for i := 0; i < len(args); {
		if !callable(args[i]) {
			j.add(args[i])
			i++
			continue
		}
		i += p.call(&j, args[i], args[i+1:]) + 1
	}
	return j.b.String()
}

// call executes a macro and returns how many of the following arguments it
// used.
func (p *parser) call(j *joiner, name string, rest []string) int {
	m := macros[name]
	if m.open != "" {
		n := len(rest)
		for n > 0 && closing(rest[n-1]) {
			n--
		}
		j.add(m.open + p.inline(rest[:n]) + m.end)
		return n
	}
	own := 0 // up to the next macro or closing delimiter
	for own < len(rest) && !callable(rest[own]) && !closing(rest[own]) {
		own++
	}
	switch {
	case m.write != nil:
		return m.write(j, rest, own)
	case m.text != nil:
		j.add(m.text(p, rest[:own]))
		return own
	}
	j.glue = j.glue || m.before
	j.add(m.sign)
	j.glue = j.glue || m.after
	return 0
}
