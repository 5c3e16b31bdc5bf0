# Development tasks. All targets need only Go, except race (a C compiler) and e2e
# (npm; without npm, its tests are skipped).

# A static binary starts half a millisecond faster. The hook runs before every
# tool call.
export CGO_ENABLED = 0

VERSION   ?= $(shell git describe --tags --always --dirty 2>/dev/null || echo devel)
GOFLAGS_  := -trimpath -ldflags "-s -w -X main.version=$(VERSION)"
PLATFORMS := linux/amd64 linux/arm64 darwin/amd64 darwin/arm64 windows/amd64 windows/arm64
FUZZTIME  ?= 10s

# Folder of "make install".
PREFIX ?= $(HOME)/.local

.PHONY: build install uninstall test nightly race lint vuln fuzz cross wine e2e picture cluster bench compare eval plugin release release-snapshot rename-module changelog clean

build:
	go build $(GOFLAGS_) -o docsearch ./cmd/docsearch

# Installs the program and that of the hook, manual pages, and the completions of the
# shells. Linux caches a file in blocks that are as large as its writes. From large blocks,
# the hook starts a fifth faster, so dd writes each program in one call.
install: EXE = $(shell go env GOEXE)
install:
	@echo "compiling docsearch; the first time, this takes some minutes"
	@set -e; for p in docsearch docsearch-hook; do to="$(PREFIX)/bin/$$p$(EXE)"; echo "$$to"; \
	go build $(GOFLAGS_) -o "$$to.built" "./cmd/$$p"; \
	dd if="$$to.built" of="$$to.new" bs=134217728 2>/dev/null; \
	chmod 755 "$$to.new"; mv -f "$$to.new" "$$to"; rm "$$to.built"; done
	go run -tags generate ./cmd/docsearch "$(PREFIX)/share"
	@case ":$$PATH:" in *":$(PREFIX)/bin:"*) ;; *) echo "note: $(PREFIX)/bin is not on your PATH" ;; esac
	@echo "installed; next: docsearch setup NAME, for example docsearch setup django"

# Removes the files of "make install". Run "docsearch uninstall" first.
uninstall:
	rm -f "$(PREFIX)"/bin/docsearch* "$(PREFIX)"/share/man/man1/docsearch.1 "$(PREFIX)"/share/man/man1/docsearch-*.1 \
	  "$(PREFIX)"/share/bash-completion/completions/docsearch "$(PREFIX)"/share/zsh/site-functions/_docsearch \
	  "$(PREFIX)"/share/fish/vendor_completions.d/docsearch.fish "$(PREFIX)"/share/powershell/completions/docsearch.ps1

# The result of a package is printed once those before it are known, so the many that take
# seconds come first. Some tests wait, so one package more than there are processors runs.
test:
	go test -shuffle=on -timeout 40m -p $$(($$(getconf _NPROCESSORS_ONLN) + 1)) ./internal/... ./...
	go test -C test/eval -shuffle=on ./...

# The tests that kill, fail and attack programs, with all their rounds, and the load on a
# server for five minutes. Takes an hour.
nightly:
	DOCSEARCH_NIGHTLY=1 go test -shuffle=on -count 1 -timeout 3h ./cmd/docsearch ./test/hostile ./test/release
	go test -count 1 -run TestLoad ./internal/httpserver -load 5m

# The command and attack tests are excluded: they start processes, which share
# no memory.
race:
	CGO_ENABLED=1 go test -race -short -shuffle=on $$(go list ./... | grep -v -e /cmd/ -e /test/hostile)

lint:
	@test -z "$$(gofmt -l $$(git ls-files '*.go'))" || { echo "gofmt would change:"; gofmt -l $$(git ls-files '*.go'); exit 1; }
	go vet ./...
	go vet -tags e2e ./test/...
	go vet -tags compare ./internal/index/dense
	go vet -tags generate ./cmd/docsearch
	go -C test/eval vet ./...
	go mod tidy -diff
	go -C test/eval mod tidy -diff
	go mod verify
	go run honnef.co/go/tools/cmd/staticcheck@v0.8.2 ./...
	go -C test/eval run honnef.co/go/tools/cmd/staticcheck@v0.8.2 ./...

# Needs access to the Go vulnerability database; without it, prints "skipped".
vuln:
	./.ci/vuln

# FUZZTIME=1m runs each fuzz target for a minute.
fuzz:
	./.ci/fuzz $(FUZZTIME)

# go vet also type-checks the other systems' tests: once for each system and architecture.
cross:
	@set -e; for p in $(PLATFORMS); do echo "$$p"; \
	GOOS=$${p%/*} GOARCH=$${p#*/} go build -o /dev/null ./cmd/docsearch; \
	GOOS=$${p%/*} GOARCH=$${p#*/} go build -o /dev/null ./cmd/docsearch-hook; done; \
	for p in darwin/arm64 windows/amd64; do echo "vet $$p"; \
	GOOS=$${p%/*} GOARCH=$${p#*/} go vet ./...; done

# Runs the demo, the tests of packages and the scripts of the commands as Windows programs
# with Wine, which Debian has. The tests of remote need the go command and Unix sockets.
wine:
	SCRIPTS='$(or $(SCRIPTS),$(if $(PACKAGES),,.*))' .ci/wine $(or $(PACKAGES),$$(go list ./internal/... | grep -v /remote))

# UPDATE=1 writes the results of the clients to docs/agents.md and docs/hook.md.
e2e:
	go test -tags e2e -count 1 -timeout 60m -v ./test/e2e $(if $(UPDATE),-update)

# Writes the picture of the README, with a real browser.
picture:
	DOCSEARCH_PICTURE=$(CURDIR)/docs/web.png go test -tags e2e -count 1 -run TestWebPicture ./test/e2e

# Tests databases in a Weaviate cluster with real servers on loopback. Building the server
# takes minutes the first time.
cluster:
	SCALE=$(SCALE) ./.ci/cluster $(if $(ROUNDS),-rounds $(ROUNDS))

bench:
	./.ci/bench

# Compares vector search with hnswlib and faiss, if Debian's packages are available.
compare:
	./.ci/compare

# WRITE=docs/quality.md writes the tables to that page; ONLY=names,notes runs only
# these measures.
eval:
	go -C test/eval build -o $(CURDIR)/.cache/bin/eval .
	.cache/bin/eval $(if $(WRITE),-write $(WRITE)) $(if $(ONLY),-only $(ONLY))

plugin:
	go build $(GOFLAGS_) -o plugin/bin/ ./cmd/docsearch ./cmd/docsearch-hook

# Compiling goreleaser takes minutes the first time. It builds the programs one after the
# other, because archives have them in the order in which they were finished.
GORELEASER ?= go run github.com/goreleaser/goreleaser/v2@v2.16.0

# Builds the release of the tag at the current commit and publishes it, except the npm
# packages. The workflow "release" runs this for a pushed tag.
release:
	$(GORELEASER) release --clean --parallelism 1
	node npm/build.mjs dist

# Builds the same without a tag, in the folder dist, and publishes nothing. The remote
# exists only for this command: without one, goreleaser ignores the commit's date.
release-snapshot:
	GIT_CONFIG_COUNT=1 GIT_CONFIG_KEY_0=remote.origin.url GIT_CONFIG_VALUE_0=https://$(shell go list -m) \
	  $(GORELEASER) release --snapshot --clean --parallelism 1
	node npm/build.mjs dist
	go test -count 1 ./test/release

# Changes the path of the Go module, and with it the place where it is published:
# make rename-module MODULE=github.com/OWNER/NAME
rename-module:
	./.ci/rename-module "$(MODULE)"

# Moves the entries in changelog/unreleased to CHANGELOG.md; RELEASE=v1.2.3 names their part.
changelog:
	go run ./test/release/changelog $(RELEASE)

clean:
	rm -rf docsearch docsearch.exe plugin/bin dist .cache
