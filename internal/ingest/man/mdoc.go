package man

import (
	"strconv"
	"strings"

	"golang.org/x/text/unicode/norm"

	"github.com/docsearch/docsearch/internal/ingest/md"
)

// composed is a letter with an accent.
func composed(letter byte, accent rune) string {
	return norm.NFC.String(string(rune(letter)) + string(accent))
}

// mdoc carries out a macro of the mdoc package.
func (p *parser) mdoc(name string, args []string) bool {
	const most = 1000 // arguments; more are no command's
	if len(args) > most {
		p.put(strings.Join(args, " "), "")
		return true
	}
	switch name {
	case "Dd", "Os", "Bk", "Ek", "Sm", "Hf", "Rs", "Re", "Db", "Ud":
	case "Dt":
		if len(args) > 1 {
			p.top(args[0], args[1])
		}
	case "Sh":
		p.begin(2, strings.Join(args, " "))
	case "Ss":
		p.begin(3, strings.Join(args, " "))
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
		p.w.Code("", []md.Line{{Text: p.inline(args), From: p.at}})
	case "Nm":
		if p.section == "NAME" && p.name == "" && len(args) > 0 {
			p.name = args[0]
		}
		p.put(p.inline(append([]string{"Nm"}, args...)), "")
	case "Nd":
		p.put("- "+p.inline(args), "")
	case "Xo", "Xc":
		if len(args) > 0 {
			p.put(p.inline(args), "")
		}
	case "%A", "%B", "%C", "%D", "%I", "%J", "%N", "%O", "%P", "%Q", "%R", "%T", "%U", "%V":
		p.put(strings.Join(args, " ")+",", "")
	case "Fo":
		p.put(strings.Join(args, " ")+"(", `\c`)
	case "Fc":
		p.glue = true
		p.put(")"+strings.Join(args, ""), "")
	case "Oo", "Oc", "Ao", "Ac", "Bo", "Bc", "Po", "Pc", "Qo", "Qc", "So", "Sc", "Do", "Dc", "Bro", "Brc", "Eo", "Ec":
		p.put(p.inline(append([]string{name}, args...)), "")
	default:
		if !callable(name) {
			return false
		}
		p.put(p.inline(append([]string{name}, args...)), "")
	}
	return true
}

// mdocItem begins an item of the list that is open.
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
		p.item("- ")
		cells := strings.Split(" "+strings.Join(args, " ")+" ", " Ta ")
		for i, c := range cells {
			cells[i] = p.inline(strings.Fields(c))
		}
		p.put(strings.Join(cells, " | "), "")
	default:
		p.tag = tagDue
		text := p.inline(args)
		// An item that is long goes on between Xo and Xc.
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
		p.describe(text)
	}
}

// callable reports whether an argument of that name is a macro itself.
func callable(name string) bool {
	if len(name) < 2 || len(name) > 3 || name[0] < 'A' || name[0] > 'Z' {
		return false
	}
	switch name {
	case "Ad", "An", "Ap", "Aq", "Ar", "At", "Bq", "Brq", "Bsx", "Bx", "Cd", "Cm", "Dq", "Dv", "Dx", "Em", "Er", "Ev", "Ex", "Fa",
		"Fl", "Fn", "Fr", "Ft", "Fx", "Ic", "In", "Lb", "Li", "Lk", "Ms", "Mt", "Nm", "No", "Ns", "Nx", "Op", "Ot", "Ox", "Pa", "Pf",
		"Pq", "Ql", "Qq", "Rv", "Sq", "St", "Sx", "Sy", "Tn", "Ux", "Va", "Vt", "Xr", "Oo", "Oc", "Ao", "Ac", "Bo", "Bc", "Po",
		"Pc", "Qo", "Qc", "So", "Sc", "Do", "Dc", "Bro", "Brc", "Xo", "Xc", "Eo", "Ec", "Ta":
		return true
	}
	return false
}

// A joiner joins words with spaces, but none before what closes and behind what
// opens.
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

// inline carries out the macros among the arguments of one.
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

// call carries out one macro and returns how many of the arguments after it
// are its.
func (p *parser) call(j *joiner, name string, rest []string) int {
	own := 0 // up to the next macro or what closes
	for own < len(rest) && !callable(rest[own]) && !closing(rest[own]) {
		own++
	}
	args := rest[:own]
	text := strings.Join(args, " ")
	if open, end := enclosing(name); open != "" {
		n := len(rest)
		for n > 0 && closing(rest[n-1]) {
			n--
		}
		j.add(open + p.inline(rest[:n]) + end)
		return n
	}
	switch name {
	case "Ns":
		j.glue = true
		return 0
	case "Ap":
		j.glue = true
		j.add("'")
		j.glue = true
		return 0
	case "Pf":
		if own == 0 {
			return 0
		}
		j.add(rest[0])
		j.glue = true
		return 1
	case "Oo", "Bo":
		j.add("[")
		return 0
	case "Po":
		j.add("(")
		return 0
	case "Oc", "Bc":
		j.add("]")
		return 0
	case "Pc":
		j.add(")")
		return 0
	case "Ao", "Bro", "Qo", "Do", "So":
		j.add(map[string]string{"Ao": "<", "Bro": "{", "Qo": `"`, "Do": `"`, "So": "'"}[name])
		j.glue = true
		return 0
	case "Ac", "Brc", "Qc", "Dc", "Sc":
		j.glue = true
		j.add(map[string]string{"Ac": ">", "Brc": "}", "Qc": `"`, "Dc": `"`, "Sc": "'"}[name])
		return 0
	case "Xo", "Xc", "No", "Eo", "Ec", "Ta":
		return 0
	case "Fl":
		if own == 0 {
			j.add("-")
			j.glue = len(rest) > 0 && (rest[0] == "Ns" || rest[0] == "Fl" || !callable(rest[0]))
			return 0
		}
		for _, a := range args {
			if a == "|" {
				j.add(a)
				continue
			}
			j.add("-" + a)
		}
		return own
	case "Ar":
		if own == 0 {
			text = "file ..."
		}
	case "Nm":
		if own == 0 {
			text = p.name
		}
	case "Xr":
		if own > 1 {
			text = args[0] + "(" + args[1] + ")"
			j.add(text)
			return 2
		}
	case "Fn":
		if own > 0 {
			text = args[0] + "(" + strings.Join(args[1:], ", ") + ")"
		}
	case "In":
		text = "<" + text + ">"
	case "Lk":
		if own > 1 {
			text = strings.Join(args[1:], " ") + " (" + args[0] + ")"
		}
	case "Ex":
		text = "The " + p.name + " utility exits 0 on success, and >0 if an error occurs."
	case "Rv":
		text = "Returns 0 if successful; otherwise -1, and errno is set."
	case "Ux", "Bx", "Bsx", "Fx", "Nx", "Ox", "Dx", "At":
		text = strings.TrimSpace(map[string]string{"Ux": "UNIX", "Bx": "BSD", "Bsx": "BSD/OS", "Fx": "FreeBSD", "Nx": "NetBSD",
			"Ox": "OpenBSD", "Dx": "DragonFly BSD", "At": "AT&T UNIX"}[name] + " " + text)
	case "St":
		text = strings.TrimPrefix(text, "-")
	}
	j.add(text)
	return own
}

// enclosing are the signs that a macro puts around the rest of its line.
func enclosing(name string) (open, end string) {
	switch name {
	case "Op", "Bq":
		return "[", "]"
	case "Pq":
		return "(", ")"
	case "Aq":
		return "<", ">"
	case "Brq":
		return "{", "}"
	case "Dq", "Qq":
		return `"`, `"`
	case "Sq", "Ql":
		return "'", "'"
	}
	return "", ""
}
