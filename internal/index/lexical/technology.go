package lexical

// isTechnology tells of the names of what has documentation of its own. A
// query that has one asks that documentation, and this one only where it
// speaks of it often.
func isTechnology(w string) bool {
	switch w {
	case "ada", "aiohttp", "airflow", "ajax", "android", "angular", "angularjs", "ansible", "antlr", "apache", "arduino", "asp", "assembly", "aurelia", "autoconf", "automake", "aws", "azure",
		"babel", "backbone", "bash", "bazel", "beautifulsoup", "bitbucket", "blender", "boost", "bootstrap", "bun",
		"c", "cargo", "cassandra", "celery", "centos", "chef", "chrome", "clang", "clickhouse", "clojure", "cmake", "cobol", "cocoa", "codeigniter", "coffeescript", "composer", "conan", "conda", "consul", "couchbase", "couchdb", "cpp", "cuda", "cypress", "cython",
		"d3", "dart", "dask", "debian", "delphi", "deno", "django", "docker", "dotnet", "drupal", "duckdb",
		"eclipse", "ecto", "elasticsearch", "electron", "elixir", "elm", "emacs", "ember", "envoy", "erlang", "esbuild", "eslint", "excel", "express",
		"fastapi", "fedora", "ffmpeg", "firebase", "firefox", "flask", "flutter", "fortran", "freebsd",
		"gatsby", "gcc", "gcp", "gdb", "gin", "git", "github", "gitlab", "gnuplot", "go", "golang", "gradle", "grafana", "graphql", "groovy", "grpc", "grunt", "gtk", "gulp",
		"hadoop", "haskell", "helm", "heroku", "hibernate", "hive", "homebrew", "html", "htmx", "hugo",
		"ios", "ipython", "istio",
		"java", "javascript", "jekyll", "jenkins", "jest", "jinja", "jinja2", "jira", "jq", "jquery", "js", "julia", "junit", "jupyter",
		"kafka", "keras", "kibana", "knockout", "kotlin", "kubernetes", "k8s",
		"langchain", "laravel", "latex", "leaflet", "less", "lisp", "llvm", "lodash", "logstash", "lua",
		"macos", "magento", "mariadb", "matlab", "matplotlib", "maven", "mercurial", "meson", "meteor", "mocha", "mongodb", "mongo", "mongoose", "mssql", "mysql",
		"netlify", "nextjs", "nginx", "nim", "ninja", "nix", "node", "nodejs", "npm", "numpy", "nuxt",
		"objective-c", "ocaml", "opencl", "opencv", "opengl", "openssl", "oracle",
		"pandas", "pascal", "perl", "phoenix", "php", "phpunit", "pip", "playwright", "podman", "poetry", "postgis", "postgres", "postgresql", "powershell", "prisma", "prolog", "prometheus", "protobuf", "puppet", "puppeteer", "pydantic", "pymongo", "pyqt", "pyspark", "pytest", "python", "python2", "python3", "pythonic", "pythonically", "pytorch",
		"qt", "r", "rabbitmq", "rails", "react", "redhat", "redis", "redshift", "redux", "rspec", "ruby", "rust",
		"salesforce", "sass", "scala", "scikit", "scipy", "scrapy", "scss", "sed", "selenium", "sharepoint", "shopify", "sinatra", "snowflake", "solr", "spark", "sphinx", "splunk", "spring", "sqlalchemy", "sqlite", "sqlite3", "stripe", "subversion", "svelte", "svn", "swift", "symfony",
		"tailwind", "tcl", "tensorflow", "terraform", "tkinter", "tomcat", "twig", "typescript",
		"ubuntu", "unity", "unreal", "vagrant", "vba", "verilog", "vim", "vite", "vscode", "vue", "vuejs",
		"webpack", "weaviate", "windows", "wordpress", "wxpython", "xamarin", "xcode", "xslt", "yarn", "yii", "zig", "zookeeper":
		return true
	}
	return false
}
