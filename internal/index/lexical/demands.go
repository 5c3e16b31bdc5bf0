package lexical

import (
	"slices"
	"strings"
)

// Demands are what a query asks for that few pages can answer, however well the other words
// fit: "flask 3.0 sessions" finds the sessions of Flask 2.2, and "flask vs fastapi" what Flask
// does. A page that does answer says so in its title or headings.
type Demands struct {
	// Version is the version of the documented software in the query if the index documents
	// another one, else "".
	Version string
	Topic   Topic
	// Software are names of other software that are rare in the index, in lower case.
	Software []string
	// Missing are the terms that neither a passage of the index nor much of other
	// documentation contains.
	Missing []string
}

// A Topic is a subject that most documentation lacks.
type Topic string

const (
	NoTopic       Topic = "" // any other subject
	Comparison    Topic = "comparison with other software"
	Advice        Topic = "recommended software"
	Price         Topic = "price"
	License       Topic = "license"
	Jobs          Topic = "jobs"
	News          Topic = "news"
	Roadmap       Topic = "roadmap"
	Vulnerability Topic = "vulnerability"
)

// IsIn reports whether a word of a heading, in lower case, shows that a page is about the topic.
func (t Topic) IsIn(word string) bool {
	starts := func(beginnings ...string) bool {
		return slices.ContainsFunc(beginnings, func(s string) bool { return strings.HasPrefix(word, s) })
	}
	found := true
	switch t {
	case Comparison:
		found = word == "vs" || starts("versus", "compar", "alternativ", "differ", "benchmark")
	case Advice:
		found = starts("recommend", "third-party", "ecosystem", "awesome")
	case Price:
		found = starts("price", "pricing", "cost")
	case License:
		found = starts("licen")
	case Jobs:
		found = starts("job", "hiring", "career")
	case News:
		found = starts("news", "announce", "release", "event")
	case Roadmap:
		found = starts("roadmap")
	case Vulnerability:
		found = starts("vulnerab", "advisor", "cve")
	}
	return found || t.isInForeign(word)
}

// topicOf returns the topic that a folded word of a query asks for; before is the previous word.
// See compares for comparisons.
func topicOf(before, w string) Topic {
	switch before + " " + w {
	case "release date", "release dates", "market share", "weekly downloads":
		return News
	case "security advisory", "security advisories":
		return Vulnerability
	case "job market", "hourly rate":
		return Jobs
	}
	if strings.HasPrefix(w, "cve-") || strings.HasPrefix(w, "ghsa-") {
		return Vulnerability
	}
	switch w {
	case "price", "prices", "pricing":
		return Price
	case "license", "licenses", "licence", "licences", "licensing":
		return License
	case "salary", "salaries", "job", "jobs", "hiring", "interview", "freelance", "career":
		return Jobs
	case "news", "ceo", "founder", "funding", "ipo", "acquisition", "acquires", "acquired", "lawsuit", "controversy",
		"layoffs", "popularity", "conference", "keynote", "meetup":
		return News
	case "roadmap":
		return Roadmap
	case "cve", "cves", "vulnerability", "vulnerabilities", "exploit", "exploits":
		return Vulnerability
	}
	return NoTopic
}

// minOtherness is the otherness from which a word is not a subject of the index.
const minOtherness = .5

// addTopic adds the topic that the words of a query ask for to d, which has the other software
// already.
func (x *Index) addTopic(words []framedWord, names []string, d *Demands) error {
	before := ""
	for i, w := range words {
		topic := topicOf(before, w.folded)
		before = w.folded
		if isComparative(w.folded) &&
			(len(d.Software) > 0 || endsWithName(words[:i], names) || isComparedName(words[i+1:], names)) {
			d.Topic = Comparison
			return nil
		}
		switch {
		case topic != NoTopic:
		case isBestOf(words[i:]):
			d.Topic = Advice
		case asksForNewest(words, i):
			d.Topic = News
		}
		if topic == NoTopic || d.Topic != NoTopic {
			continue
		}
		other, err := x.otherness(w.folded)
		if err != nil {
			return err
		}
		if other > minOtherness {
			d.Topic = topic
		}
	}
	if d.Topic == NoTopic {
		d.Topic = foreignTopicOf(words, names)
	}
	return nil
}

// isComparative reports whether a word compares software if names of software are near it.
func isComparative(w string) bool {
	switch w {
	case "vs", "versus", "alternative", "alternatives", "comparison", "comparisons", "compared", "better", "faster",
		"slower":
		return true
	}
	return false
}

// isBestOf reports whether words begin with a request for software to use, such as "best admin
// template", or for a way to learn.
func isBestOf(words []framedWord) bool {
	switch words[0].folded {
	case "best", "top", "popular", "recommended", "favorite":
	default:
		return false
	}
	return slices.ContainsFunc(words[1:min(len(words), 5)], func(w framedWord) bool {
		switch w.folded {
		case "library", "libraries", "framework", "frameworks", "plugin", "plugins", "extension", "extensions", "tool",
			"tools", "editor", "ide", "package", "packages",
			"course", "courses", "book", "books", "hosting", "provider", "boilerplate", "theme", "themes", "template",
			"templates", "blog", "blogs", "companies":
			return true
		}
		return false
	})
}

// asksForNewest reports whether a query asks which version is the newest from word i on: "latest
// stable version". A task that wants the newest version, such as installing it, does not.
func asksForNewest(words []framedWord, i int) bool {
	switch words[i].folded {
	case "latest", "newest", "current":
	default:
		return false
	}
	isVersion := func(w framedWord) bool {
		return w.folded == "version" || w.folded == "versions" || w.folded == "release" || w.folded == "stable"
	}
	isTask := func(w framedWord) bool {
		switch w.folded {
		case "install", "installing", "upgrade", "upgrading", "update", "updating", "build", "compile", "migrate",
			"use", "using", "how", "get", "show", "print", "check":
			return true
		}
		return false
	}
	return slices.ContainsFunc(words[i+1:min(len(words), i+4)], isVersion) && !slices.ContainsFunc(words, isTask)
}

// isComparedName reports whether the words after a comparative are the name of the documented
// software: then the software is compared, not its parts.
func isComparedName(after []framedWord, names []string) bool {
	if len(after) > 0 && (after[0].folded == "to" || after[0].folded == "than" || after[0].folded == "with") {
		after = after[1:]
	}
	return slices.ContainsFunc(names, func(name string) bool { return startsWith(after, name) })
}

// endsWithName reports whether the last words are one of the names, which may have several words.
func endsWithName(words []framedWord, names []string) bool {
	return slices.ContainsFunc(names, func(name string) bool {
		n := len(strings.Fields(name))
		return n > 0 && n <= len(words) && startsWith(words[len(words)-n:], name)
	})
}

// startsWith reports whether the first words are those of a name.
func startsWith(words []framedWord, name string) bool {
	i := 0
	for part := range strings.FieldsSeq(name) {
		if i >= len(words) || !strings.EqualFold(words[i].folded, part) {
			return false
		}
		i++
	}
	return i > 0
}
