/* What the libraries that most programs use say of themselves: NumPy, pandas, matplotlib, dataclasses, sqlite3, argparse and others. */
#include "diagnose/python/python.h"

#define NUMPY "https://numpy.org/doc/stable/user/basics.broadcasting.html"

const struct advice py_library[] = {
    /* NumPy and pandas */
    SAY("^ValueError: The truth value of an? (?:array|Series|DataFrame)", CATEGORY_VALUE, 0, 0.92,
        "A whole array is no single yes or no: (a > 1) & (a < 5) compares item by item (each part "
        "in brackets), and .any() or .all() makes one answer of it."),
    SAY("^ValueError: operands could not be broadcast together with (?:remapped )?shapes (.+?) *$",
        CATEGORY_VALUE, 0, 0.9,
        "The shapes {1} do not fit: from the right, each pair of sizes must be equal or one of "
        "them 1. print(a.shape) shows them; .reshape() or a[:, None] changes them.",
        .docs = NUMPY),
    SAY("^ValueError: (?:matmul: .*\\(size (\\d+) is different from (\\d+)\\)|shapes (.+) not "
        "aligned)",
        CATEGORY_VALUE, 0, 0.9,
        "The shapes do not fit for a product: the left side must have as many columns as the right "
        "one has rows. print(a.shape, b.shape) shows them; .T turns one around."),
    SAY("^ValueError: cannot reshape array of size (\\d+) into shape (\\(.*\\))", CATEGORY_VALUE, 0,
        0.9,
        "{1} items do not fill the shape {2}: its sizes multiplied must give {1}; one of them may "
        "be -1, which is then calculated."),
    SAY("^ValueError: setting an array element with a sequence|inhomogeneous shape", CATEGORY_VALUE,
        0, 0.88, "The rows differ in length: make them equal, or keep them as a list of lists."),
    SAY("^ValueError: all the input array dimensions|^ValueError: all input arrays must have the "
        "same shape",
        CATEGORY_VALUE, 0, 0.85, "The arrays differ in shape: print(x.shape) of each shows which."),
    SAY("^LinAlgError: Singular matrix", CATEGORY_VALUE, 0, 0.85,
        "The matrix has no inverse (a row follows from others): np.linalg.pinv or lstsq solve such "
        "systems as well as they can be."),
    IS("^LinAlgError", CATEGORY_VALUE),
    SAY("^IndexError: too many indices for array: array is (\\d+)-dimensional, but (\\d+) were",
        CATEGORY_INDEX, 9, 0.9,
        "The array has {1} dimension(s), and {2} positions are given: print(x.shape) shows it."),
    SAY("^IndexError: index (-?\\d+) is out of bounds for axis (\\d+) with size (\\d+)",
        CATEGORY_INDEX, 9, 0.92,
        "Axis {2} has {3} items, and the first is 0: position {1} is past the end; print(x.shape) "
        "shows the sizes."),
    SAY("^IndexError: single positional indexer is out-of-bounds", CATEGORY_INDEX, 9, 0.9,
        "The table has fewer rows than that: len(df) says how many; it may be empty after a "
        "filter."),
    SAY("^ValueError: (?:All arrays must be of the same length|arrays must all be same length)",
        CATEGORY_VALUE, 0, 0.9,
        "The columns differ in length: len() of each shows which one is short."),
    SAY("^ValueError: Length of values \\((\\d+)\\) does not match length of index \\((\\d+)\\)",
        CATEGORY_VALUE, 0, 0.9,
        "The table has {2} rows, and {1} values are given for the new column: make them as many."),
    SAY("^ValueError: Cannot mask with non-boolean array containing NA", CATEGORY_VALUE, 0, 0.88,
        "Some cells are empty: say what they count as, .str.contains(x, na=False)."),
    SAY("^ValueError: cannot convert float NaN to integer|^IntCastingNaNError", CATEGORY_VALUE, 13,
        0.9, "Some values are missing (NaN): .fillna(0) or .dropna() first, then .astype(int)."),
    SAY("^AttributeError: Can only use \\.(\\w+) accessor", CATEGORY_TYPE, 5, 0.9,
        "The column holds another type than .{1} is for: df.dtypes shows it; astype(str) or "
        "pd.to_datetime(column) converts it."),
    SAY("^EmptyDataError: No columns to parse", CATEGORY_VALUE, 27, 0.88,
        "The file is empty: look at what was written to it, or at its name."),
    SAY("^ParserError: .*Expected (\\d+) fields in line (\\d+), saw (\\d+)", CATEGORY_VALUE, 14,
        0.9,
        "Line {2} of the file has {3} fields where {1} are meant: the separator may be another "
        "(sep=';'), a text with a comma must be in quotes; on_bad_lines='skip' leaves such lines "
        "out."),
    IS("^(?:ParserError|EmptyDataError|OutOfBoundsDatetime|DateParseError|MergeError):",
       CATEGORY_VALUE),
    /* matplotlib */
    SAY("^ValueError: x and y must have same first dimension, but have shapes \\((\\d+),\\) and "
        "\\((\\d+),\\)",
        CATEGORY_VALUE, 0, 0.92,
        "There are {1} values for x and {2} for y: give both the same length."),
    SAY("^ValueError: (?:x and y must be the same size|shape mismatch: objects cannot be "
        "broadcast)",
        CATEGORY_VALUE, 0, 0.9,
        "What is drawn has two lists of different length: give both the same length."),
    /* dataclasses, enum, abc */
    SAY("^FrozenInstanceError: cannot (?:assign to|delete) field '(.+)'", CATEGORY_TYPE, 33, 0.92,
        "The dataclass is frozen=True, so its objects do not change: make a new one, "
        "dataclasses.replace(obj, {1}=...), or leave frozen out."),
    SAY("^ValueError: mutable default <class '(\\w+)'> for field (\\w+)", CATEGORY_VALUE, 0, 0.95,
        "All objects would share that {1}: write `{2}: {1} = field(default_factory={1})`, with "
        "`from dataclasses import field`."),
    SAY("^TypeError: non-default argument '(\\w+)' follows default argument", CATEGORY_TYPE, 10,
        0.93, "Fields without a default come first: move '{1}' up, or give it a default."),
    SAY("^ValueError: (.+) is not a valid (\\w+)$", CATEGORY_VALUE, 0, 0.85,
        "{2} has no member with that value: [m.value for m in {2}] lists them."),
    /* databases */
    SAY("^OperationalError: no such (table|column): (\\S+)", CATEGORY_NAME, 3, 0.9,
        "The database has no {1} '{2}': compare it with the CREATE TABLE; a new database is empty "
        "until the tables are made."),
    SAY("^OperationalError: near \"(.*?)\": syntax error", CATEGORY_SYNTAX, 0, 0.85,
        "The SQL is wrong at {1} or just before it: a comma, a bracket or a word is missing."),
    SAY("^OperationalError: unable to open database file", CATEGORY_IO, 22, 0.85,
        "The directory of the file is not there, or cannot be written: use a file below /sandbox, "
        "or \":memory:\"."),
    SAY("^OperationalError: database is locked", CATEGORY_RESOURCE, 0, 0.85,
        "Another connection is writing: commit() or close() it first."),
    SAY("^(?:ProgrammingError|sqlite3\\.ProgrammingError): Incorrect number of bindings "
        "supplied\\. The current statement uses (\\d+), and there are (\\d+)",
        CATEGORY_VALUE, 10, 0.92,
        "The SQL has {1} place(s) marked ?, and {2} value(s) are given: a single value is given as "
        "(value,), with the comma, for a text alone is taken letter by letter."),
    SAY("^ProgrammingError: Cannot operate on a closed database", CATEGORY_RUNTIME, 0, 0.88,
        "The connection was closed before: close it last."),
    SAY("^IntegrityError: UNIQUE constraint failed: (\\S+)", CATEGORY_VALUE, 0, 0.9,
        "There is a row with that {1} already: INSERT OR REPLACE, INSERT OR IGNORE, or another "
        "value."),
    SAY("^IntegrityError: NOT NULL constraint failed: (\\S+)", CATEGORY_VALUE, 0, 0.9,
        "{1} must have a value: give one in the INSERT."),
    IS("^IntegrityError", CATEGORY_VALUE),
    /* argparse */
    SAY("^SystemExit: the following arguments are required: (.+)", CATEGORY_RUNTIME, 10, 0.93,
        "The program wants arguments: {1}. They follow its file on the command line (belljar run "
        "FILE -- A B), and are \"args\" in a request."),
    SAY("^SystemExit: unrecognized arguments: (.+)", CATEGORY_RUNTIME, 10, 0.9,
        "It knows no {1}: its usage line lists what it takes."),
    SAY("^SystemExit: argument (\\S+): invalid (\\w+) value: (.+)", CATEGORY_RUNTIME, 13, 0.9,
        "{1} takes a value of the type {2}, and {3} is none."),
    SAY("^SystemExit: argument (\\S+): invalid choice: (.+?) \\(choose from (.+)\\)",
        CATEGORY_RUNTIME, 10, 0.9, "{1} is one of {3}."),
    IS("^SystemExit", CATEGORY_RUNTIME),
    /* iteration and flow */
    SAY("^StopIteration", CATEGORY_RUNTIME, 0, 0.88,
        "next() found nothing left: give it a default, next(iterator, None), and test the result."),
    SAY("^RuntimeError: generator raised StopIteration", CATEGORY_RUNTIME, 0, 0.88,
        "next() inside of the generator found nothing left: give it a default, or `return` there."),
    SAY("^TypeError: '(\\w+)' object is not an iterator", CATEGORY_TYPE, 12, 0.9,
        "next() wants an iterator: iter(x) makes one of a {1}."),
    SAY("^TypeError: '(\\w+)' object does not support the (?:asynchronous )?context manager "
        "protocol",
        CATEGORY_TYPE, 12, 0.88,
        "`with` wants an object with __enter__ and __exit__ (`async with`: __aenter__), and a {1} "
        "has none: call what opens it, or use contextlib.closing()."),
    SAY("^(?:AttributeError|TypeError): .*__(?:enter|exit)__", CATEGORY_TYPE, 12, 0.85,
        "`with` wants an object with __enter__ and __exit__: define both, or use "
        "contextlib.contextmanager."),
    SAY("^TypeError: object (\\w+) can't be used in 'await' expression", CATEGORY_TYPE, 26, 0.92,
        "What is awaited is a {1}, no coroutine: leave `await` out, or make the function `async "
        "def`."),
    SAY("^TypeError: 'async_generator' object is not iterable", CATEGORY_TYPE, 26, 0.93,
        "It is an asynchronous generator: go through it with `async for`, inside `async def`."),
    SAY("^TypeError: 'async for' requires an object with __aiter__ method, got (\\w+)",
        CATEGORY_TYPE, 26, 0.93,
        "A {1} is gone through with a plain `for`; `async for` is for async generators."),
    SAY("^ValueError: a coroutine was expected, got (.*)", CATEGORY_VALUE, 26, 0.92,
        "asyncio.run() wants a coroutine: call the function, asyncio.run(main()), and make it "
        "`async def`."),
    SAY("^TimeoutError: $", CATEGORY_RUNTIME, 0, 0.7,
        "It waited longer than the program itself allows: raise the timeout, or find what is "
        "awaited and never comes."),
    SAY("^RuntimeError: super\\(\\): no arguments", CATEGORY_RUNTIME, 10, 0.85,
        "super() works inside of a method that has self: write `def method(self):`."),
    /* values of the standard library */
    SAY("^TypeError: Object of type (\\w+) is not JSON serializable", CATEGORY_TYPE, 11, 0.92,
        "JSON has no {1}: convert it first (str(x), list(x), obj.__dict__, "
        "dataclasses.asdict(obj)), or give json.dumps(..., default=str)."),
    SAY("^TypeError: the JSON object must be str, bytes or bytearray, not (\\w+)", CATEGORY_TYPE,
        11, 0.92,
        "json.loads() reads text, and this is a {1}: of a file use json.load(file); a dict or list "
        "needs no reading."),
    SAY("^TypeError: expected string or bytes-like object", CATEGORY_TYPE, 11, 0.88,
        "Patterns are looked for in text: str(x) makes it; None or a list came instead."),
    SAY("^(?:re\\.)?(?:error|PatternError): (.+) at position (\\d+)", CATEGORY_VALUE, 18, 0.9,
        "The pattern is wrong at its character {2} ({1}): a bracket, + or * that is meant as "
        "itself has a backslash before it, and the text an r: r\"\\(\"."),
    SAY("^Invalid(?:Operation)?: \\[<class 'decimal\\.ConversionSyntax'>\\]", CATEGORY_VALUE, 13,
        0.9,
        "The text is no number: strip it, take out commas and signs, or catch "
        "decimal.InvalidOperation."),
    SAY("^InvalidOperation: \\[<class 'decimal\\.ConversionSyntax'>\\]", CATEGORY_VALUE, 13, 0.9,
        "The text is no number: strip it, take out commas and signs, or catch "
        "decimal.InvalidOperation."),
    SAY("^DivisionByZero: |^DivisionUndefined|^InvalidOperation: \\[<class "
        "'decimal\\.DivisionUndefined'>",
        CATEGORY_VALUE, 15, 0.9, "The divisor is 0: test it before dividing."),
    SAY("^StatisticsError: (.*)", CATEGORY_VALUE, 0, 0.88,
        "There are too few values: test the list first (`if values:`)."),
    SAY("^ValueError: Invalid isoformat string: (.+)", CATEGORY_VALUE, 0, 0.9,
        "{1} is not written as 2024-12-31: datetime.strptime(text, format) reads other forms."),
    SAY("^ValueError: unconverted data remains: (.+)", CATEGORY_VALUE, 0, 0.9,
        "The format ends before the text does: '{1}' is left over; add it to the format (%H:%M:%S, "
        "%f, %z), or cut it off."),
    SAY("^ValueError: day is out of range for month|^ValueError: month must be in 1..12",
        CATEGORY_VALUE, 0, 0.88, "There is no such day: the order is year, month, day."),
    SAY("^TypeError: can't (?:subtract|compare) offset-naive and offset-aware datetimes",
        CATEGORY_TYPE, 11, 0.92,
        "One of them has a time zone and the other none: datetime.now(timezone.utc), or "
        ".replace(tzinfo=timezone.utc)."),
    SAY("^NoSectionError: No section: '(.+)'", CATEGORY_INDEX, 8, 0.88,
        "The configuration has no [{1}]: config.sections() lists them; read() says nothing of a "
        "file that is not there."),
    SAY("^NoOptionError: No option '(.+)' in section: '(.+)'", CATEGORY_INDEX, 8, 0.88,
        "[{2}] has no {1}: config.get('{2}', '{1}', fallback=...) gives another value then."),
    SAY("^ParseError: (.+): line (\\d+), column (\\d+)", CATEGORY_VALUE, 27, 0.88,
        "Line {2} of the XML is wrong ({1}): & is written &amp; there, and every tag is closed."),
    SAY("^BadZipFile|^ReadError: |^BadGzipFile", CATEGORY_VALUE, 0, 0.85,
        "The file is no such archive, or is cut off: look at how it begins."),
    SAY("^UnpicklingError", CATEGORY_VALUE, 0, 0.8,
        "The file was not written by pickle.dump(), or is cut off."),
    SAY("^error: unpack requires a buffer of (\\d+) bytes", CATEGORY_VALUE, 14, 0.9,
        "The format wants {1} bytes, and another number came: struct.calcsize(format) tells how "
        "many to read."),
    SAY("^OverflowError: (?:math range error|int too large|.*Result too large)", CATEGORY_VALUE, 0,
        0.8, "The number is too large for a float: calculate with int, or with logarithms."),
    SAY("^ValueError: chr\\(\\) arg not in range", CATEGORY_VALUE, 0, 0.85,
        "chr() takes 0 to 1114111: the number is outside of it."),
    SAY("^TypeError: ord\\(\\) expected a character, but string of length (\\d+)", CATEGORY_TYPE, 0,
        0.9, "ord() takes one character, and {1} came: [ord(c) for c in text] takes all."),
    SAY("^ValueError: Exceeds the limit \\((\\d+) digits\\) for integer string conversion",
        CATEGORY_VALUE, 0, 0.9,
        "Numbers of more than {1} digits are not printed by default: sys.set_int_max_str_digits(0) "
        "allows it."),
    SAY("^TypeError: (?:duplicate base class|metaclass conflict|Cannot create a consistent)",
        CATEGORY_TYPE, 0, 0.8,
        "The base classes do not go together: name each once, the most special first."),
    SAY("^TypeError: (\\S+?) argument must be (.+?), not '?(\\w+)'?", CATEGORY_TYPE, 11, 0.8,
        "It takes {2}, and a {3} came: convert it first."),
    SAY("^TypeError: exceptions must derive from BaseException", CATEGORY_TYPE, 0, 0.92,
        "Only exceptions can be raised: raise ValueError(\"...\"), or a class of your own that "
        "inherits from Exception."),
    SAY("^TypeError: catching classes that do not inherit", CATEGORY_TYPE, 0, 0.9,
        "What stands behind `except` is no exception class: except (A, B) names several."),
    SAY("^BrokenProcessPool|^BrokenThreadPool", CATEGORY_RESOURCE, 40, 0.8,
        "A worker died (memory, a crash, sys.exit): run the function once without the pool to see "
        "why."),
    SAY("^RuntimeError: .*freeze_support\\(\\)|^RuntimeError:.*bootstrapping phase",
        CATEGORY_RUNTIME, 0, 0.85, "Start processes only below `if __name__ == \"__main__\":`."),
    END_OF_ADVICE,
};
