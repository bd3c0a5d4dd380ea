# The commands of the project. Meson and Ninja build; longer commands are in scripts/.
export JOBS ?= $(shell nproc)
export PYTHONDONTWRITEBYTECODE := 1

.PHONY: help run examples test quick fuzz build check format test-vm test-vm-service bench dist deb clean

help: ## show this list
	@sed -n 's/^\([a-z-]*\): .*## /\1	/p' $(MAKEFILE_LIST) | expand -t 12

run: ## install missing packages, build, and start the service
	@scripts/install-deps build run
	@scripts/build release
	@scripts/serve

examples: ## run the examples of the command line
	@scripts/install-deps build run
	@scripts/build release
	@build/belljar languages prepare
	@scripts/run-examples

test: ## install the packages of the tests, build all variants, run everything
	@scripts/install-deps build run test
	@scripts/console-deps
	@scripts/test-clients-deps
	@scripts/build release --werror --tests
	@build/belljar languages prepare
	@if [ -n "$(ARGS)" ]; then scripts/build asan --werror --tests && scripts/build fuzz && tests/run $(ARGS); \
	else tests/run --build; fi

quick: ## before each commit, at most 3 minutes: the cheap checks, the unit tests, a part of the others
	@started=$$(date +%s); \
	scripts/build release --werror --tests && tests/run --quick $(ARGS); status=$$?; \
	echo "make quick took $$(($$(date +%s) - started)) s"; exit $$status

MINUTES ?= 5
fuzz: ## let the fuzzers look for new inputs: make fuzz MINUTES=5
	@scripts/install-deps build test
	@scripts/build fuzz
	@tests/run --only fuzz --minutes $(MINUTES) $(ARGS)

build: ## build the release binary: build/belljar
	@scripts/install-deps build
	@scripts/build release

check: ## formatting, static analysis and the rules of the house, without the tests
	@scripts/install-deps build test
	@scripts/build release --werror --tests
	@scripts/check --deep

format: ## format every C file
	@scripts/check --fix format

test-vm: ## the jar's tests on cgroup v2, in a virtual machine
	@scripts/install-deps build test vm
	@scripts/build release --tests
	@tests/vm/run $(ARGS)

test-vm-service: deb ## the installed package under systemd, in a virtual machine
	@scripts/install-deps vm
	@tests/vm/run -s service $(ARGS)

bench: ## measure jars, runs and the service, beside other ways to run the same programs
	@scripts/install-deps build run bench
	@scripts/build release
	@build/belljar languages prepare
	@bench/all $(ARGS)

dist: ## pack the sources: build/dist
	@scripts/make-dist

deb: ## build the Debian packages: build/deb
	@scripts/install-deps build deb
	@scripts/make-deb

clean: ## remove build/
	rm -rf build
