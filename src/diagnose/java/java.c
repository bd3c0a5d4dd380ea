/* Java: reads and explains errors of javac and of the virtual machine. Runs in: keeper. */
#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "base/array.h"
#include "diagnose/core/rules.h"

/* ---- names ---- */

static const struct {
    const char *package, *names; /* between spaces */
} homes[] = {
    { "java.util", " ArrayList List Map HashMap Set HashSet LinkedList Queue Deque ArrayDeque "
                   "Stack Vector Arrays Collections Scanner Random Optional Iterator TreeMap "
                   "TreeSet PriorityQueue Objects UUID Date Comparator LinkedHashMap LinkedHashSet "
                   "StringJoiner Locale Calendar BitSet EnumMap Collection NoSuchElementException "
                   "InputMismatchException ConcurrentModificationException Timer Base64 " },
    { "java.util.stream", " Collectors Stream IntStream LongStream DoubleStream " },
    { "java.util.function", " Function Predicate Supplier Consumer BiFunction UnaryOperator "
                            "BinaryOperator IntFunction IntPredicate " },
    { "java.util.concurrent",
      " ExecutorService Executors Future CompletableFuture ConcurrentHashMap TimeUnit "
      "CountDownLatch Callable ThreadLocalRandom " },
    { "java.util.concurrent.atomic", " AtomicInteger AtomicLong AtomicBoolean AtomicReference " },
    { "java.util.concurrent.locks", " Lock ReentrantLock ReadWriteLock " },
    { "java.util.regex", " Pattern Matcher " },
    { "java.io", " File FileReader FileWriter BufferedReader BufferedWriter InputStreamReader "
                 "IOException PrintWriter FileNotFoundException InputStream OutputStream "
                 "Serializable UncheckedIOException StringReader StringWriter "
                 "ByteArrayOutputStream FileInputStream FileOutputStream " },
    { "java.nio.file", " Files Path Paths " },
    { "java.nio.charset", " StandardCharsets Charset " },
    { "java.time", " LocalDate LocalDateTime LocalTime Duration Instant ZonedDateTime Period " },
    { "java.time.format", " DateTimeFormatter " },
    { "java.math", " BigDecimal BigInteger RoundingMode " },
    { "java.text", " DecimalFormat SimpleDateFormat NumberFormat " },
    { "java.net", " URL URI HttpURLConnection " },
    { "java.net.http", " HttpClient HttpRequest HttpResponse " },
};

static const char *const names[] = { "System",
                                     "String",
                                     "Integer",
                                     "Double",
                                     "Boolean",
                                     "Math",
                                     "Object",
                                     "Thread",
                                     "StringBuilder",
                                     "Exception",
                                     "RuntimeException",
                                     "println",
                                     "printf",
                                     "length",
                                     "size",
                                     "equals",
                                     "charAt",
                                     "substring",
                                     "contains",
                                     "indexOf",
                                     "isEmpty",
                                     "toUpperCase",
                                     "toLowerCase",
                                     "trim",
                                     "split",
                                     "toString",
                                     "parseInt",
                                     "add",
                                     "get",
                                     "put",
                                     "remove",
                                     "Character",
                                     "Long",
                                     "Iterable",
                                     "out",
                                     NULL };

static const struct {
    const char *wrong, *right, *of;
} members[] = {
    { "size", "length", "String" },
    { "count", "length", "String" },
    { "len", "length", "String" },
    { "get", "charAt", "String" },
    { "upper", "toUpperCase", "String" },
    { "lower", "toLowerCase", "String" },
    { "strip_", "strip", "String" },
    { "length", "size", "List" },
    { "length", "size", "Map" },
    { "length", "size", "Set" },
    { "append", "add", "List" },
    { "push", "add", "List" },
    { "push_back", "add", "List" },
    { "add", "put", "Map" },
    { "has", "containsKey", "Map" },
    { "contains", "containsKey", "Map" },
    { "len", "size", "List" },
    { "set", "put", "Map" },
};

static void advise_symbol(const struct advice *a)
{
    struct piece kind = a->m.group[0], name = a->m.group[1];
    struct match c;
    char word[80], best[128];
    (void)snprintf(word, sizeof word, " %.*s ", P(name));
    for (size_t i = 0; !piece_is(kind, "method") && i < ARRAY_LEN(homes); i++)
        if (strstr(homes[i].names, word)) {
            suggest(a->d, 0, 0.95, "`%.*s` is in the package %s: import it at the top of the file.",
                    P(name), homes[i].package);
            suggest_replacement(a->d, "import %s.%.*s;", homes[i].package, P(name));
            return;
        }
    struct piece of = match(a->g, "of type ([\\w<>.\\[\\]]+)", a->message, &c) ? c.group[0]
                                                                               : NO_PIECE;
    bool array = piece_has(of, "["), call = piece_is(kind, "method");
    if (piece_is(name, "length") && of.at && (array ? call : piece_is(of, "String") && !call)) {
        suggest(a->d, 0, 0.9,
                array ? "The length of an array is not a method: write `length` without brackets."
                      : "The length of a String is a method: write `length()`.");
        (void)suggest_swap(a->in, a->d, array ? PIECE("length()") : name,
                           array ? "length" : "length()");
        return;
    }
    for (size_t i = 0; of.at && i < ARRAY_LEN(members); i++)
        if (piece_is(name, members[i].wrong) && piece_has(of, members[i].of)) {
            suggest(a->d, 0, 0.9, "A %.*s has no `%s`: use `%s`.", P(of), members[i].wrong,
                    members[i].right);
            (void)suggest_swap(a->in, a->d, name, members[i].right);
            return;
        }
    if (similar_name(a->in, name, names, best, sizeof best)) {
        suggest(a->d, 0, 0.85, "Did you mean `%s`? There is no %.*s `%.*s`.", best, P(kind),
                P(name));
        (void)suggest_swap(a->in, a->d, name, best);
        return;
    }
    suggest(a->d, 0, 0.5, "Declare the %.*s `%.*s`, or import the class that has it.", P(kind),
            P(name));
}

static bool is_name(struct piece p)
{
    bool good = p.len > 0 && (p.at[0] < '0' || p.at[0] > '9');
    for (size_t i = 0; i < p.len; i++)
        good = good && (isalnum((unsigned char)p.at[i]) || p.at[i] == '_' || p.at[i] == '$' ||
                        (unsigned char)p.at[i] >= 0x80);
    return good;
}

static void advise_class_file(const struct advice *a)
{
    struct piece file = piece_base(piece_of(a->d->location.file));
    size_t dot = piece_find(file, ".java");
    char wanted[128];
    COPY(piece_cut(file, dot), wanted);
    if (!is_name(piece_of(wanted))) { /* no class can have a name such as 01-hello */
        suggest(a->d, 38, 0.95,
                "A public class must have the name of its file: name the file %.*s.java.",
                P(a->m.group[0]));
        return;
    }
    suggest(a->d, 38, 0.95,
            "A public class must have the name of its file: name the class `%s`, or the file "
            "%.*s.java.",
            wanted, P(a->m.group[0]));
    (void)suggest_swap(a->in, a->d, a->m.group[0], wanted);
}

/* ---- types ---- */

/* Offers the line with a text inserted at the caret. */
static void replace_at_caret(const struct advice *a, const char *before)
{
    uint32_t column = a->d->location.column;
    if (a->line.at && column > 0)
        suggest_replacement(a->d, "%.*s%s%.*s", P(piece_before(a->line, column)), before,
                            P(piece_from(a->line, column)));
}

static void advise_lossy(const struct advice *a)
{
    char cast[40];
    (void)snprintf(cast, sizeof cast, "(%.*s) ", P(a->m.group[1]));
    suggest(a->d, 0, 0.85,
            "A %.*s may not fit a %.*s: write the cast `%s` before it, or declare the variable as "
            "%.*s.",
            P(a->m.group[0]), P(a->m.group[1]), cast, P(a->m.group[0]));
    replace_at_caret(a, cast);
}

static void advise_convert(const struct advice *a)
{
    struct piece from = a->m.group[0], to = a->m.group[1];
    if (piece_is(from, "String") && (piece_is(to, "int") || piece_is(to, "Integer")))
        suggest(a->d, 0, 0.85,
                "A String is not converted to a number automatically: use Integer.parseInt(text), "
                "or write the number without quotes.");
    else if (piece_is(from, "String") && (piece_is(to, "double") || piece_is(to, "Double")))
        suggest(a->d, 0, 0.85,
                "A String is not converted to a number automatically: use "
                "Double.parseDouble(text), or write the number without quotes.");
    else if (piece_is(to, "String"))
        suggest(a->d, 0, 0.85, "String.valueOf(value) converts a %.*s to a String.",
                P(a->m.group[0]));
    else if (piece_is(to, "boolean"))
        suggest(a->d, 0, 0.8,
                "A condition must be a boolean: compare with `==`, `>` or `!= null`.");
    else
        suggest(a->d, 0, 0.5,
                "A %.*s is expected there, and this is a %.*s: convert it, or change the type.",
                P(a->m.group[1]), P(a->m.group[0]));
    struct piece line = a->line;
    struct match c;
    if (piece_is(from, "String") && piece_is(to, "int") &&
        match(a->g, "^(.*)\"(-?\\d+)\"(.*)$", line, &c))
        suggest_replacement(a->d, "%.*s%.*s%.*s", P(c.group[0]), P(c.group[1]), P(c.group[2]));
}

/* ---- null ---- */

/* "because "<local1>.next" is null": without debugging names, the source has them. */
static void advise_null(const struct advice *a)
{
    struct piece what = a->m.group[0];
    char name[128], member[80] = "";
    struct match c, n;
    COPY(what, name);
    if (piece_has(what, "<local")) {
        if (match(a->g, "(?:\"[\\w.$]*?\\.?(\\w+)(?:\\(.*\\))?\") because", a->message, &c))
            COPY(c.group[0], member);
        struct piece line = a->line;
        name[0] = '\0';
        for (unsigned i = 0; i < 16 && match(a->g, "([A-Za-z_][\\w.\\[\\]]*)\\.(\\w+)", line, &n);
             i++) {
            if (piece_is(n.group[1], member)) {
                COPY(n.group[0], name);
                break;
            }
            line.len -= (size_t)(n.group[1].at - line.at);
            line.at = n.group[1].at;
        }
    }
    if (!name[0])
        COPY(what, name);
    /* "the return value of "Main$Repo.findUser(int)"" is not how the source writes it. */
    if (match(a->g, "([\\w]+)\\([^()]*\\)$", piece_of(name), &c)) {
        suggest(a->d, 38, 0.9,
                "`%.*s(...)` returned null there: store its result in a variable, and check that "
                "it is not null before using it.",
                P(c.group[0]));
        return;
    }
    if (piece_has(piece_of(name), "["))
        suggest(a->d, 38, 0.9,
                "`%s` is null there: `new T[n]` makes an array of nulls: put an object into each "
                "place first, `%s = new ...`.",
                name, name);
    else
        suggest(a->d, 38, 0.9,
                "`%s` is null there: give it a value before, or check `%s != null` first.", name,
                name);
    if (!piece_has(piece_of(name), "("))
        point_at(a->in, a->d, piece_of(name));
}

static void advise_bounds(const struct advice *a)
{
    const struct source_file *f = a->file;
    struct match c;
    for (uint32_t n = a->d->location.line; n > 0 && n + 6 > a->d->location.line; n--)
        if (match(a->g, "<=\\s*[\\w.]+\\.(length|size)", source_line(f, n), &c)) {
            suggest(a->d, 0, 0.9,
                    "Line %u counts to the %.*s itself, and the last index is one less: write `<` "
                    "for `<=`.",
                    n, P(c.group[0]));
            return;
        }
    uint32_t length = piece_number(a->m.group[1]);
    if (length == 0)
        suggest(a->d, 0, 0.8, "The length or size is 0: check it before index %.*s.",
                P(a->m.group[0]));
    else
        suggest(a->d, 0, 0.8,
                "Index %.*s is out of range: with a length or size of %u, indices go from 0 to %u. "
                "Check the index first.",
                P(a->m.group[0]), length, length - 1);
}

static void advise_unreported(const struct advice *a)
{
    /* A lambda cannot throw an exception that its interface does not declare. */
    if (piece_has(a->line, "->") || piece_has(a->line, "::"))
        suggest(a->d, 0, 0.9,
                "A lambda cannot throw %.*s: catch it inside, `x -> { try { ... } catch (%.*s e) { "
                "throw new RuntimeException(e); } }`.",
                P(a->m.group[0]), P(a->m.group[0]));
}

/* A constructor that does not call super(...) calls super(). */
static void advise_super(const struct advice *a)
{
    struct match c;
    struct piece line = a->line;
    if (has_word(line, PIECE("new")))
        return;
    if (match(a->g, "\\bclass\\s", line, &c))
        suggest(a->d, 0, 0.85,
                "`%.*s`, which it extends, has no constructor without arguments: write a "
                "constructor that begins with `super(...)` and gives it %.*s.",
                P(a->m.group[0]), P(a->m.group[1]));
    else if (match(a->g, "\\)\\s*(?:throws .*)?\\{", line, &c))
        suggest(a->d, 0, 0.9,
                "The constructor must begin with `super(...)`, because `%.*s`, which it extends, "
                "takes %.*s.",
                P(a->m.group[0]), P(a->m.group[1]));
}

static void advise_nothing_left(const struct advice *a)
{
    if (!piece_has(text_of(a->in), "java.util.Scanner"))
        suggest(a->d, 0, 0.8,
                "The collection is empty: test isEmpty() (or hasNext() of an iterator) before "
                "taking an element.");
}

static const struct rule rules[] = {
    ADVISE("^cannot find symbol .*?symbol: +(\\w+) (\\w+)", CATEGORY_NAME, 0, advise_symbol),
    ADVISE("^class (\\w+) is public, should be declared in a file named", CATEGORY_NAME, 38,
           advise_class_file),
    SAY("^package (\\S+) does not exist", CATEGORY_IMPORT, 0, 0.8,
        "There is no package {1} here: only Java's own library and the files of the job are "
        "available."),
    ADVISE("^';' expected", CATEGORY_SYNTAX, 0, advise_semicolon),
    ADVISE("^reached end of file while parsing", CATEGORY_SYNTAX, 0, advise_brace),
    SAY("^missing return statement", CATEGORY_SYNTAX, 0, 0.85,
        "Every path through the method must end in a `return`: add one before this brace."),
    SAY("^'else' without 'if'", CATEGORY_SYNTAX, 0, 0.8,
        "A `;` after the `if (...)`, or a second statement without braces, ended the `if`: remove "
        "the `;`, or add braces."),
    SAY("^unclosed (?:string|character) literal", CATEGORY_SYNTAX, 0, 0.85,
        "The string is not closed in its line: add the quote. One character stands in ' ', a "
        "string in \" \"."),
    SAY("^'(.)' expected", CATEGORY_SYNTAX, 0, 0.8, "A `{1}` is missing at the caret: add it."),
    SAY("^unreachable statement", CATEGORY_SYNTAX, 0, 0.8,
        "The program never reaches this line: a return, break, throw or endless loop is before it; "
        "remove one of them."),
    ADVISE("^incompatible types: possible lossy conversion from (\\w+) to (\\w+)", CATEGORY_TYPE, 0,
           advise_lossy),
    SAY("^incompatible types: (\\w+)<(.+)> cannot be converted to \\1<(.+)>$", CATEGORY_TYPE, 0,
        0.75,
        "A {1}<{2}> is not a {1}<{3}>, even when one type extends the other: declare both with the "
        "same type, or take a `{1}<? extends ...>` of their common class (Number, for numbers)."),
    SAY("^incompatible types: Object cannot be converted to (\\S+)", CATEGORY_TYPE, 0, 0.8,
        "A collection without a type in <> holds Objects: declare it with one, `List<{1}>`, or "
        "cast, `({1}) value`."),
    SAY("^incompatible types: unexpected return value", CATEGORY_TYPE, 0, 0.85,
        "The method is declared `void`, or the lambda returns nothing: write the return type "
        "instead of `void`."),
    SAY("^incompatible types: missing return value", CATEGORY_TYPE, 0, 0.85,
        "The method is declared to return a value: write it after `return`."),
    ADVISE("^incompatible types: (\\S+) cannot be converted to (\\S+)", CATEGORY_TYPE, 0,
           advise_convert),
    SAY("^unreported exception (\\S+); must be caught", CATEGORY_TYPE, 0, 0.9,
        "Declare it, `throws {1}` after the method's brackets, or put the call into try { ... } "
        "catch ({1} e) { ... }.",
        .advise = advise_unreported),
    SAY("^local variables? (?:(\\w+) .*)?referenced from (a lambda expression|an inner class)",
        CATEGORY_TYPE, 0, 0.9,
        "A variable that {2} uses must not change: copy it into a variable that is set once, or "
        "count in an AtomicInteger or an array with one element (int[] n = {0}; n[0]++)."),
    SAY("^(\\w+) is abstract; cannot be instantiated", CATEGORY_TYPE, 0, 0.85,
        "`{1}` itself has no objects: create an object of a class that extends or implements it."),
    SAY("attempting to assign weaker access privileges; was (\\w+)", CATEGORY_TYPE, 0, 0.9,
        "The overridden method is {1}: write `{1}` before this method too."),
    SAY("^method does not override or implement a method", CATEGORY_TYPE, 0, 0.85,
        "No method of the base classes has this name and these parameters: correct them, or remove "
        "@Override."),
    SAY("^incomparable types: (\\S+) and (\\S+)", CATEGORY_TYPE, 0, 0.75,
        "A {1} and a {2} are never equal: convert one of them; compare Strings with equals()."),
    SAY("^integer number too large", CATEGORY_SYNTAX, 0, 0.9,
        "The number does not fit an int: write L after it, and store it in a long."),
    SAY("^class, interface, enum, or record expected|^illegal start of (?:type|expression)",
        CATEGORY_SYNTAX, 0, 0.6,
        "The line is not allowed here: a `}` above closes too early, or one is missing."),
    SAY("^not a statement", CATEGORY_SYNTAX, 0, 0.6,
        "The line computes a value and does not use it: assign it, or call a method."),
    SAY("^invalid method declaration; return type required", CATEGORY_SYNTAX, 0, 0.85,
        "A method has its return type before its name (`void` for nothing): add it; only a "
        "constructor has none, and it has the name of the class."),
    SAY("^variable declaration not allowed here", CATEGORY_SYNTAX, 0, 0.8,
        "A declaration needs a block: put braces around it."),
    SAY("^duplicate class: (\\S+)", CATEGORY_NAME, 0, 0.85,
        "`{1}` is defined in more than one file: rename or remove one."),
    SAY("^non-static (?:method|variable) (\\w+)\\S* cannot be referenced", CATEGORY_TYPE, 0, 0.9,
        "`main` is static and has no object: declare `{1}` as static, or call it on an object (new "
        "Main().{1})."),
    SAY("^variable (\\w+) might not have been initialized", CATEGORY_NAME, 0, 0.9,
        "Not every path gives `{1}` a value: give it one in its declaration."),
    SAY("^variable (\\w+) is already defined", CATEGORY_NAME, 0, 0.9,
        "`{1}` is declared twice: remove the type to assign a new value, or use another name."),
    SAY("^cannot assign a value to final variable (\\w+)", CATEGORY_TYPE, 0, 0.9,
        "`{1}` is final: remove `final` where it is declared, or use another variable."),
    SAY("^(.+?) is not abstract and does not override abstract method (\\S+) in (\\w+)",
        CATEGORY_TYPE, 0, 0.9, "`{1}` must implement the method {2} of {3}: write it."),
    SAY("^constructor (\\w+) in \\S+ \\S+ cannot be applied to given types; +required: +(.*?) "
        "+found: +no arguments",
        CATEGORY_TYPE, 0, 0.85, "`{1}` takes {2}, and the call passes nothing: pass the arguments.",
        .advise = advise_super),
    SAY("^(?:method|constructor) (\\w+) in \\S+ \\S+ cannot be applied to given types; +required: "
        "+(.*?) +found: +(.*?)(?: +reason:.*)?$",
        CATEGORY_TYPE, 0, 0.85, "`{1}` takes {2}, and the call passes {3}: change the arguments."),
    SAY("^(\\w+) has private access in (\\w+)", CATEGORY_TYPE, 0, 0.85,
        "`{1}` is private to {2}: use a public method of {2}, or make it public."),
    SAY("^bad operand types for binary operator '(.+?)'", CATEGORY_TYPE, 0, 0.7,
        "`{1}` does not work between these two types: convert one of them."),
    SAY("^(\\w+) cannot be dereferenced", CATEGORY_TYPE, 0, 0.8,
        "A {1} is not an object and has no methods: use its class (Integer.toString(x), "
        "String.valueOf(x))."),
    SAY("^exception (\\w+) is never thrown", CATEGORY_TYPE, 0, 0.8,
        "Nothing in the try throws {1}: remove the catch."),
    IS("expected$|^illegal start|^not a statement|^class, interface|^invalid method "
       "declaration|^orphaned|^illegal character|^malformed|^unnamed classes|^empty "
       "character|^integer number too large|^variable declaration not allowed|^break outside|^try "
       "without|^'catch' without|^array dimension",
       CATEGORY_SYNTAX),
    IS("^incompatible|^incomparable|^no suitable|^method|^constructor|^array required|^call "
       "to|^cannot |^unexpected type|^generic|^type |^local variables|^\\w+ is "
       "abstract|^modifier|^duplicate class|^cyclic|^name clash|^non-static|^\\w+ is already "
       "defined|^reference to|^bad |^inconvertible",
       CATEGORY_TYPE),
    SAY("Could not find or load main class (\\S+)", CATEGORY_NAME, 38, 0.8,
        "There is no class {1} with a main method: give the class exactly the name of its file."),
    SAY("[Mm]ain method is not static in class (\\w+)", CATEGORY_NAME, 38, 0.95,
        "`main` is called without an object and must be static: `public static void main(String[] "
        "args)`.",
        "    public static void main(String[] args) {"),
    SAY("[Mm]ain method must return a value of type void", CATEGORY_NAME, 38, 0.95,
        "`main` must return nothing, `public static void main(String[] args)`: use System.exit(n) "
        "for a status.",
        "    public static void main(String[] args) {"),
    SAY("[Mm]ain method not found in class (\\w+)", CATEGORY_NAME, 38, 0.9,
        "A program begins in `public static void main(String[] args)`: add it to {1}.",
        "    public static void main(String[] args) {"),

    ADVISE("NullPointerException: .*because (?:the return value of )?\"(.+)\" is null",
           CATEGORY_RUNTIME, 38, advise_null),
    SAY("NullPointerException", CATEGORY_RUNTIME, 38, 0.6,
        "A value on that line is null: give it a value before, or check `!= null` first."),
    ADVISE("IndexOutOfBoundsException: .*?Index:? (-?\\d+)(?: out of bounds for length |,? Size: "
           ")(\\d+)",
           CATEGORY_INDEX, 0, advise_bounds),
    SAY("StringIndexOutOfBounds.*: (.*)", CATEGORY_INDEX, 0, 0.75,
        "The text is shorter than that: compare with length() first."),
    IS("IndexOutOfBounds|NegativeArraySize", CATEGORY_INDEX),
    SAY("NumberFormatException: For input string: (\".*?\")", CATEGORY_VALUE, 0, 0.85,
        "{1} is not a number: trim() it, check it, or catch NumberFormatException."),
    SAY("NumberFormatException", CATEGORY_VALUE, 0, 0.7,
        "The text is not a number: check it first."),
    SAY("ArithmeticException: / by zero", CATEGORY_VALUE, 15, 0.85,
        "The divisor is 0 on that line: check it before dividing."),
    SAY("ArithmeticException: Non-terminating", CATEGORY_VALUE, 0, 0.85,
        "The result has infinitely many digits: give divide() a number of digits, divide(x, 10, "
        "RoundingMode.HALF_UP)."),
    SAY("ClassCastException: class (\\S+) cannot be cast to class (\\S+)", CATEGORY_TYPE, 0, 0.85,
        "The object is a {1}: test it with `instanceof` before casting it to {2}."),
    SAY("ConcurrentModificationException", CATEGORY_RUNTIME, 0, 0.9,
        "A loop changes the collection that it iterates over: use removeIf(...), remove() of the "
        "Iterator, or collect the elements and remove them after the loop."),
    SAY("UnsupportedOperationException", CATEGORY_RUNTIME, 0, 0.85,
        "Collections of List.of, Map.of and Arrays.asList cannot be changed: copy it, `new "
        "ArrayList<>(list)`."),
    SAY("StackOverflowError", CATEGORY_RESOURCE, 24, 0.85,
        "The method calls itself without an end: add a case that returns without calling itself."),
    SAY("OutOfMemoryError", CATEGORY_RESOURCE, 0, 0.7,
        "The heap is full: hold less at once, or allow more memory (--memory; the heap is a part "
        "of it)."),
    SAY("InputMismatchException", CATEGORY_VALUE, 0, 0.8,
        "The next word of the input has another type: test hasNextInt() first, and check the input "
        "on stdin."),
    SAY("NoSuchElementException: (?:No line found)?$", CATEGORY_IO, 0, 0.75,
        "There is no further input: test hasNext() first, and give the Scanner its input on stdin.",
        .advise = advise_nothing_left),
    SAY("EmptyStackException", CATEGORY_VALUE, 0, 0.85,
        "The stack is empty: test isEmpty() before pop() or peek()."),
    SAY("NegativeArraySizeException: (\\S+)", CATEGORY_VALUE, 0, 0.85,
        "An array cannot have the length {1}: check the length before."),
    SAY("CloneNotSupportedException", CATEGORY_TYPE, 0, 0.8,
        "The class does not implement Cloneable: implement it, or copy the object in another way."),
    SAY("DateTimeParseException: (.*)", CATEGORY_VALUE, 0, 0.8,
        "The text is not a date in the expected form: write 2024-05-31, or use a DateTimeFormatter "
        "for another form."),
    SAY("IllegalMonitorStateException", CATEGORY_RUNTIME, 0, 0.8,
        "wait(), notify() and unlock() need the lock: call them inside synchronized, or after "
        "lock()."),
    SAY("NoSuchElementException: No value present", CATEGORY_VALUE, 0, 0.85,
        "The Optional is empty: use orElse(...), or test isPresent() first."),
    IS("NoSuchElementException", CATEGORY_VALUE),
    SAY("(?:FileNotFoundException|NoSuchFileException): (\\S+)", CATEGORY_IO, 22, 0.8,
        "There is no file {1} in the jar: send it with the job, or write it first."),
    IS("AccessDeniedException", CATEGORY_PERMISSION),
    IS("UnknownHostException|ConnectException|SocketException|HttpConnectTimeout",
       CATEGORY_NETWORK),
    SAY("(?:NoClassDefFoundError|ClassNotFoundException): (\\S+)", CATEGORY_IMPORT, 0, 0.7,
        "There is no class {1} here: only Java's own library and the files of the job are "
        "available."),
    SAY("ArrayStoreException: (\\S+)", CATEGORY_TYPE, 0, 0.7,
        "The array cannot hold a {1}: use an array of the right type."),
    SAY("AssertionError", CATEGORY_ASSERTION, 0, 0.5,
        "The assertion is false there: check the values before it."),
    SAY("IllegalFormat|MissingFormat|UnknownFormat", CATEGORY_VALUE, 0, 0.8,
        "The format does not fit its arguments: %d is for whole numbers, %f for others, %s for "
        "anything."),
    SAY("No enum constant (?:\\w+\\.)*(\\w+)\\.(.*)$", CATEGORY_VALUE, 0, 0.85,
        "{1} has no constant {2} (upper and lower case differ): compare with {1}.values() first, "
        "or catch IllegalArgumentException."),
    IS("IllegalArgumentException|DateTimeParse|ParseException|PatternSyntax", CATEGORY_VALUE),
    IS("IOException", CATEGORY_IO),
    END_OF_RULES,
};

/* ---- reading ---- */

#define ERROR "^(\\S.*\\.java):(\\d+): error: (.*)$"

static bool next_error(struct diagnoser *g, const struct diagnose_input *in, struct piece *rest,
                       struct further_error *ret)
{
    struct piece line;
    struct match m;
    if (!match_next(g, ERROR, rest, &m))
        return false;
    (void)set_place(in, &ret->at, m.group[0], m.group[1], NO_PIECE);
    COPY(m.group[2], ret->message);
    struct piece after = *rest;
    for (unsigned k = 0; k < 6 && next_line(&after, &line) && !match(g, ERROR, line, &m); k++) {
        if (match(g, "^(\\s*)\\^\\s*$", line, &m))
            ret->at.column = (uint32_t)m.group[0].len + 1;
        else if (match(g, "^  +symbol: +(.*)$", line, &m)) /* the message needs it */
            APPEND(ret->message, ": ", m.group[0]);
    }
    return true;
}

static bool read_compiler(struct diagnoser *g, const struct diagnose_input *in, struct diagnosis *d)
{
    struct piece rest = text_of(in), line, shown = NO_PIECE;
    struct match m;
    for (unsigned n = 0; n < LINES_SEEN && next_line(&rest, &line); n++) {
        if (!match(g, ERROR, line, &m))
            continue;
        (void)set_place(in, &d->location, m.group[0], m.group[1], NO_PIECE);
        COPY(m.group[2], d->message);
        for (unsigned k = 0; k < 12 && next_line(&rest, &line); k++) {
            if (match(g, "^\\d+ errors?$|\\.java:\\d+: |^Note: ", line, &m))
                break;
            if (match(g, "^(\\s*)\\^\\s*$", line, &m) && d->location.column == 0) {
                d->location.column = (uint32_t)m.group[0].len + 1;
                point_over_word(in, d);
                show_line(d, d->location.line, shown);
            } else if (match(g, "^  +(?:symbol|location|required|found|reason): ", line, &m) ||
                       (d->location.column > 0 && match(g, "^  [a-z(]", line, &m))) {
                APPEND(d->message, "\n", piece_trim(line));
            }
            shown = line;
        }
        read_further(g, in, next_error, d);
        return true;
    }
    return false;
}

/* Methods that the compiler adds to an enum, at the line of its declaration. */
static bool is_of_enum(struct diagnoser *g, const struct diagnose_input *in, const struct match *m,
                       unsigned *asked)
{
    struct match c;
    if (!match(g, "\\.(?:valueOf|values)$", m->group[0], &c) || ++*asked > BLANKS_NEAR)
        return false;
    struct piece line = source_line(find_source(in, m->group[1]), piece_number(m->group[2]));
    return has_word(line, PIECE("enum"));
}

static bool is_library(struct piece function)
{
    static const char *const roots[] = { "java.", "javax.", "jdk.", "sun.", "com.sun.", NULL };
    for (const char *const *r = roots; *r; r++)
        if (starts_with(function, *r))
            return true;
    return false;
}

/* Adds the frame of "pkg.Class.method" in File.java with the job's name of the file:
 * pkg/File.java. */
static void add_java_frame(const struct diagnose_input *in, struct diagnosis *d,
                           const struct match *m, bool library)
{
    struct piece function = m->group[0], file = m->group[1];
    char path[256];
    size_t parts = 0;
    (void)snprintf(path, sizeof path, "%.*s", P(file));
    for (size_t i = 0; i < function.len; i++)
        parts += function.at[i] == '.';
    if (parts > 1 && !library && !find_source(in, file)) {
        size_t n = 0, dots = 0;
        for (size_t i = 0; i < function.len && n + file.len + 2 < sizeof path; i++) {
            dots += function.at[i] == '.';
            if (dots == parts - 1)
                break;
            path[n++] = function.at[i] == '.' ? '/' : function.at[i];
        }
        (void)snprintf(path + n, sizeof path - n, "/%.*s", P(file));
    }
    size_t before = d->n_frames;
    add_frame(in, d, piece_of(path), m->group[2], NO_PIECE, function);
    if (library && d->n_frames > before)
        d->frames[d->n_frames - 1].user = false;
}

/* The frames of the exception: the job's first. */
static void read_calls(struct diagnoser *g, const struct diagnose_input *in, struct piece text,
                       struct diagnosis *d)
{
    for (int pass = 0; pass < 2; pass++) {
        unsigned asked = 0; /* each search reads its file from line 1 */
        struct piece rest = text, line;
        struct match m;
        while (next_line(&rest, &line) && !starts_with(line, "Caused by: "))
            if (match(g, "^\\s+at (?:[\\w.@]+/+)?([\\w.$<>]+)\\(([^:()]+\\.java):(\\d+)\\)", line,
                      &m) &&
                (is_library(m.group[0]) || is_of_enum(g, in, &m, &asked)) == (pass == 1))
                add_java_frame(in, d, &m, pass == 1);
    }
}

static void read_causes(struct diagnoser *g, const struct diagnose_input *in, struct piece rest,
                        struct diagnosis *d)
{
    struct piece line;
    struct match m;
    struct cause *c = NULL;
    while (next_line(&rest, &line)) {
        if (match(g, "^Caused by: ([\\w.$]+)(?:: (.*))?$", line, &m)) {
            c = add_cause(d);
            if (!c)
                return;
            COPY(m.group[0], c->type);
            COPY(m.group[1], c->message);
        } else if (c && c->at.line == 0 &&
                   match(g, "^\\s+at (?:[\\w.@]+/+)?([\\w.$<>]+)\\(([^:()]+\\.java):(\\d+)\\)",
                         line, &m) &&
                   !is_library(m.group[0])) {
            (void)set_place(in, &c->at, m.group[1], m.group[2], NO_PIECE);
        }
    }
}

static bool read_exception(struct diagnoser *g, const struct diagnose_input *in,
                           struct diagnosis *d)
{
    struct piece rest = text_of(in), line;
    struct match m;
    for (unsigned n = 0; n < LINES_SEEN && next_line(&rest, &line); n++) {
        if (match(g, "^Error: (.*(?:[Mm]ain class|[Mm]ain method).*)$", line, &m)) {
            COPY(m.group[0], d->message);
            return true;
        }
        bool uncaught = match(g, "^Exception in thread \".*?\" ([\\w.$]+)(?:: (.*))?$", line, &m);
        /* An exception that the program printed itself. */
        struct piece after = rest, next;
        if (!uncaught &&
            !(match(g, "^((?:[a-z]\\w*\\.)+[A-Z][\\w$]*(?:Exception|Error))(?:: (.*))?$", line,
                    &m) &&
              next_line(&after, &next) && starts_with(next, "\tat ")))
            continue;
        COPY(m.group[0], d->type);
        COPY(m.group[1], d->message);
        for (after = rest; next_line(&after, &next) && !starts_with(next, "\t") && n++ < 20;)
            if (!starts_with(next, "Caused by"))
                APPEND(d->message, "\n", next);
        read_calls(g, in, rest, d);
        read_causes(g, in, rest, d);
        locate_by_frames(d);
        return true;
    }
    return false;
}

/* An exception that only wraps another ("ExecutionException: java.lang.ArithmeticException: / by
 * zero"). The category and the suggestions are those of the inner one. */
struct wrapped {
    char type[sizeof((struct diagnosis *)NULL)->type],
        message[sizeof((struct diagnosis *)NULL)->message];
};

static bool unwrap(struct diagnosis *d, struct wrapped *ret)
{
    if (d->n_causes == 0 ||
        (d->message[0] && strncmp(d->message, d->causes[0].type, strlen(d->causes[0].type)) != 0))
        return false;
    const struct cause *root = &d->causes[d->n_causes - 1];
    COPY(piece_of(d->type), ret->type);
    COPY(piece_of(d->message), ret->message);
    COPY(piece_of(root->type), d->type);
    COPY(piece_of(root->message), d->message);
    if (root->at.line)
        d->location = root->at;
    return true;
}

static void wrap(struct diagnosis *d, const struct wrapped *w)
{
    COPY(piece_of(w->type), d->type);
    COPY(piece_of(w->message), d->message);
}

static bool read_java(struct diagnoser *g, const struct diagnose_input *in, struct diagnosis *d)
{
    bool found = (!in->compiling && read_exception(g, in, d)) || read_compiler(g, in, d);
    if (found && !classify(g, d, rules))
        d->category = d->type[0]         ? CATEGORY_RUNTIME
                      : d->location.line ? CATEGORY_TYPE /* neither syntax nor names */
                                         : CATEGORY_COMPILE;
    struct wrapped w;
    if (found && unwrap(d, &w)) {
        (void)classify(g, d, rules);
        wrap(d, &w);
    }
    /* An iterator throws it too, at its end. */
    if (d->category == CATEGORY_IO && piece_has(piece_of(d->type), "NoSuchElement") &&
        !piece_has(text_of(in), "java.util.Scanner"))
        d->category = CATEGORY_VALUE;
    return found;
}

static void advise_java(struct diagnoser *g, const struct diagnose_input *in, struct diagnosis *d)
{
    struct wrapped w;
    if (d->category == CATEGORY_SYNTAX && advise_fence(in, d))
        return;
    bool carried = unwrap(d, &w);
    advise_by(g, in, d, rules);
    if (carried)
        wrap(d, &w);
    struct match m;
    if (d->docs[0] ||
        !match(g, "^java\\.(?:lang|util|io|nio|net|time|math)\\.[\\w.]+$", piece_of(d->type), &m))
        return;
    char path[128];
    COPY(m.all, path);
    for (char *c = path; *c; c++)
        if (*c == '.')
            *c = '/';
    (void)snprintf(d->docs, sizeof d->docs,
                   "https://docs.oracle.com/en/java/javase/17/docs/api/java.base/%.120s.html",
                   path);
}

const struct grammar grammar_java = { .name = "java", .read = read_java, .advise = advise_java };
