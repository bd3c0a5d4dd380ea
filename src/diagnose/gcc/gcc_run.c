/* Rules for C and C++: errors of running programs. Runs in: keeper. */
#include <string.h>

#include "diagnose/gcc/gcc.h"

#define Q GCC_OPEN
#define E GCC_CLOSE

#define SANITIZERS                                                                                \
    "Run it again with the sanitizers, which name the line: --compiler-arg -fsanitize=address "   \
    "--compiler-arg -g on the command line, \"compiler_args\": [\"-fsanitize=address\", \"-g\"] " \
    "in a "                                                                                       \
    "request."
#define SANITIZER_DOCS "https://gcc.gnu.org/onlinedocs/gcc/Instrumentation-Options.html"

enum { TEXTS_TRIED = 8 }; /* for each, all lines below are searched */

/* char *name = "text"; ... name[0] = 'T'; */
static bool advise_literal(const struct advice *a)
{
    unsigned tried = 0;
    for (size_t i = 0; i < a->in->n_sources; i++) {
        struct piece rest = text_of_source(&a->in->sources[i]), line;
        for (uint32_t n = 1; n < LINES_SEEN && next_line(&rest, &line); n++) {
            struct match m, w;
            char name[64];
            if (!match(a->g, "char \\*\\s*(\\w+) = \"", line, &m))
                continue;
            if (++tried > TEXTS_TRIED)
                return false;
            COPY(m.group[0], name);
            struct piece after = rest, other;
            for (uint32_t k = n + 1; next_line(&after, &other); k++) {
                if (!match(a->g, "(\\w+)\\[[^\\]]*\\]\\s*=[^=]", other, &w) ||
                    !piece_is(w.group[0], name))
                    continue;
                suggest(a->d, 0, 0.85,
                        "Line %u writes to `%s`, a string literal, which cannot be changed: make "
                        "it an array on line %u, `char %s[] = \"...\"`.",
                        k, name, n, name);
                if (a->d->location.line == 0) {
                    a->d->location.line = k;
                    COPY(piece_of(a->in->sources[i].name), a->d->location.file);
                }
                return true;
            }
        }
    }
    return false;
}

static void advise_segfault(const struct advice *a)
{
    (void)advise_literal(a);
    suggest(a->d, 38, 0.8, "%s", SANITIZERS);
}

static void advise_divided(const struct advice *a)
{
    struct match c = { 0 };
    struct place_in_code p = { 0 };
    unsigned found = 0;
    char divisor[64] = "";
    for (size_t i = 0; i < a->in->n_sources; i++) {
        struct piece rest = text_of_source(&a->in->sources[i]), line;
        for (uint32_t n = 1; n < LINES_SEEN && next_line(&rest, &line); n++) {
            if (starts_with(piece_trim(line), "//") ||
                !match(a->g, "[\\w)\\]] [/%] ([a-z_A-Z]\\w*)|[\\w)\\]]\\s*[/%]=\\s*([a-z_A-Z]\\w*)",
                       line, &c))
                continue;
            found++;
            p.line = n;
            COPY(piece_of(a->in->sources[i].name), p.file);
            COPY(c.group[0].at ? c.group[0] : c.group[1], divisor);
        }
    }
    /* Only one line divides. */
    if (found == 1 && a->d->location.line == 0) {
        a->d->location = p;
        point_at(a->in, a->d, piece_of(divisor));
    }
    if (found == 1)
        suggest(a->d, 15, 0.85, "Line %u of %s divides by `%s`: check that it is not zero before.",
                p.line, p.file, divisor);
    else
        suggest(a->d, 15, 0.7,
                "Check that the divisor is not zero before dividing integers by it.");
}

static void advise_abort(const struct advice *a)
{
    struct piece output = last_words(a->in);
    if (output.at)
        suggest(a->d, 0, 0.6,
                "The program called abort(), most likely where it printed this: `%.*s`.",
                P(piece_cut(output, 160)));
}

const struct rule gcc_run_rules[] = {
    ADVISE("^SIGSEGV|^SIGBUS", CATEGORY_RUNTIME, 38, advise_segfault, .docs = SANITIZER_DOCS),
    ADVISE("^SIGFPE", CATEGORY_VALUE, 0, advise_divided),
    SAY("^exit \\d+: (?:.*[ '\":])?([\\w./-]+\\.\\w+)'?\"?: No such file or directory", CATEGORY_IO,
        22, 0.8, "There is no file {1} in the jar: send it with the job, or write it first."),
    SAY("^exit \\d+: .*No such file or directory", CATEGORY_IO, 22, 0.7,
        "The program opens a file that is not in the jar: send the file with the job, or write it "
        "first."),
    IS("^exit \\d+: .*: Permission denied", CATEGORY_PERMISSION),
    IS("^exit \\d+: .*: Cannot allocate memory", CATEGORY_RESOURCE),
    SAY("^SIGABRT: Assertion .!?this->empty\\(\\). failed", CATEGORY_RUNTIME, 38, 0.85,
        "The program calls front(), back() or pop() of an empty container: test empty() "
        "before. " SANITIZERS),
    SAY("^SIGABRT: Assertion .__n < this->size\\(\\). failed", CATEGORY_INDEX, 38, 0.85,
        "An index is not smaller than size(): check it before. " SANITIZERS),
    SAY("^SIGABRT: Assertion .(.*). failed", CATEGORY_ASSERTION, 0, 0.75,
        "`{1}` is false there: check the arguments of the function.",
        .docs = "https://en.cppreference.com/w/c/error/assert"),
    SAY("^SIGABRT: .*(?:free|malloc|realloc|corrupt|smashing|overflow|munmap|invalid pointer)",
        CATEGORY_RUNTIME, 38, 0.85,
        "The program freed memory twice, or wrote past its end. " SANITIZERS,
        .docs = SANITIZER_DOCS),
    SAY("^SIGABRT: the program ended itself", CATEGORY_RUNTIME, 0, 0.5,
        "The program called abort(): the output before may show the reason.",
        .advise = advise_abort),
    SAY("terminate called without an active exception", CATEGORY_RUNTIME, 0, 0.7,
        "A std::thread went out of scope while it was running: call its join() or detach() "
        "before."),
    SAY("pure virtual method called", CATEGORY_RUNTIME, 0, 0.6,
        "A constructor or destructor called a virtual function, or the object no longer exists: "
        "move the call, or keep the object alive."),
    SAY("^std::out_of_range: .*which is (\\d+)\\) >= .*which is (\\d+)", CATEGORY_INDEX, 0, 0.85,
        "The index is {1} and the size is {2}: the last index is the size minus one, so let the "
        "loop run while i < size().",
        .docs = "https://en.cppreference.com/w/cpp/error/out_of_range"),
    SAY("^std::out_of_range: (sto\\w+)", CATEGORY_VALUE, 0, 0.8,
        "The number in the text is too large for std::{1}: use std::stoll, or check the text "
        "first."),
    SAY("^std::out_of_range", CATEGORY_INDEX, 0, 0.75,
        "at() and substr() throw for an index out of range: compare it with size() first; for a "
        "map, test count() or find().",
        .docs = "https://en.cppreference.com/w/cpp/error/out_of_range"),
    SAY("^std::invalid_argument: (sto\\w+)", CATEGORY_VALUE, 0, 0.85,
        "The text for std::{1} does not begin with a number: check it first, or catch "
        "std::invalid_argument.",
        .docs = "https://en.cppreference.com/w/cpp/string/basic_string/stol"),
    SAY("^std::bad_alloc", CATEGORY_RESOURCE, 0, 0.7,
        "There is not enough memory for that size: check that the size is not negative or "
        "uninitialised, or allow more memory.",
        .docs = "https://en.cppreference.com/w/cpp/memory/new/bad_alloc"),
    SAY("^std::length_error", CATEGORY_VALUE, 0, 0.6,
        "The size is larger than the container can be: check it, a negative size becomes a huge "
        "one."),
    SAY("^std::bad_(?:optional|variant|any_cast|function|weak)", CATEGORY_VALUE, 0, 0.7,
        "It was empty, or held another type: test has_value() (or a similar function of the type) "
        "first."),
    SAY("^std::bad_cast|^std::bad_typeid", CATEGORY_TYPE, 0, 0.6,
        "dynamic_cast to a reference throws when the object is of another class: cast to a pointer "
        "and compare with nullptr."),
    SAY("^std::regex_error", CATEGORY_VALUE, 0, 0.6,
        "The regular expression is not valid: check its brackets and escapes."),
    IS("^std::filesystem", CATEGORY_IO),
    SAY("^std::system_error", CATEGORY_RESOURCE, 0, 0.5,
        "The system refused, most often a thread past the limit of processes."),
    SAY("^(std::\\w*invalid_argument|std::domain_error|std::range_error|std::overflow_error)",
        CATEGORY_VALUE, 0, 0.5,
        "Catch `{1}` where it can be dealt with, or avoid the error that throws it."),
    SAY("^(std(?:::\\w+)+|\\w[\\w:]*?(?:[Ee]rror|[Ee]xception)|char const\\*|int)",
        CATEGORY_RUNTIME, 0, 0.5,
        "Catch `{1}` where it can be dealt with (try { ... } catch (const {1} &e) { ... }), or "
        "avoid the error that throws it.",
        .docs = "https://en.cppreference.com/w/cpp/language/catch"),
    SAY("^(?:heap|stack|global)-buffer-overflow", CATEGORY_INDEX, 38, 0.85,
        "It went past the end of an array or a block: compare the index with the length there; a "
        "text needs one byte more than its letters.",
        .docs = SANITIZER_DOCS),
    SAY("^heap-use-after-free|^stack-use-after", CATEGORY_RUNTIME, 38, 0.85,
        "The memory was given back before: use it before free or delete, or keep it longer.",
        .docs = SANITIZER_DOCS),
    SAY("^double-free", CATEGORY_RUNTIME, 38, 0.85,
        "It was freed before: free it once, and set the pointer to NULL then.",
        .docs = SANITIZER_DOCS),
    SAY("^detected memory leaks", CATEGORY_RUNTIME, 38, 0.8,
        "The memory that is allocated there is never freed: free or delete it, or use a container "
        "or a smart pointer.",
        .docs = SANITIZER_DOCS),
    SAY("^SEGV.*address 0x0*[0-9a-f]{1,3}\\b", CATEGORY_RUNTIME, 38, 0.85,
        "A null pointer is used on that line: check it before.", .docs = SANITIZER_DOCS),
    SAY("^SEGV", CATEGORY_RUNTIME, 38, 0.7,
        "A pointer on that line does not point at valid memory: check that it was set, and that "
        "its object still exists.",
        .docs = SANITIZER_DOCS),
    SAY("^stack-overflow", CATEGORY_RESOURCE, 38, 0.8,
        "A function calls itself without an end, or an array on the stack is too large: add a case "
        "that ends the recursion.",
        .docs = SANITIZER_DOCS),
    SAY("^alloc-dealloc-mismatch", CATEGORY_RUNTIME, 38, 0.8,
        "new goes with delete, new[] with delete[], malloc with free.", .docs = SANITIZER_DOCS),
    SAY("^data race", CATEGORY_RUNTIME, 0, 0.8,
        "Two threads use it at once and one of them writes: guard it with a mutex, or make it "
        "atomic.",
        .docs = SANITIZER_DOCS),
    SAY("UndefinedBehaviorSanitizer: .*(?:division by zero)", CATEGORY_VALUE, 15, 0.85,
        "Check that the divisor is not zero before dividing.", .docs = SANITIZER_DOCS),
    SAY("UndefinedBehaviorSanitizer: .*index (\\S+) out of bounds for type " Q "(.+?)" E,
        CATEGORY_INDEX, 38, 0.85,
        "Index {1} is not in an array of type `{2}`: the last is the length less one.",
        .docs = SANITIZER_DOCS),
    SAY("UndefinedBehaviorSanitizer: .*shift", CATEGORY_VALUE, 0, 0.8,
        "The shift must be smaller than the number of bits, and the result must fit the type: use "
        "a wider type, unsigned (1ULL << n), or check the count before.",
        .docs = SANITIZER_DOCS),
    SAY("UndefinedBehaviorSanitizer: .*outside the range of representable", CATEGORY_VALUE, 0, 0.8,
        "The value does not fit the type it is converted to: use a wider type, or check the value "
        "before.",
        .docs = SANITIZER_DOCS),
    SAY("UndefinedBehaviorSanitizer: .*end of a value-returning function", CATEGORY_RUNTIME, 0,
        0.85, "A path through the function ends without a `return`: add one.",
        .docs = SANITIZER_DOCS),
    SAY("UndefinedBehaviorSanitizer: .*not a valid value for type", CATEGORY_VALUE, 0, 0.75,
        "The variable has no value when it is read: initialise it.", .docs = SANITIZER_DOCS),
    SAY("UndefinedBehaviorSanitizer: .*variable length array bound", CATEGORY_VALUE, 0, 0.8,
        "The length of the array is zero or negative there: check it before.",
        .docs = SANITIZER_DOCS),
    SAY("UndefinedBehaviorSanitizer: .*(?:misaligned|insufficient space|object-size)",
        CATEGORY_RUNTIME, 38, 0.7,
        "The pointer does not point at a whole object of that type: check its cast, and the size "
        "of the block.",
        .docs = SANITIZER_DOCS),
    SAY("UndefinedBehaviorSanitizer: .*overflow", CATEGORY_VALUE, 0, 0.75,
        "The result does not fit the type: use a wider type (long long), or check the values "
        "before.",
        .docs = SANITIZER_DOCS),
    SAY("UndefinedBehaviorSanitizer: .*null pointer", CATEGORY_RUNTIME, 38, 0.85,
        "A null pointer is used on that line: check it before.", .docs = SANITIZER_DOCS),
    /* The program's own class. */
    SAY("^(?!SIG|exit )([A-Za-z_][\\w:<>]*): ", CATEGORY_RUNTIME, 0, 0.5,
        "Nothing catches `{1}`: put the call into try { ... } catch (const {1} &e) { ... }, or "
        "avoid the error that throws it.",
        .docs = "https://en.cppreference.com/w/cpp/language/catch"),
    END_OF_RULES,
};
