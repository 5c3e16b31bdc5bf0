package notes

import (
	"slices"
	"strings"

	"github.com/docsearch/docsearch/internal/index/passage"
)

// Language returns the language of a file by its name, or "" if it is unknown.
func Language(path string) string {
	path = toSlash(path)
	name := strings.ToLower(path[strings.LastIndexByte(path, '/')+1:])
	switch name {
	case "dockerfile", "containerfile":
		return "docker"
	case "makefile", "gnumakefile":
		return "make"
	case "jenkinsfile":
		return "groovy"
	case "gemfile", "rakefile":
		return "ruby"
	case "go.mod", "go.sum", "go.work":
		return "go"
	}
	i := strings.LastIndexByte(name, '.')
	if i < 0 {
		return ""
	}
	for _, l := range languagesByEnding {
		if slices.Contains(l.endings, name[i+1:]) {
			return l.language
		}
	}
	return ""
}

// languagesByEnding lists the languages with the endings of their files' names.
var languagesByEnding = [...]struct {
	language string
	endings  []string
}{
	{"go", []string{"go"}},
	{"python", []string{"py", "pyi", "ipynb"}},
	{"javascript", []string{"js", "mjs", "cjs", "jsx"}},
	{"typescript", []string{"ts", "mts", "cts", "tsx"}},
	{"rust", []string{"rs"}},
	{"java", []string{"java"}},
	{"kotlin", []string{"kt", "kts"}},
	{"c", []string{"c", "h"}},
	{"c++", []string{"cc", "cpp", "cxx", "hpp", "hh"}},
	{"c#", []string{"cs"}},
	{"ruby", []string{"rb"}},
	{"php", []string{"php"}},
	{"swift", []string{"swift"}},
	{"scala", []string{"scala"}},
	{"elixir", []string{"ex", "exs"}},
	{"lua", []string{"lua"}},
	{"perl", []string{"pl", "pm"}},
	{"r", []string{"r"}},
	{"groovy", []string{"groovy", "gradle"}},
	{"shell", []string{"sh", "bash", "zsh"}},
	{"powershell", []string{"ps1", "psm1"}},
	{"sql", []string{"sql"}},
	{"html", []string{"html", "htm"}},
	{"css", []string{"css", "scss", "sass", "less"}},
	{"vue", []string{"vue"}},
	{"svelte", []string{"svelte"}},
	{"terraform", []string{"tf", "tfvars", "hcl"}},
	{"yaml", []string{"yaml", "yml"}},
	{"json", []string{"json", "jsonc"}},
	{"toml", []string{"toml"}},
	{"protobuf", []string{"proto"}},
	{"graphql", []string{"graphql", "gql"}},
	{"markdown", []string{"md", "mdx", "markdown"}},
}

// languagesOf returns the languages that a program is for, the main one first.
func languagesOf(program string) []string {
	program = strings.ToLower(program[strings.LastIndexByte(toSlash(program), '/')+1:])
	program = strings.TrimSuffix(program, ".exe")
	for _, l := range languagesByProgram {
		if slices.Contains(l.programs, program) {
			return l.languages
		}
	}
	if version := strings.TrimLeft(program, "abcdefghijklmnopqrstuvwxyz"); strings.Trim(version, "0123456789.") == "" {
		if name := program[:len(program)-len(version)]; name == "python" || name == "pip" {
			return []string{"python"}
		}
	}
	return nil
}

// languagesByProgram lists the languages with their programs, the main language first.
var languagesByProgram = [...]struct{ languages, programs []string }{
	{[]string{"go"}, []string{"go", "gofmt", "goimports", "gopls", "golangci-lint", "staticcheck", "gotestsum", "dlv"}},
	{[]string{"rust"}, []string{"cargo", "rustc", "rustup", "rustfmt", "clippy-driver"}},
	{[]string{"python"}, []string{"pip", "pipx", "pytest", "tox", "nox", "mypy", "pyright", "ruff", "flake8", "pylint",
		"black", "isort", "uv", "uvx", "poetry",
		"pipenv", "conda", "ipython", "jupyter", "django-admin", "coverage"}},
	{[]string{"javascript", "typescript"},
		[]string{"npm", "npx", "yarn", "pnpm", "node", "bun", "bunx", "deno", "eslint", "jest", "vitest", "webpack",
			"vite", "mocha", "nodemon"}},
	{[]string{"typescript"}, []string{"tsc", "ts-node", "tsx"}},
	{[]string{"java"}, []string{"mvn", "mvnw", "java", "javac", "jar"}},
	{[]string{"java", "kotlin", "groovy"}, []string{"gradle", "gradlew"}},
	{[]string{"kotlin"}, []string{"kotlin", "kotlinc", "ktlint"}},
	{[]string{"c", "c++"}, []string{"gcc", "cc", "clang"}},
	{[]string{"c++", "c"}, []string{"g++", "c++", "clang++", "clang-format", "clang-tidy"}},
	{[]string{"c#"}, []string{"dotnet", "msbuild", "nuget"}},
	{[]string{"ruby"}, []string{"ruby", "gem", "bundle", "rake", "rspec", "rails", "rubocop", "irb"}},
	{[]string{"php"}, []string{"php", "composer", "phpunit", "artisan", "phpstan"}},
	{[]string{"swift"}, []string{"swift", "swiftc", "xcodebuild", "swiftlint"}},
	{[]string{"scala"}, []string{"sbt", "scala", "scalac"}},
	{[]string{"elixir"}, []string{"mix", "elixir", "iex"}},
	{[]string{"lua"}, []string{"lua", "luajit", "luarocks"}},
	{[]string{"perl"}, []string{"perl", "cpan", "cpanm", "prove"}},
	{[]string{"r"}, []string{"r", "rscript"}},
	{[]string{"powershell"}, []string{"pwsh", "powershell"}},
	{[]string{"docker"}, []string{"docker", "docker-compose", "podman", "buildah"}},
	{[]string{"make"}, []string{"make", "gmake"}},
	{[]string{"terraform"}, []string{"terraform", "tofu", "terragrunt", "tflint"}},
	{[]string{"sql"}, []string{"psql", "mysql", "sqlite3", "sqlfluff"}},
	{[]string{"protobuf"}, []string{"buf", "protoc"}},
	{[]string{"shell"}, []string{"shellcheck", "shfmt"}},
}

// spellings are alternative names of languages.
var spellings = [...]struct{ name, language string }{
	{"golang", "go"}, {"py", "python"}, {"js", "javascript"}, {"ts", "typescript"}, {"cpp", "c++"}, {"csharp", "c#"},
	{"bash", "shell"}, {"sh", "shell"}, {"zsh", "shell"}, {"dockerfile", "docker"}, {"makefile", "make"},
	{"hcl", "terraform"},
	{"yml", "yaml"}, {"md", "markdown"}, {"proto", "protobuf"},
}

// canonicalLanguage returns the language for any of its names.
func canonicalLanguage(name string) string {
	name = strings.ToLower(strings.TrimSpace(name))
	for _, s := range spellings {
		if s.name == name {
			return s.language
		}
	}
	return name
}

// languageKeys returns the keys of a language under all its names.
func languageKeys(language string) []string {
	keys := []string{passage.LanguageKey(language)}
	for _, s := range spellings {
		if s.language == language {
			keys = append(keys, passage.LanguageKey(s.name))
		}
	}
	return keys
}
