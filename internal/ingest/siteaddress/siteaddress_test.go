package siteaddress

import (
	"slices"
	"testing"
	"testing/fstest"
)

func TestAddress(t *testing.T) {
	for _, test := range []struct {
		name           string
		tree           map[string]string // files that are no documents, too
		root, fallback string
		want           map[string]string // addresses of documents
	}{
		{
			name: "Docusaurus",
			tree: map[string]string{
				"website/docusaurus.config.ts": "export default {\n  url: 'https://widgets.example',\n  baseUrl: '/kit/',\n  presets: [['classic', {\n    docs: {\n      path: '../docs',\n      routeBasePath: 'manual',\n    },\n    blog: { routeBasePath: 'news' },\n  }]],\n}",
				"docs/01-start/02-first.md":    "---\ntitle: First\n---\n",
				"docs/Gear.md":                 "---\nid: gear\n---\n",
				"docs/deep/wheel.md":           "---\nslug: /round\n---\n",
				"docs/deep/spoke.mdx":          "---\nslug: thin\n---\n",
				"docs/deep/index.md":           "",
				"docs/axle/axle.md":            "",
				"docs/1.x-notes.md":            "",
			},
			want: map[string]string{
				"docs/01-start/02-first.md": "https://widgets.example/kit/manual/start/first",
				"docs/Gear.md":              "https://widgets.example/kit/manual/gear",
				"docs/deep/wheel.md":        "https://widgets.example/kit/manual/round",
				"docs/deep/spoke.mdx":       "https://widgets.example/kit/manual/deep/thin",
				"docs/deep/index.md":        "https://widgets.example/kit/manual/deep",
				"docs/axle/axle.md":         "https://widgets.example/kit/manual/axle",
				"docs/1.x-notes.md":         "https://widgets.example/kit/manual/1.x-notes",
			},
		},
		{
			name: "Docusaurus with versions",
			tree: map[string]string{
				"docusaurus.config.js":                "module.exports = {\n  url: 'https://widgets.example',\n  baseUrl: '/',\n}",
				"versions.json":                       `["2.1", "2.0"]`,
				"docs/gear.md":                        "",
				"versioned_docs/version-2.1/gear.md":  "",
				"versioned_docs/version-2.0/gear.md":  "",
				"src/pages/about.md":                  "",
				"i18n/fr/docusaurus-plugin/a/gear.md": "",
			},
			want: map[string]string{
				"docs/gear.md":                        "https://widgets.example/docs/next/gear",
				"versioned_docs/version-2.1/gear.md":  "https://widgets.example/docs/gear",
				"versioned_docs/version-2.0/gear.md":  "https://widgets.example/docs/2.0/gear",
				"src/pages/about.md":                  "https://widgets.example/about",
				"i18n/fr/docusaurus-plugin/a/gear.md": "",
			},
		},
		{
			name: "Docusaurus with a variable",
			tree: map[string]string{
				"docusaurus.config.js": "module.exports = {\n  url: 'https://widgets.example',\n  baseUrl: ownBase,\n}",
				"docs/gear.md":         "",
			},
			want: map[string]string{"docs/gear.md": "https://widgets.example/docs/gear"},
		},
		{
			name: "VitePress",
			tree: map[string]string{
				"docs/.vitepress/config.mts": "export default {\n  base: '/w/',\n  srcDir: 'pages',\n  sitemap: { hostname: 'https://widgets.example' },\n}",
				"docs/pages/guide/index.md":  "",
				"docs/pages/guide/gear.md":   "",
			},
			want: map[string]string{
				"docs/pages/guide/index.md": "https://widgets.example/w/guide/",
				"docs/pages/guide/gear.md":  "https://widgets.example/w/guide/gear.html",
			},
		},
		{
			name: "VitePress with clean URLs",
			tree: map[string]string{
				".vitepress/config.js": "export default {\n  cleanUrls: true,\n}",
				"public/CNAME":         "widgets.example\n",
				"gear.md":              "",
			},
			want: map[string]string{"gear.md": "https://widgets.example/gear"},
		},
		{
			name: "MkDocs",
			tree: map[string]string{
				"mkdocs.yml":         "site_name: W\nsite_url: https://widgets.example/en/\ndocs_dir: manual\nplugins: !ENV [A, B]\n",
				"manual/index.md":    "",
				"manual/Big-Gear.md": "",
			},
			want: map[string]string{"manual/index.md": "https://widgets.example/en/", "manual/Big-Gear.md": "https://widgets.example/en/Big-Gear/"},
		},
		{
			name: "MkDocs with files",
			tree: map[string]string{"mkdocs.yml": "use_directory_urls: false\n", "docs/gear.md": ""},
			want: map[string]string{"docs/gear.md": "gear.html"},
		},
		{
			name: "Sphinx",
			tree: map[string]string{
				"docs/conf.py":        "extensions = []\nhtml_baseurl = 'https://widgets.example/en/latest/'\n",
				"docs/index.rst":      "",
				"docs/howto/gear.rst": "",
			},
			want: map[string]string{"docs/index.rst": "https://widgets.example/en/latest/", "docs/howto/gear.rst": "https://widgets.example/en/latest/howto/gear.html"},
		},
		{
			name: "Hugo",
			tree: map[string]string{
				"hugo.toml":                     "baseURL = 'https://widgets.example/'\n",
				"content/en/docs/_index.md":     "",
				"content/en/docs/Gear.md":       "---\ntitle: Gear\n---\n",
				"content/en/docs/wheel.md":      "+++\nslug = \"round\"\n+++\n",
				"content/en/docs/spoke.md":      "---\nurl: /thin/\n---\n",
				"content/en/docs/axle/index.md": "",
			},
			want: map[string]string{
				"content/en/docs/_index.md":     "https://widgets.example/docs/",
				"content/en/docs/Gear.md":       "https://widgets.example/docs/gear/",
				"content/en/docs/wheel.md":      "https://widgets.example/docs/round/",
				"content/en/docs/spoke.md":      "https://widgets.example/thin/",
				"content/en/docs/axle/index.md": "https://widgets.example/docs/axle/",
			},
		},
		{
			name: "Jekyll",
			tree: map[string]string{
				"_config.yml":     "url: https://widgets.example # ours\nbaseurl: /w\ncollections:\n  manual:\n    output: true\n    permalink: /latest/:path/\n",
				"gear.md":         "---\ntitle: Gear\n---\n",
				"wheel.md":        "---\npermalink: /round/\n---\n",
				"_manual/axle.md": "",
				"_manual/hub.md":  "---\npermalink: /latest/center/\n---\n",
			},
			want: map[string]string{
				"gear.md":         "https://widgets.example/w/gear.html",
				"wheel.md":        "https://widgets.example/w/round/",
				"_manual/axle.md": "https://widgets.example/w/latest/axle.html",
				"_manual/hub.md":  "https://widgets.example/w/latest/center/",
			},
		},
		{
			name: "Starlight",
			tree: map[string]string{
				"astro.config.mjs":                     "export default defineConfig({\n  site: 'https://widgets.example',\n  base: '/w',\n})",
				"src/content/docs/Guides/big gear.mdx": "",
				"src/content/docs/wheel.md":            "---\nslug: round/wheel\n---\n",
				"src/content/docs/index.mdx":           "",
			},
			want: map[string]string{
				"src/content/docs/Guides/big gear.mdx": "https://widgets.example/w/guides/big-gear/",
				"src/content/docs/wheel.md":            "https://widgets.example/w/round/wheel/",
				"src/content/docs/index.mdx":           "https://widgets.example/w/",
			},
		},
		{
			name: "Nuxt Content",
			tree: map[string]string{"nuxt.config.ts": "export default {}", "content/1.guide/2.gear.md": ""},
			want: map[string]string{"content/1.guide/2.gear.md": "/guide/gear"},
		},
		{
			name: "Next",
			tree: map[string]string{
				"next.config.mjs":              "export default {\n  basePath: '/w',\n}",
				"package.json":                 "{\n  \"homepage\": \"https://widgets.example/w\"\n}",
				"app/(docs)/guide/page.mdx":    "",
				"pages/docs/(start)/index.mdx": "",
				"content/gear.mdx":             "",
			},
			want: map[string]string{
				"app/(docs)/guide/page.mdx":    "https://widgets.example/w/guide",
				"pages/docs/(start)/index.mdx": "https://widgets.example/w/docs",
				"content/gear.mdx":             "https://widgets.example/w/gear",
			},
		},
		{
			name: "mdBook",
			tree: map[string]string{"book.toml": "[book]\nsrc = \"text\"\n[output.html]\nsite-url = \"/w/\"\n", "text/README.md": "", "text/ch01-gear.md": ""},
			want: map[string]string{"text/README.md": "/w/", "text/ch01-gear.md": "/w/ch01-gear.html"},
		},
		{
			name: "Antora",
			tree: map[string]string{"antora.yml": "name: widgets\nversion: '2.1'\n", "modules/ROOT/pages/gear.adoc": "", "modules/how/pages/wheel.adoc": ""},
			want: map[string]string{"modules/ROOT/pages/gear.adoc": "*/widgets/gear.html", "modules/how/pages/wheel.adoc": "*/widgets/how/wheel.html"},
		},
		{
			name: "GitBook",
			tree: map[string]string{".gitbook.yaml": "root: ./text/\n", "text/README.md": "", "text/gear.md": ""},
			want: map[string]string{"text/README.md": "./", "text/gear.md": "gear"},
		},
		{
			name: "Rails guides",
			tree: map[string]string{"guides/source/documents.yaml": "- name: a\n", "guides/source/gear_basics.md": ""},
			want: map[string]string{"guides/source/gear_basics.md": "gear_basics.html"},
		},
		{
			name: "links",
			tree: map[string]string{
				"src/content/reference/gear.md":  "[a](/reference/wheel) [b](/reference/axle#x) ![c](/img/wheel.png)",
				"src/content/reference/wheel.md": "[a](/reference/gear) [b](https://elsewhere.example/reference/gear)",
				"src/content/reference/axle.md":  "<a href='/reference/gear'>",
				"src/content/learn/index.md":     "---\nid: x\n---\n",
				"README.md":                      "",
			},
			want: map[string]string{
				"src/content/reference/gear.md": "/reference/gear",
				"src/content/learn/index.md":    "/learn/x",
				"README.md":                     "",
			},
		},
		{
			name: "links with a version, a base and numbers",
			tree: map[string]string{
				"docs/1.guide/2.gear.md":  "[a](/docs/2.x/guide/wheel) [b](/docs/2.x/guide/wheel) [c](/docs/2.x/guide/axle)",
				"docs/1.guide/3.wheel.md": "", "docs/1.guide/4.axle.md": "",
			},
			want: map[string]string{"docs/1.guide/2.gear.md": "/docs/2.x/guide/gear"},
		},
		{
			name: "links without folders",
			tree: map[string]string{
				"docs/01-a/gear.md":  "[a](/kit/spoke) [b](/kit/rim) [c](/kit/spoke)",
				"docs/01-a/hub.md":   "",
				"docs/02-b/spoke.md": "[a](/kit/gear) [b](/kit/hub) [c](/kit/gear)",
				"docs/02-b/rim.md":   "",
				"docs/03-c/axle.md":  "",
			},
			want: map[string]string{"docs/03-c/axle.md": "/kit/axle", "docs/01-a/gear.md": "/kit/gear"},
		},
		{
			name: "links to an old address",
			tree: map[string]string{
				"src/content/gear.md":               "[a](/wheel) [b](/axle) [c](/news/2024/04/round)",
				"src/content/wheel.md":              "[a](/gear) [b](/axle) [c](/news/2024/04/round)",
				"src/content/axle.md":               "[a](/gear) [b](/wheel) [c](/news/2024/04/round)",
				"src/content/news/2024/12/round.md": "",
			},
			want: map[string]string{"src/content/news/2024/12/round.md": "/news/2024/12/round"},
		},
		{
			name: "ExDoc",
			tree: map[string]string{"mix.exs": "docs: [extras: extras()]", "guides/intro/Gear box.md": "", "guides/wheel.md": ""},
			want: map[string]string{"guides/intro/Gear box.md": "gear-box.html", "guides/wheel.md": "wheel.html"},
		},
		{
			name: "paths of Docusaurus' versions",
			tree: map[string]string{
				"docusaurus.config.js": "url: 'https://x.example',\nbaseUrl: '/',\nlastVersion: 'current',\nversions: {current: {label: '4'}, 3: {label: '3.1', path: 'v3'}, '2.0': {label: '2'}}",
				"versions.json":        `["3", "2.0"]`,
				"docs/gear.md":         "", "versioned_docs/version-3/gear.md": "", "versioned_docs/version-2.0/gear.md": "",
			},
			want: map[string]string{"docs/gear.md": "https://x.example/docs/gear", "versioned_docs/version-3/gear.md": "https://x.example/docs/v3/gear",
				"versioned_docs/version-2.0/gear.md": "https://x.example/docs/2.0/gear"},
		},
		{
			name: "front matter alone",
			tree: map[string]string{"text/Gear.md": "---\npermalink: /docs/2/gear.html\n---\n", "text/ExpectAPI.md": "---\nid: expect\n---\n", "text/plain.md": "---\nslug: https://x.example\n---\n"},
			want: map[string]string{"text/Gear.md": "*/docs/2/gear.html", "text/ExpectAPI.md": "*/text/expect", "text/plain.md": ""},
		},
		{
			name: "stated root", root: "doc/src",
			tree: map[string]string{"mkdocs.yml": "site_url: https://wrong.example\n", "doc/src/a/01-gear.md": "", "docs/wheel.md": ""},
			want: map[string]string{"doc/src/a/01-gear.md": "a/gear", "docs/wheel.md": ""},
		},
		{
			name: "stated root without folders", root: "docs/**",
			tree: map[string]string{"docs/02-a/01-gear.md": "", "docs/index.md": ""},
			want: map[string]string{"docs/02-a/01-gear.md": "gear", "docs/index.md": "./"},
		},
		{
			name: "reStructuredText", root: "docs",
			tree: map[string]string{"docs/a/gear.rst": "", "docs/a/index.rst": ""},
			want: map[string]string{"docs/a/gear.rst": "a/gear.html", "docs/a/index.rst": "a/"},
		},
		{
			name: "included folder", fallback: "doc/src",
			tree: map[string]string{"doc/src/a/gear.md": "", "doc/src/README.md": ""},
			want: map[string]string{"doc/src/a/gear.md": "a/gear", "doc/src/README.md": "./"},
		},
		{
			name: "files of a site as they are",
			tree: map[string]string{
				"hugo.yaml":            "baseURL: https://widgets.example/\n",
				"content/gear.md":      "",
				"static/old/gear.html": "<p>Gears</p>",
				"static/gear.yaml":     "",
				"i18n/en.yaml":         "",
			},
			want: map[string]string{
				"static/old/gear.html": "https://widgets.example/old/gear.html",
				"static/gear.yaml":     "https://widgets.example/gear.yaml",
				"i18n/en.yaml":         "",
			},
		},
		{
			name: "common folder",
			tree: map[string]string{"docs/src/a/gear.md": "", "docs/src/wheel.md": "", "docs/src/axle.md": "", "Makefile": ""},
			want: map[string]string{"docs/src/a/gear.md": "a/gear"},
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			for _, below := range []string{"", "repository/checkout"} {
				tree, names := fstest.MapFS{}, []string(nil)
				for name, text := range test.tree {
					path := name
					if below != "" {
						path = below + "/" + name
					}
					tree[path] = &fstest.MapFile{Data: []byte(text)}
					names = append(names, name)
				}
				s := Find(tree, below, names, test.root, test.fallback)
				for name, want := range test.want {
					if got, _ := s.Address(name, []byte(test.tree[name])); got != want {
						t.Errorf("below %q: %s is %q, want %q", below, name, got, want)
					}
				}
				if again := Find(tree, below, names, test.root, test.fallback); again.Digest() != s.Digest() {
					t.Errorf("the digest %q of one site changed to %q", s.Digest(), again.Digest())
				}
			}
		})
	}
}

func TestRedirects(t *testing.T) {
	const hugo = "baseURL: https://widgets.example/\ncontentDir: content\n"
	for _, test := range []struct {
		name, root string
		tree       map[string]string
		page       string
		want       []string
	}{
		{
			name: "Hugo", page: "content/en/docs/gear.md",
			tree: map[string]string{"hugo.yaml": hugo, "content/en/docs/gear.md": "---\ntitle: Gear\naliases: [/toothed, 'cog', \"../old/cog/\"]\n---\n"},
			want: []string{"https://widgets.example/docs/cog", "https://widgets.example/old/cog", "https://widgets.example/toothed"},
		},
		{
			name: "Hugo, a list in lines", page: "content/en/docs/_index.md",
			tree: map[string]string{"hugo.yaml": hugo, "content/en/docs/_index.md": "---\naliases:\n  - /manual/ # until 2\n- guide\nparams:\n  aliases: [no]\n---\n"},
			want: []string{"https://widgets.example/guide", "https://widgets.example/manual"},
		},
		{
			name: "Hugo, TOML in several lines", page: "content/gear.md",
			tree: map[string]string{"hugo.yaml": hugo, "content/gear.md": "+++\naliases = [\n  \"/cog\",\n  \"/wheel.html\"\n]\ntitle = \"[Gear\"\n+++\n"},
			want: []string{"https://widgets.example/cog", "https://widgets.example/wheel.html"},
		},
		{
			name: "Hugo, a translation", page: "content/fr/gear.md",
			tree: map[string]string{"hugo.yaml": hugo, "content/en/gear.md": "", "content/fr/gear.md": "---\naliases: [/cog, /fr/roue/]\n---\n"},
			want: []string{"https://widgets.example/fr/cog", "https://widgets.example/fr/roue"},
		},
		{
			name: "no addresses", page: "content/gear.md",
			tree: map[string]string{"hugo.yaml": hugo, "content/gear.md": "---\naliases: [/, 'https://other.example/x', '/a b']\n---\n"},
		},
		{
			name: "Jekyll", page: "gear.md",
			tree: map[string]string{"_config.yml": "url: https://widgets.example\nbaseurl: /w\n", "gear.md": "---\nredirect_from: /cog/index.html\n---\n"},
			want: []string{"https://widgets.example/w/cog/index.html"},
		},
		{
			name: "Jekyll, a collection", page: "_manual/gear.md",
			tree: map[string]string{"_config.yml": "url: https://widgets.example\ncollections:\n  manual:\n    permalink: /latest/:path/\n",
				"_manual/gear.md": "---\nredirect_from:\n  - /cog/\n---\n"},
			want: []string{"https://widgets.example/cog"},
		},
		{
			name: "MkDocs", page: "docs/new/gear.md",
			tree: map[string]string{"mkdocs.yml": "site_url: https://widgets.example/\nplugins:\n  - search\n  - redirects:\n      redirect_maps:\n        'cog.md': new/gear.md\n        old/wheel.md: 'new/gear.md#wheels'\n        gone.md: https://other.example/\nnav:\n  - Gear: new/gear.md\n",
				"docs/new/gear.md": ""},
			want: []string{"https://widgets.example/cog/", "https://widgets.example/old/wheel/"},
		},
		{
			name: "Docusaurus", page: "docs/gear.md",
			tree: map[string]string{"docusaurus.config.js": "module.exports = {\n  url: 'https://widgets.example',\n  baseUrl: '/',\n  plugins: [['@docusaurus/plugin-client-redirects', {redirects: [\n    { from: ['/docs/cog', '/wheel'], to: '/docs/gear' },\n    { to: '/docs/other', from: '/elsewhere' },\n  ]}]],\n}",
				"docs/gear.md": ""},
			want: []string{"https://widgets.example/docs/cog/", "https://widgets.example/wheel/"},
		},
		{
			name: "Hugo, known by a name", root: "pages", page: "pages/a/gear.md",
			tree: map[string]string{"pages/a/gear.md": "---\naliases: [cog, /old/cog]\n---\n", "pages/_index.md": ""},
			want: []string{"/a/cog", "/old/cog"},
		},
		{
			name: "a stated root", root: "pages", page: "pages/gear.md",
			tree: map[string]string{"pages/gear.md": "---\naliases: [Cog, /old/cog]\n---\n"},
			want: []string{"/old/cog"},
		},
	} {
		tree, names := fstest.MapFS{}, []string(nil)
		for name, text := range test.tree {
			tree[name] = &fstest.MapFile{Data: []byte(text)}
			names = append(names, name)
		}
		_, got := Find(tree, "", names, test.root, "").Address(test.page, []byte(test.tree[test.page]))
		if !slices.Equal(got, test.want) {
			t.Errorf("%s: %q, want %q", test.name, got, test.want)
		}
	}
}

func TestLinksIn(t *testing.T) {
	const text = "[a](/one/two#x) [b](//cdn.example/x) [c](/img.png) [d](e/f) /no/link <a href=\"/three\"> <a href='/four?x'>\n" +
		"[ref]: /five\n[other]:\t/six.md \"title\"\nnot a [ref]: /seven\n[x]](/eight \"title\") [end](/nine"
	tree := fstest.MapFS{"a.md": &fstest.MapFile{Data: []byte(text)}}
	want := []string{"/one/two", "/three", "/four", "/five", "/six.md", "/eight", "/nine"}
	if got := linksIn(tree, "a.md"); !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}
