/* The test runners, in the order in which they are chosen. */
#include <fnmatch.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "base/array.h"
#include "base/text.h"
#include "suite/parsers.h"
#include "suite/suite.h"

/* In every script: one stream, so that the lines of a runner stay in order. */
#define ONE_STREAM "exec 2>&1\n"
#define PYTHON                                       \
    ONE_STREAM                                       \
    "export PYTHONDONTWRITEBYTECODE=1 COLUMNS=300\n" \
    "[ -d src ] && export PYTHONPATH=/sandbox/src\n"

#define JS_TESTS                                                                            \
    WORDS("*.test.js", "*.test.mjs", "*.test.cjs", "*.test.jsx", "*.test.ts", "*.test.mts", \
          "*.test.tsx", "*.spec.js", "*.spec.mjs", "*.spec.cjs", "*.spec.jsx", "*.spec.ts", \
          "*.spec.mts", "*.spec.tsx")
/* A runner from npm: among the packages of the project, which a command mounts, or of the machine.
 * Tests import it by its name, so the project gets a link. */
#define PACKAGE_PLACES(name)                                                  \
    WORDS("/usr/local/lib/node_modules/" name, "/usr/lib/node_modules/" name, \
          "/usr/share/nodejs/" name)
#define FIND_PACKAGE(name)                                                              \
    "for place in /mnt/node_modules /usr/local/lib/node_modules /usr/lib/node_modules " \
    "/usr/share/nodejs\n"                                                               \
    "do [ -e $place/" name " ] && break; done\n"                                        \
    "[ -e node_modules ] || ln -s $place node_modules\n"                                \
    "export CI=1 NO_COLOR=1 FORCE_COLOR=0\n"

static const struct suite_runner runners[TEST_RUNNER_COUNT_] = {
    [TEST_RUNNER_PYTEST] = {
        .name = "pytest",
        .language = "python",
        .marks = WORDS("pytest.ini", "conftest.py", "tox.ini"),
        .tests = WORDS("test_*.py", "*_test.py"),
        /* The last options win over those of the project's configuration. */
        .script = PYTHON
            "exec /usr/bin/python3 -m pytest --verbosity=1 --tb=native --color=no --capture=fd "
            "-rfE --durations=0 -p no:cacheprovider -o console_output_style=classic "
            "--continue-on-collection-errors \"$@\"\n",
        .places = WORDS("/usr/lib/python3/dist-packages/pytest", "/usr/local/bin/pytest"),
        .install = "apt-get install python3-pytest",
        .code = "main.py",
        .beside = "test_main.py",
        .no_tests = 5,
        .read = read_pytest,
    },
    [TEST_RUNNER_UNITTEST] = {
        .name = "unittest",
        .language = "python",
        .marks = NO_WORDS,
        .tests = WORDS("test*.py"),
        /* A folder without __init__.py is found only if the search begins in it. */
        .script = PYTHON
            "start=.\n"
            "compgen -G 'test*.py' >/dev/null || for d in tests test; do\n"
            "    [ -d $d ] && [ ! -f $d/__init__.py ] && start=$d\n"
            "done\n"
            "PYTHONPATH=/sandbox${PYTHONPATH:+:$PYTHONPATH}\n"
            "export PYTHONPATH\n"
            "exec /usr/bin/python3 -m unittest discover -v -b -s \"$start\" \"$@\"\n",
        .places = WORDS("/usr/bin/python3"),
        .install = "apt-get install python3",
        .code = "main.py",
        .beside = "test_main.py",
        .no_tests = 5, /* since Python 3.12 */
        .read = read_unittest,
    },
    [TEST_RUNNER_NODE] = {
        .name = "node",
        .language = "javascript",
        .marks = NO_WORDS,
        .tests = WORDS("*.test.js", "*.test.mjs", "*.test.cjs", "*-test.js", "*_test.js", "test.js",
                       "test-*.js"),
        .script = ONE_STREAM
            "exec /usr/bin/node --test --test-reporter=tap \"$@\"\n",
        .places = WORDS("/usr/bin/node"),
        .install = "apt-get install nodejs",
        .code = "main.js",
        .beside = "main.test.js",
        .no_tests = -1,
        .read = read_tap,
    },
    [TEST_RUNNER_GO] = {
        .name = "go",
        .language = "go",
        .marks = WORDS("go.mod"),
        .tests = WORDS("*_test.go"),
        /* The cache is that of runtime/go/guest/build: the standard library is compiled already. */
        .script = ONE_STREAM
            "export GOPATH=/tmp/go GOCACHE=/tmp/go-build GOPROXY=off GOSUMDB=off GOFLAGS=-mod=mod\n"
            "export GOTOOLCHAIN=local GOTELEMETRY=off GOENV=off CGO_ENABLED=0\n"
            "seed=/opt/belljar/go/seed made_by= is=\n"
            "[ -f $seed/VERSION ] && read -r made_by <$seed/VERSION\n"
            "[ -f /usr/lib/go/VERSION ] && read -r is </usr/lib/go/VERSION\n"
            "if [ -n \"$made_by\" ] && [ \"$made_by\" = \"$is\" ]; then\n"
            "    mkdir $GOCACHE && ln -s $seed/[0-9a-f][0-9a-f] $GOCACHE && date +%s >$GOCACHE/trim.txt\n"
            "fi\n"
            "if [ -f go.mod ]; then export GO111MODULE=on where=./...\n"
            "else export GO111MODULE=off where=.; fi\n"
            "exec /usr/bin/go test -v -vet=off \"$@\" $where\n",
        .places = WORDS("/usr/bin/go"),
        .install = "apt-get install golang-go",
        .code = "main.go",
        .beside = "main_test.go",
        .no_tests = -1,
        .read = read_go,
    },
    [TEST_RUNNER_MINITEST] = {
        .name = "minitest",
        .language = "ruby",
        .marks = NO_WORDS,
        .tests = WORDS("test_*.rb", "*_test.rb"),
        .script = ONE_STREAM
            "exec /usr/bin/ruby -I. -Ilib -Itest -rminitest/autorun -e '\n"
            "Dir[\"./{test/**/,}{test_*,*_test}.rb\"].sort.each { |file| require file }\n"
            "' -- -v \"$@\"\n",
        .places = WORDS("/usr/bin/ruby"), /* it comes with Ruby */
        .install = "apt-get install ruby",
        .code = "main.rb",
        .beside = "main_test.rb",
        .no_tests = -1,
        .read = read_minitest,
    },
    [TEST_RUNNER_CTEST] = {
        .name = "ctest",
        .language = "c",
        .marks = WORDS("CMakeLists.txt"),
        .tests = WORDS("CMakeLists.txt"),
        .script = ONE_STREAM
            "log=/tmp/build.log\n"
            "if ! { cmake -S . -B /tmp/build && cmake --build /tmp/build -j 2; } >$log 2>&1; then\n"
            "    cat $log\n"
            "    exit 1\n"
            "fi\n"
            "exec ctest --test-dir /tmp/build --output-on-failure --no-tests=error \"$@\"\n",
        .places = WORDS("/usr/bin/ctest", "/usr/local/bin/ctest"),
        .install = "apt-get install cmake",
        .no_tests = 8,
        .read = read_ctest,
    },
    [TEST_RUNNER_RSPEC] = {
        .name = "rspec",
        .language = "ruby",
        .marks = NO_WORDS,
        .tests = WORDS("*_spec.rb"),
        /* The files are named, because RSpec looks below spec alone. */
        .script = ONE_STREAM
            "shopt -s globstar nullglob\n"
            "exec /usr/bin/rspec -I. -Ilib --format documentation --no-color --no-profile \\\n"
            "    --order defined \"$@\" ./**/*_spec.rb\n",
        .places = WORDS("/usr/bin/rspec"),
        .install = "apt-get install ruby-rspec",
        .code = "main.rb",
        .beside = "main_spec.rb",
        .no_tests = -1,
        .read = read_rspec,
    },
    [TEST_RUNNER_CARGO] = {
        .name = "cargo",
        .language = "rust",
        .marks = WORDS("Cargo.toml"),
        .tests = WORDS("Cargo.toml"),
        .script = ONE_STREAM
            "export CARGO_HOME=/tmp/cargo CARGO_TARGET_DIR=/tmp/target CARGO_TERM_COLOR=never\n"
            "export RUST_BACKTRACE=0\n"
            "exec /usr/bin/cargo test --offline --no-fail-fast \"$@\"\n",
        .places = WORDS("/usr/bin/cargo"),
        .install = "apt-get install cargo",
        .no_tests = -1,
        .read = read_cargo,
    },
    [TEST_RUNNER_JEST] = {
        .name = "jest",
        .language = "javascript",
        .marks = WORDS("jest.config.*"),
        .tests = JS_TESTS,
        .script = ONE_STREAM FIND_PACKAGE("jest")
            "exec /usr/bin/node $place/jest/bin/jest.js --ci --verbose --colors=false --runInBand \\\n"
            "    --watchman=false --cacheDirectory=/tmp/jest \"$@\"\n",
        .places = PACKAGE_PLACES("jest"),
        .package = "jest",
        .install = "npm install -g jest",
        .code = "main.js",
        .beside = "main.test.js",
        .no_tests = -1,
        .read = read_jest,
    },
    [TEST_RUNNER_VITEST] = {
        .name = "vitest",
        .language = "javascript",
        .marks = WORDS("vitest.config.*"),
        .tests = JS_TESTS,
        .script = ONE_STREAM FIND_PACKAGE("vitest")
            "exec /usr/bin/node $place/vitest/vitest.mjs run --reporter=tap-flat \"$@\"\n",
        .places = PACKAGE_PLACES("vitest"),
        .package = "vitest",
        .install = "npm install -g vitest",
        .code = "main.mjs",
        .beside = "main.test.mjs",
        .no_tests = -1,
        .read = read_vitest,
    },
};

const struct suite_runner *suite_runner(enum test_runner runner)
{
    return runner != TEST_RUNNER_NONE && runner < TEST_RUNNER_COUNT_ ? &runners[runner] : NULL;
}

bool suite_is_installed(const struct suite_runner *r)
{
    struct stat st;
    for (const char *const *place = r->places; *place; place++)
        if (stat(*place, &st) == 0)
            return true;
    return false;
}

int suite_refuse(const struct suite_runner *r, struct err *e)
{
    return err_set(e, ERR_BAD_REQUEST, 0,
                   "the test runner '%s' is not installed on this machine: '%s' installs it",
                   r->name, r->install);
}

enum test_runner suite_of_language(const char *language)
{
    enum test_runner first = TEST_RUNNER_NONE;
    for (int i = TEST_RUNNER_NONE + 1; i < TEST_RUNNER_COUNT_; i++) {
        if (!runners[i].code || strcmp(runners[i].language, language) != 0)
            continue;
        if (suite_is_installed(&runners[i]))
            return (enum test_runner)i;
        first = first == TEST_RUNNER_NONE ? (enum test_runner)i : first;
    }
    return first;
}

static bool matches(const char *const *patterns, const char *name)
{
    for (; *patterns; patterns++)
        if (fnmatch(*patterns, name, 0) == 0)
            return true;
    return false;
}

void suite_see(struct suite_search *s, const char *path)
{
    const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
    for (int i = TEST_RUNNER_NONE + 1; i < TEST_RUNNER_COUNT_; i++) {
        if (!slash && matches(runners[i].marks, name))
            s->marked |= 1U << i;
        if (matches(runners[i].tests, name))
            s->possible |= 1U << i;
    }
}

const char *suite_list(char *out, size_t size)
{
    out[0] = '\0';
    for (int i = TEST_RUNNER_NONE + 1; i < TEST_RUNNER_COUNT_; i++) {
        size_t used = strlen(out);
        (void)snprintf(out + used, size - used, "%s%s", used ? ", " : "", runners[i].name);
    }
    return out;
}

/* Node's own runner takes the same files. */
static const unsigned need_a_mark = 1U << TEST_RUNNER_JEST | 1U << TEST_RUNNER_VITEST;

int suite_choose(const struct suite_search *s, enum test_runner *ret, struct err *e)
{
    const unsigned marked = s->marked | s->present;
    const unsigned sets[] = { marked & s->possible, s->possible & ~need_a_mark };
    const struct suite_runner *wanted = NULL;
    char known[160];
    for (size_t k = 0; k < ARRAY_LEN(sets) && !wanted; k++)
        for (int i = TEST_RUNNER_NONE + 1; i < TEST_RUNNER_COUNT_; i++) {
            if (!(sets[k] & 1U << i))
                continue;
            if (s->present & 1U << i || suite_is_installed(&runners[i])) {
                *ret = (enum test_runner)i;
                return 0;
            }
            wanted = wanted ? wanted : &runners[i];
        }
    if (wanted)
        return suite_refuse(wanted, e);
    return err_set(e, ERR_NOT_FOUND, 0,
                   "no tests were found: files such as test_*.py or *.test.js are looked for, for "
                   "one of %s",
                   suite_list(known, sizeof known));
}
