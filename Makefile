# Every target works from a fresh clone. "make help" lists them.

GO ?= go
export CGO_ENABLED = 0

GUEST_SOURCES = $(shell find container/guest container/internal internal -name '*.go' ! -name '*_test.go') go.mod go.sum
GUESTS = container/guestbin/guest-linux-amd64.sum container/guestbin/guest-linux-arm64.sum
FLAGS = -trimpath -tags embedguest -ldflags "-s -w"
TOOL = $(GO) tool -modfile=.tools.mod

.PHONY: build demo test test-fast test-modules test-agents test-egress test-languages soak bench lint-bench check fuzz man engine clean help

build: bin/git-ftl ## Build bin/git-ftl with the guests inside.

bin/git-ftl: $(GUESTS) $(shell find cmd snapshot container patch shadow lint hooks internal -name '*.go' ! -name '*_test.go' 2>/dev/null) container/image/Dockerfile hooks/shim.sh cmd/git-ftl/man.roff $(wildcard cmd/git-ftl/completion.* cmd/git-ftl/internal/llm/prompts/* cmd/git-ftl/internal/testrun/*.cmake)
	$(GO) build $(FLAGS) -o $@ ./cmd/git-ftl

container/guestbin/guest-linux-%.sum: $(GUEST_SOURCES)
	GOOS=linux GOARCH=$* $(GO) build -trimpath -tags nethttpomithttp2 -ldflags "-s -w" -o $(@:.sum=) ./container/guest
	gzip -9nfk $(@:.sum=)
	{ sha256sum 2>/dev/null || shasum -a 256; } < $(@:.sum=) | cut -d' ' -f1 > $@
	rm $(@:.sum=)

engine: ## Bring up a container engine and a base image where they are missing.
	sh testdata/engine/up.sh

demo: engine build ## Run the main job on a scratch repository, as a story.
	sh testdata/demo.sh "$(CURDIR)/bin/git-ftl"

test: test-fast ## Run every test; sets up what it needs on Debian as root.
	sh testdata/test.sh

test-fast: $(GUESTS) ## Only the tests that need no engine, in seconds.
	@echo "== fast tier (no engine; the tests of containers and scripts run in the next tier)"
	$(GO) test -tags embedguest -short ./...

test-agents: engine $(GUESTS) ## Gemini and opencode too, as real command lines against the scripted model.
	FTL_REQUIRE_DOCKER=1 FTL_TEST_AGENTS=1 $(GO) test -tags embedguest -timeout 14m -run 'TestAgents|TestMoreAgents' ./cmd/git-ftl

bench: engine build ## Print the tables of ratios; minutes. FTL_BENCH_BIG=1 adds the 100,000-file repository.
	sh testdata/bench.sh "$(CURDIR)/bin/git-ftl"

lint-bench: ## What the linter finds of a corpus made from SEED, and tells of clean code; a minute.
	$(GO) run ./lint/internal/lintbench -seed $(or $(SEED),1)

check: $(GUESTS) ## Format, vet, lint, import rules, cross builds, size and start limits, man page.
	sh testdata/check.sh

test-modules: engine build ## The main job on three public Go modules, with their own tests.
	sh testdata/modules.sh "$(CURDIR)/bin/git-ftl"

test-egress: engine $(GUESTS) ## npm and Go against private registries, in an image of a gigabyte that it builds.
	FTL_TEST_EGRESS=1 FTL_REQUIRE_DOCKER=1 $(GO) test -tags embedguest -count=1 -v -run '^TestRegistries$$' ./cmd/git-ftl

test-languages: engine $(GUESTS) ## Written tests in Java, C++, Rust and for Node's frameworks, in images of gigabytes that it builds.
	FTL_TEST_LANGUAGES=1 FTL_REQUIRE_DOCKER=1 $(GO) test -tags embedguest -count=1 -timeout 60m -run 'Languages$$' ./cmd/git-ftl

soak: $(GUESTS) ## Kill git-ftl, guest and engine N times at random moments (default 1000, half an hour); SEED=.
	sh testdata/soak.sh $(or $(N),1000) $(SEED)

fuzz: ## Fuzz every parser of foreign bytes for FUZZTIME each (default 30s).
	sh testdata/fuzz.sh $(or $(FUZZTIME),30s)

man: build ## Write docs/git-ftl.1 from the command line's own description.
	mkdir -p docs && bin/git-ftl man > docs/git-ftl.1

clean: ## Remove what was built.
	rm -rf bin dist $(GUESTS) $(GUESTS:.sum=.gz)

help: ## List the targets.
	@sed -n 's/^\([a-z-]*\):.*## /  \1	/p' Makefile
