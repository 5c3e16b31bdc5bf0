package html

import (
	"strings"
	"sync"
)

// A generator describes the markup of a documentation generator, or of a site
// with its own markup: how to recognize its pages and which elements have which
// roles. Fields are lists of selectors.
type generator struct {
	name        string
	meta        []string // prefixes of <meta name=generator>, lower case
	comments    []string // substrings of the first comments
	marks       string   // elements that only its pages have
	main        []string // content elements, in order of preference
	drop        string   // elements in the content to skip
	keep        string   // elements that are content, whatever drop and commonDrop contain
	title       string   // page heading, if it is not h1 to h6; others of these are below all h1 to h6
	major       string   // headings directly below the page heading, whatever their level
	minor       string   // headings that are too small for a section
	define      string   // headings that define a name
	code        string   // code outside of pre, white space collapsed
	lineCode    string   // code outside of pre, one line per child element
	pre         string   // code outside of pre, with its layout
	separator   string   // separator between the page's name and the names that it defines
	numbered    bool     // headings have section numbers
	handwritten bool     // headings may be bold paragraphs with an anchor
}

// Roles of elements.
const (
	roleDrop      role = 1 << iota // not content
	roleTOC                        // table of contents; content only if there is nothing else
	roleTitle                      // page heading
	roleMajor                      // heading directly below the page heading
	roleMinor                      // heading too small for a section
	roleDefine                     // heading that defines a name
	roleCode                       // code outside of pre
	roleLines                      // code, one line per child element
	roleNote                       // box: note, warning, tip
	roleLabel                      // label of a box
	roleCaption                    // caption of a figure, an example, a table
	roleMain                       // content of pages from unknown generators
	rolePlain                      // definition list that defines no names
	roleTabs                       // tabs: readers see one panel at a time
	roleTab                        // name of a tab
	rolePanel                      // panel of a tab
	rolePre                        // code with its layout, as in pre
	roleLayout                     // layout table
	roleFootnote                   // footnote; in a definition list, the dt
	roleFootnotes                  // list of footnotes
	roleKeep                       // content, in spite of roleDrop
)

// Selectors that generators share, also used for unknown generators.
const (
	commonDrop = `nav, footer, dialog, [role=navigation], [role=search], [role=banner], [role=contentinfo],
		[role=dialog], [role=alertdialog], [role=tooltip], [role=tablist],
		a.headerlink, a.permalink, a.hash-link, a.header-anchor, a.anchor-link, a.anchorjs-link, a.heading-anchor,
		.td-heading-self-link, .mw-editsection, .sr-only, .visually-hidden, .visuallyhidden, .screen-reader-text,
		.skip-link, .skip-nav, .skip-to-content, .breadcrumb, .breadcrumbs, #breadcrumbs, .cookie-banner,
		.cookie-consent, .cookie-notice, #cookie-banner, #cookie-notice, #cookie-consent, [id*=cookieconsent],
		.edit-this-page, .edit-page, .edit-page-link, .edit-on-github, .page-edit, .pagination, .pager, .prev-next,
		.prev-next-area, .pagination-nav, .page-navigation, .version-switcher, .version-selector, .rst-versions,
		.feedback, .page-feedback, .copy-button, .copybtn, .btn-copy, .zeroclipboard-container, .announcement,
		td.linenos, span.linenos, .linenodiv, td.gutter, .line-numbers-wrapper, .line-numbers-rows, .hljs-ln-numbers,
		a.footnote-backref, a.fn-backref, a.footnote-back, .katex-html, .MathJax_Preview, .ethical-rtd`
	commonTOC = `#toc, #TOC, .toc, #table-of-contents, .table-of-contents, .on-this-page, .page-toc, .toc-mobile,
		[role=doc-toc], div.contents.topic, nav.contents`
	commonMain = `main, [role=main], article, #content, #main-content, #main, #bodyContent, #mw-content-text,
		.markdown-body, .content, .main-content, .post-content, .documentation, .document`
	commonNote = `.admonition, .admonitionblock, .note, .warning, .tip, .caution, .important, .danger, .seealso, .hint,
		.custom-block, .theme-admonition, .markdown-alert, .alert, .callout, .sidebarblock, aside.footnote,
		aside.citation`
	commonLabel = `.admonition-title, .custom-block-title, .markdown-alert-title, .alert-heading, .admonitionblock .title,
		.note .title, .warning .title, .tip .title, .caution .title, .important .title, .callout-title,
		[class*=admonitionHeading], aside.footnote .label, aside.citation .label`
	commonCaption = `figcaption, .rubric, .topic-title, .sidebar-title, .code-block-caption, .caption-text,
		p.title, div.title, .sd-tab-label, [class*=codeBlockTitle], summary`
	commonLayout = `.highlighttable, .codehilitetable, .rouge-table, .highlight table, .manual-text table.Nm,
		[role=presentation], [role=none]`
	commonTabs     = `.tabbed-set, .tabs-container, .sphinx-tabs, .vp-code-group`
	commonTab      = `.tabbed-labels label, [role=tab], .vp-code-group .tabs label`
	commonPanel    = `.tabbed-block, [role=tabpanel], .vp-code-group .blocks [class*=language-]`
	commonFootnote = `aside.footnote, table.footnote, .footnote dt, .footnotes li, .footnote li, [role=doc-endnotes] li,
		[role=doc-footnote], div.footnote, .footnote-definition`
	commonFootnotes = `.footnotes, #footnotes, .footnote-list, div.footnote, dl.footnote, [role=doc-endnotes]`
	commonPlain     = `dl.footnote, dl.citation, dl.field-list, dl.toc, dl.option-list, dl.docutils dl.simple`
)

// generators are tried in order. A generator with pages similar to another's
// precedes it.
var generators = [...]generator{
	{
		name:  "mkdocs",
		meta:  []string{"mkdocs"},
		marks: `.md-content__inner, .md-main__inner, #mkdocs_search_modal, #mkdocs-search-query`,
		// Material, MkDocs' own theme, Read the Docs.
		main: []string{`.md-content__inner`, `[itemprop=articleBody]`, `[role=main]`},
		drop: `.md-content__button, .md-source-file, .md-source-date, .md-feedback, .md-sidebar, .md-tags,
			.wy-breadcrumbs, .rst-footer-buttons, .doc-labels`,
	},
	{
		name: "sphinx",
		meta: []string{"sphinx"},
		marks: `#documentation_options, .sphinxsidebar, .documentwrapper, .rst-content, link[href*=_static/pygments.css],
			link[href*=_static/sphinx]`,
		// Read the Docs, pydata, Furo, classic and derived themes, Django's.
		main: []string{`[itemprop=articleBody]`, `article.bd-article`, `#furo-main-content`, `div.body`, `div.yui-g`,
			`[role=main]`, `article`, `main`, `div.document`},
		drop: `.viewcode-link, .viewcode-back, .related, .sphinxsidebar, .section-number, .backrefs, .prev-next-footer,
			.wy-breadcrumbs, .rst-footer-buttons, .bd-toc, .bd-sidebar, .header-article, .content-icon-container,
			.back-to-top, .edit-this-page, .muted-link`,
	},
	{
		name:  "docusaurus",
		meta:  []string{"docusaurus"},
		marks: `.theme-doc-markdown, #__docusaurus`,
		main:  []string{`.theme-doc-markdown`, `article .markdown`, `article`, `main`},
		drop: `.theme-doc-toc-mobile, .theme-doc-footer, .theme-doc-breadcrumbs, .theme-doc-version-badge,
			.theme-doc-version-banner, .theme-edit-this-page, .theme-last-updated, [class*=tocCollapsible],
			[class*=lastUpdated], [class*=buttonGroup], [class*=codeBlockLineNumber]`,
	},
	{
		name:  "vitepress",
		meta:  []string{"vitepress", "vuepress"},
		marks: `.vp-doc, .VPHome, .theme-default-content`,
		// A home page has a hero and cards above its text.
		main: []string{`.VPHome`, `main.vp-home`, `main.home`, `.vp-doc`, `.theme-default-content`, `main`},
		drop: `.VPDocFooter, .VPDocAside, .VPLocalNav, .VPBadge, .edit-info, .edit-link, .page-meta, .last-updated,
			span.lang, .line-numbers`,
	},
	{
		name:     "mdbook",
		meta:     []string{"mdbook"},
		comments: []string{"Book generated using mdBook"},
		marks:    `#menu-bar-hover-placeholder, .nav-chapters`,
		main:     []string{`#content main`, `main`, `#content`},
		drop:     `.nav-chapters, .mobile-nav-chapters, .nav-wrapper, .nav-wide-wrapper, .buttons, .menu-bar`,
	},
	{
		name:  "rustdoc",
		meta:  []string{"rustdoc"},
		marks: `body.rustdoc, #rustdoc-vars`,
		main:  []string{`#main-content`, `main`},
		drop: `.out-of-band, .srclink, a.src, .since, .rightside, .test-arrow, .notable-traits, a.tooltip, .sub, .sidebar,
			.rustdoc-breadcrumbs, .rustdoc-toolbar, a.doc-anchor, a.anchor, #copy-path, .hideme, .sub-heading,
			#synthetic-implementations, #synthetic-implementations-list, #blanket-implementations,
			#blanket-implementations-list`,
		minor: `.impl-items .docblock h2, .impl-items .docblock h3, .impl-items .docblock h4, .docblock h5, .docblock h6,
			.methods .docblock h4`,
		define:    `h4.code-header`,
		separator: "::",
	},
	{
		name:  "godoc",
		meta:  []string{"godoc", "pkgsite"},
		marks: `.Documentation-content, .UnitDetails-content, #pkg-overview`,
		main:  []string{`.UnitDetails-content`, `.Documentation-content`, `#page`, `main`},
		drop: `.Documentation-idLink, .Documentation-sinceVersion, .Documentation-nav, .Documentation-index,
			.Documentation-toc, .Documentation-examples, .Documentation-exampleButtonsContainer, .UnitDetails-outline,
			
			.Documentation-declarationLink, .UnitFiles, .UnitDirectories, .UnitMeta, #nav, #short-nav, #manual-nav, #pkg-index, #pkg-examples,
			.exampleHeading, .toggleButton`,
		define: `.Documentation-functionHeader, .Documentation-typeHeader, .Documentation-typeFuncHeader,
			.Documentation-typeMethodHeader`,
		pre:       `textarea.Documentation-exampleCode`,
		separator: ".",
	},
	{
		name:     "javadoc",
		meta:     []string{"javadoc"},
		comments: []string{"Generated by javadoc"},
		marks:    `body.class-declaration-page, .class-description`,
		main:     []string{`main`, `body`},
		drop: `.skip-nav, .skipNav, .top-nav, .sub-nav, .topNav, .bottomNav, .subNav, .legal-copy, .legalCopy,
			.navListSearch, .table-tabs, .tabEnd, .flex-header, .copy, .anchor-link, .sub-title, .subTitle,
			.field-summary .summary-table, .constructor-summary .summary-table, .method-summary .summary-table,
			.constants-summary .summary-table, .member-summary .summary-table, .memberSummary, .inherited-list`,
		define:    `section.detail h3, div.details h4`,
		code:      `.member-signature, .type-signature`,
		separator: ".",
	},
	{
		name:     "doxygen",
		meta:     []string{"doxygen"},
		comments: []string{"Generated by Doxygen"},
		marks:    `.memitem, .headertitle`,
		main:     []string{`#doc-content`, `body`},
		drop: `#top, .summary, #nav-path, #side-nav, .footer, #MSearchSelectWindow, #MSearchResultsWindow, .permalink,
			.ttc, .lineno, .mlabels-right, tr[class^=separator], .levels, .inherit_header, tr.inherit`,
		title:    `.headertitle .title`,
		major:    `h2.groupheader`,
		define:   `h2.memtitle`,
		code:     `.memproto`,
		lineCode: `div.fragment`,
	},
	{
		name:     "docbook",
		meta:     []string{"docbook"},
		marks:    `.navheader, .refnamediv, .titlepage`,
		main:     []string{`#docContent`, `body`},
		drop:     `.navheader, .navfooter`,
		numbered: true,
	},
	{
		name:  "asciidoctor",
		meta:  []string{"asciidoctor", "asciidoc"},
		marks: `.sectionbody`,
		main:  []string{`article.doc`, `body`},
		drop:  `#footer, #footer-text, .details, a.anchor, #author, #email, #revnumber, #revdate, #revremark, td.icon img`,
	},
	{
		name:     "texinfo",
		meta:     []string{"makeinfo", "texi2any", "texi2html"},
		comments: []string{"Created by GNU Texinfo"},
		marks:    `.nav-panel, .region-contents`,
		main:     []string{`body`},
		drop:     `div.header, .nav-panel, div.node, a.copiable-anchor, a.copiable-link, .shortcontents, .region-shortcontents`,
		numbered: true,
	},
	{
		name:  "haddock",
		marks: `#package-header, #module-header`,
		main:  []string{`#content`, `body`},
		drop:  `#package-header, #module-header .info, #table-of-contents, #footer, a.link, a.selflink`,
	},
	{
		name:  "hugo",
		meta:  []string{"hugo"},
		marks: `.td-content, .book-page`,
		// Docsy, Book, and most others.
		main: []string{`.td-content`, `.book-page article`, `article`, `main`},
		drop: `.td-page-meta, .td-toc, .td-sidebar-toc, .td-breadcrumbs, .reading-time, .article-meta, .taxonomy,
			.feedback--title, .feedback--question, .d-print-none, .book-toc, .td-page-meta__lastmod`,
	},
	{
		name:  "nodejs",
		marks: `body.apidoc, #apicontent`,
		main:  []string{`#apicontent`},
		drop:  `a.mark, a.srclink`,
	},
	{
		name:  "mandoc",
		marks: `.manual-text`,
		main:  []string{`.manual-text`},
		drop:  `table.head, table.foot`,
		keep:  `a.permalink`, // around the text of each heading and described term
	},
	{
		name:  "sqlite",
		marks: `link[href*=sqlite.css]`,
		main:  []string{`body`},
		drop:  `.tagline, .menu, .searchmenu, .logo, .fancy_toc, .imgcontainer .imgcontainer, .imgcontainer p, p small i`,
		// The entries of long lists have hidden headings for the site's own search.
		title:       `.fancy_title, [_id]`,
		numbered:    true,
		handwritten: true,
	},
}

// A profile holds the compiled selectors of a generator.
type profile struct {
	*generator
	elements selectorSet
	places   []selectorSet // one per element of main
}

// unknown is the generator of unrecognized pages.
var unknown = generator{handwritten: true}

// profiles are compiled when the first page is parsed, so that other commands
// start faster.
var profiles = sync.OnceValue(func() map[string]*profile {
	all := map[string]*profile{"": newProfile(&unknown)}
	for i := range generators {
		all[generators[i].name] = newProfile(&generators[i])
	}
	return all
})

func newProfile(g *generator) *profile {
	p := &profile{generator: g, elements: selectorSet{}}
	for _, list := range []struct {
		selectors string
		role      role
	}{
		{commonDrop, roleDrop}, {g.drop, roleDrop}, {g.keep, roleKeep}, {commonTOC, roleTOC}, {g.title, roleTitle}, {g.major, roleMajor},
		{g.minor, roleMinor}, {g.define, roleDefine}, {g.code, roleCode}, {g.lineCode, roleLines}, {commonNote, roleNote},
		{commonLabel, roleLabel}, {commonCaption, roleCaption}, {commonPlain, rolePlain},
		{commonTabs, roleTabs}, {commonTab, roleTab}, {commonPanel, rolePanel},
		{commonLayout, roleLayout}, {commonFootnote, roleFootnote}, {commonFootnotes, roleFootnotes}, {g.pre, rolePre},
	} {
		p.elements.add(list.selectors, list.role)
	}
	if len(g.main) == 0 {
		p.elements.add(commonMain, roleMain)
	}
	for _, selectors := range g.main {
		place := selectorSet{}
		place.add(selectors, roleMain)
		p.places = append(p.places, place)
	}
	return p
}

// marks recognizes generators by elements: bit i of a role is generators[i].
var marks = sync.OnceValue(func() selectorSet {
	set := selectorSet{}
	for i := range generators {
		set.add(generators[i].marks, 1<<i)
	}
	return set
})

// recognize returns the profile of a page's generator, from its metadata or
// else its markup.
func recognize(t *tree, meta string) *profile {
	meta = strings.ToLower(meta)
	for i := range generators {
		for _, begin := range generators[i].meta {
			if strings.HasPrefix(meta, begin) {
				return profiles()[generators[i].name]
			}
		}
	}
	const firstComments = 40
	for _, c := range t.comments[:min(len(t.comments), firstComments)] {
		for i := range generators {
			for _, s := range generators[i].comments {
				if strings.Contains(c, s) {
					return profiles()[generators[i].name]
				}
			}
		}
	}
	for i := range t.nodes {
		if !t.nodes[i].element {
			continue
		}
		if r := marks().roles(t, int32(i)); r != 0 {
			for k := range generators {
				if r&(1<<k) != 0 {
					return profiles()[generators[k].name]
				}
			}
		}
	}
	return profiles()[""]
}
