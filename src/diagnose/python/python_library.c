/* Rules for errors of common libraries: NumPy, pandas, matplotlib, dataclasses, sqlite3, argparse
 * and others. Runs in: keeper. */
#include "diagnose/python/python.h"

#define NUMPY "https://numpy.org/doc/stable/user/basics.broadcasting.html"

const struct rule py_library[] = {
    /* NumPy and pandas */
    SAY("^ValueError: The truth value of an? (?:array|Series|DataFrame)", CATEGORY_VALUE, 0, 0.92,
        "An array has no single truth value: (a > 1) & (a < 5) compares item by item (each part in "
        "brackets), and .any() or .all() makes one answer of it."),
    SAY("^ValueError: operands could not be broadcast together with (?:remapped )?shapes (.+?) *$",
        CATEGORY_VALUE, 0, 0.9,
        "The shapes {1} do not fit: counted from the right, each pair of sizes must be equal, or "
        "one size must be 1. print(a.shape) shows the sizes; .reshape() or a[:, None] changes "
        "them.",
        .docs = NUMPY),
    SAY("^ValueError: (?:matmul: .*\\(size (\\d+) is different from (\\d+)\\)|shapes (.+) not "
        "aligned)",
        CATEGORY_VALUE, 0, 0.9,
        "The shapes do not fit for a product: the left side must have as many columns as the right "
        "one has rows. print(a.shape, b.shape) shows them; .T transposes one."),
    SAY("^ValueError: cannot reshape array of size (\\d+) into shape (\\(.*\\))", CATEGORY_VALUE, 0,
        0.9,
        "{1} items do not fill the shape {2}: its sizes multiplied must give {1}; one of them may "
        "be -1, and NumPy then calculates it."),
    SAY("^ValueError: setting an array element with a sequence|inhomogeneous shape", CATEGORY_VALUE,
        0, 0.88,
        "The rows differ in length: make them equally long, or keep them as a list of lists."),
    SAY("^ValueError: all the input array dimensions|^ValueError: all input arrays must have the "
        "same shape",
        CATEGORY_VALUE, 0, 0.85,
        "The arrays differ in shape: print(x.shape) shows the shape of each."),
    SAY("^LinAlgError: Singular matrix", CATEGORY_VALUE, 0, 0.85,
        "The matrix has no inverse (a row follows from others): np.linalg.pinv or lstsq gives the "
        "best approximate solution."),
    IS("^LinAlgError", CATEGORY_VALUE),
    SAY("^IndexError: too many indices for array: array is (\\d+)-dimensional, but (\\d+) were",
        CATEGORY_INDEX, 9, 0.9,
        "The array has {1} dimension(s), and {2} indices are given: print(x.shape) shows its "
        "sizes."),
    SAY("^IndexError: index (-?\\d+) is out of bounds for axis (\\d+) with size (\\d+)",
        CATEGORY_INDEX, 9, 0.92,
        "Axis {2} has {3} items, and the first is 0: position {1} is past the end; print(x.shape) "
        "shows the sizes."),
    SAY("^IndexError: single positional indexer is out-of-bounds", CATEGORY_INDEX, 9, 0.9,
        "The table has fewer rows: len(df) is their number; the table may be empty after a "
        "filter."),
    SAY("^ValueError: (?:All arrays must be of the same length|arrays must all be same length)",
        CATEGORY_VALUE, 0, 0.9, "The columns differ in length: compare len() of each."),
    SAY("^ValueError: Length of values \\((\\d+)\\) does not match length of index \\((\\d+)\\)",
        CATEGORY_VALUE, 0, 0.9,
        "The table has {2} rows, and {1} values are given for the new column: give {2} values."),
    SAY("^ValueError: Cannot mask with non-boolean array containing NA", CATEGORY_VALUE, 0, 0.88,
        "Some cells are empty: choose the value for them, .str.contains(x, na=False)."),
    SAY("^ValueError: cannot convert float NaN to integer|^IntCastingNaNError", CATEGORY_VALUE, 13,
        0.9, "Some values are missing (NaN): call .fillna(0) or .dropna() before .astype(int)."),
    SAY("^AttributeError: Can only use \\.(\\w+) accessor", CATEGORY_TYPE, 5, 0.9,
        "The column does not hold the type that .{1} works on: df.dtypes shows its type; "
        "astype(str) or pd.to_datetime(column) converts it."),
    SAY("^EmptyDataError: No columns to parse", CATEGORY_VALUE, 27, 0.88,
        "The file is empty: check the code that writes it, and its name."),
    SAY("^ParserError: .*Expected (\\d+) fields in line (\\d+), saw (\\d+)", CATEGORY_VALUE, 14,
        0.9,
        "Line {2} of the file has {3} fields instead of {1}: the separator may be another "
        "(sep=';'), or a text with a comma lacks its quotes; on_bad_lines='skip' skips such "
        "lines."),
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
        "The two lists to draw differ in length: give both the same length."),
    /* dataclasses, enum, abc */
    SAY("^FrozenInstanceError: cannot (?:assign to|delete) field '(.+)'", CATEGORY_TYPE, 33, 0.92,
        "The dataclass is frozen=True, so its objects cannot be changed: make a new one, "
        "dataclasses.replace(obj, {1}=...), or remove frozen."),
    SAY("^ValueError: mutable default <class '(\\w+)'> for field (\\w+)", CATEGORY_VALUE, 0, 0.95,
        "All objects would share that {1}: write `{2}: {1} = field(default_factory={1})`, with "
        "`from dataclasses import field`."),
    SAY("^TypeError: non-default argument '(\\w+)' follows default argument", CATEGORY_TYPE, 10,
        0.93, "Fields without a default come first: move '{1}' up, or give it a default."),
    SAY("^ValueError: (.+) is not a valid (\\w+)$", CATEGORY_VALUE, 0, 0.85,
        "{2} has no member with that value: [m.value for m in {2}] lists them."),
    /* databases */
    SAY("^OperationalError: no such (table|column): (\\S+)", CATEGORY_NAME, 3, 0.9,
        "The database has no {1} '{2}': compare it with the CREATE TABLE; a new database has no "
        "tables until the program creates them."),
    SAY("^OperationalError: near \"(.*?)\": syntax error", CATEGORY_SYNTAX, 0, 0.85,
        "The SQL is wrong at {1} or just before it: check for a missing comma, bracket or word."),
    SAY("^OperationalError: unable to open database file", CATEGORY_IO, 22, 0.85,
        "The directory of the file does not exist, or cannot be written: use a file below "
        "/sandbox, or \":memory:\"."),
    SAY("^OperationalError: database is locked", CATEGORY_RESOURCE, 0, 0.85,
        "Another connection is writing: commit() or close() it first."),
    SAY("^(?:ProgrammingError|sqlite3\\.ProgrammingError): Incorrect number of bindings "
        "supplied\\. The current statement uses (\\d+), and there are (\\d+)",
        CATEGORY_VALUE, 10, 0.92,
        "The SQL has {1} placeholder(s) ?, and {2} value(s) are given: pass a single value as "
        "(value,), with the comma; a plain text counts as one value a letter."),
    SAY("^ProgrammingError: Cannot operate on a closed database", CATEGORY_RUNTIME, 0, 0.88,
        "The connection is closed already: close it after its last use."),
    SAY("^IntegrityError: UNIQUE constraint failed: (\\S+)", CATEGORY_VALUE, 0, 0.9,
        "A row with that {1} exists already: use INSERT OR REPLACE, INSERT OR IGNORE, or another "
        "value."),
    SAY("^IntegrityError: NOT NULL constraint failed: (\\S+)", CATEGORY_VALUE, 0, 0.9,
        "{1} must have a value: give it one in the INSERT."),
    IS("^IntegrityError", CATEGORY_VALUE),
    /* argparse */
    SAY("^SystemExit: the following arguments are required: (.+)", CATEGORY_RUNTIME, 10, 0.93,
        "The program needs the arguments {1}. They follow its file on the command line (belljar "
        "run FILE -- A B), and are \"args\" in a request."),
    SAY("^SystemExit: unrecognized arguments: (.+)", CATEGORY_RUNTIME, 10, 0.9,
        "The program does not know {1}: its usage line lists its arguments."),
    SAY("^SystemExit: argument (\\S+): invalid (\\w+) value: (.+)", CATEGORY_RUNTIME, 13, 0.9,
        "{1} takes a value of the type {2}, and {3} is not one."),
    SAY("^SystemExit: argument (\\S+): invalid choice: (.+?) \\(choose from (.+)\\)",
        CATEGORY_RUNTIME, 10, 0.9, "{1} is one of {3}."),
    IS("^SystemExit", CATEGORY_RUNTIME),
    /* iteration and flow */
    SAY("^StopIteration", CATEGORY_RUNTIME, 0, 0.88,
        "next() found no further item: give it a default, next(iterator, None), and test the "
        "result."),
    SAY("^RuntimeError: generator raised StopIteration", CATEGORY_RUNTIME, 0, 0.88,
        "next() inside the generator found no further item: give it a default, or `return` there."),
    SAY("^TypeError: '(\\w+)' object is not an iterator", CATEGORY_TYPE, 12, 0.9,
        "next() needs an iterator: iter(x) makes one of a {1}."),
    SAY("^TypeError: '(\\w+)' object does not support the (?:asynchronous )?context manager "
        "protocol",
        CATEGORY_TYPE, 12, 0.88,
        "`with` needs an object with __enter__ and __exit__ (`async with`: __aenter__), and a {1} "
        "has neither: call the function that opens it, or use contextlib.closing()."),
    SAY("^(?:AttributeError|TypeError): .*__(?:enter|exit)__", CATEGORY_TYPE, 12, 0.85,
        "`with` needs an object with __enter__ and __exit__: define both, or use "
        "contextlib.contextmanager."),
    SAY("^TypeError: object (\\w+) can't be used in 'await' expression", CATEGORY_TYPE, 26, 0.92,
        "The awaited value is a {1}, not a coroutine: remove `await`, or make the function `async "
        "def`."),
    SAY("^TypeError: 'async_generator' object is not iterable", CATEGORY_TYPE, 26, 0.93,
        "It is an asynchronous generator: loop over it with `async for`, inside `async def`."),
    SAY("^TypeError: 'async for' requires an object with __aiter__ method, got (\\w+)",
        CATEGORY_TYPE, 26, 0.93,
        "A plain `for` loops over a {1}; `async for` is for async generators."),
    SAY("^ValueError: a coroutine was expected, got (.*)", CATEGORY_VALUE, 26, 0.92,
        "asyncio.run() needs a coroutine: call the function, asyncio.run(main()), and make it "
        "`async def`."),
    SAY("^TimeoutError: $", CATEGORY_RUNTIME, 0, 0.7,
        "The program waited longer than its own timeout: raise the timeout, or find the awaited "
        "call that never finishes."),
    SAY("^RuntimeError: super\\(\\): no arguments", CATEGORY_RUNTIME, 10, 0.85,
        "super() works inside a method that has self: write `def method(self):`."),
    /* values of the standard library */
    SAY("^TypeError: Object of type (\\w+) is not JSON serializable", CATEGORY_TYPE, 11, 0.92,
        "JSON has no {1}: convert it first (str(x), list(x), obj.__dict__, "
        "dataclasses.asdict(obj)), or give json.dumps(..., default=str)."),
    SAY("^TypeError: the JSON object must be str, bytes or bytearray, not (\\w+)", CATEGORY_TYPE,
        11, 0.92,
        "json.loads() reads text, and this is a {1}: use json.load(file) for a file; a dict or "
        "list is decoded already."),
    SAY("^TypeError: expected string or bytes-like object", CATEGORY_TYPE, 11, 0.88,
        "A pattern is searched in text, and the value is something else (None, a list): check it, "
        "or convert it with str(x)."),
    SAY("^(?:re\\.)?(?:error|PatternError): (.+) at position (\\d+)", CATEGORY_VALUE, 18, 0.9,
        "The pattern is wrong at its character {2} ({1}): write a backslash before a literal "
        "bracket, + or *, and an r before the text: r\"\\(\"."),
    SAY("^Invalid(?:Operation)?: \\[<class 'decimal\\.ConversionSyntax'>\\]", CATEGORY_VALUE, 13,
        0.9,
        "The text is not a number: strip it, remove commas and signs, or catch "
        "decimal.InvalidOperation."),
    SAY("^InvalidOperation: \\[<class 'decimal\\.ConversionSyntax'>\\]", CATEGORY_VALUE, 13, 0.9,
        "The text is not a number: strip it, remove commas and signs, or catch "
        "decimal.InvalidOperation."),
    SAY("^DivisionByZero: |^DivisionUndefined|^InvalidOperation: \\[<class "
        "'decimal\\.DivisionUndefined'>",
        CATEGORY_VALUE, 15, 0.9, "The divisor is 0: test it before dividing."),
    SAY("^StatisticsError: (.*)", CATEGORY_VALUE, 0, 0.88,
        "There are too few values: test the list first (`if values:`)."),
    SAY("^ValueError: Invalid isoformat string: (.+)", CATEGORY_VALUE, 0, 0.9,
        "{1} is not written as 2024-12-31: datetime.strptime(text, format) reads other forms."),
    SAY("^ValueError: unconverted data remains: (.+)", CATEGORY_VALUE, 0, 0.9,
        "The format ends before the text, and '{1}' is left over: add it to the format (%H:%M:%S, "
        "%f, %z), or cut it off."),
    SAY("^ValueError: day is out of range for month|^ValueError: month must be in 1..12",
        CATEGORY_VALUE, 0, 0.88, "That day does not exist: the order is year, month, day."),
    SAY("^TypeError: can't (?:subtract|compare) offset-naive and offset-aware datetimes",
        CATEGORY_TYPE, 11, 0.92,
        "One of them has a time zone and the other has none: use datetime.now(timezone.utc), or "
        ".replace(tzinfo=timezone.utc)."),
    SAY("^NoSectionError: No section: '(.+)'", CATEGORY_INDEX, 8, 0.88,
        "The configuration has no [{1}]: config.sections() lists its sections; read() ignores a "
        "file that does not exist."),
    SAY("^NoOptionError: No option '(.+)' in section: '(.+)'", CATEGORY_INDEX, 8, 0.88,
        "[{2}] has no {1}: config.get('{2}', '{1}', fallback=...) returns another value then."),
    SAY("^ParseError: (.+): line (\\d+), column (\\d+)", CATEGORY_VALUE, 27, 0.88,
        "Line {2} of the XML is wrong ({1}): write & as &amp;, and close every tag."),
    SAY("^BadZipFile|^ReadError: |^BadGzipFile", CATEGORY_VALUE, 0, 0.85,
        "The file is not an archive of this kind, or is cut off: check its first bytes."),
    SAY("^UnpicklingError", CATEGORY_VALUE, 0, 0.8,
        "The file was not written by pickle.dump(), or is cut off: write it again."),
    SAY("^error: unpack requires a buffer of (\\d+) bytes", CATEGORY_VALUE, 14, 0.9,
        "The format needs {1} bytes, and the buffer has another number: struct.calcsize(format) is "
        "the number to read."),
    SAY("^OverflowError: (?:math range error|int too large|.*Result too large)", CATEGORY_VALUE, 0,
        0.8, "The number is too large for a float: calculate with int, or with logarithms."),
    SAY("^ValueError: chr\\(\\) arg not in range", CATEGORY_VALUE, 0, 0.85,
        "chr() takes 0 to 1114111, and the number is outside of that range."),
    SAY("^TypeError: ord\\(\\) expected a character, but string of length (\\d+)", CATEGORY_TYPE, 0,
        0.9, "ord() takes one character, and the text has {1}: [ord(c) for c in text] takes all."),
    SAY("^ValueError: Exceeds the limit \\((\\d+) digits\\) for integer string conversion",
        CATEGORY_VALUE, 0, 0.9,
        "Python does not print numbers of more than {1} digits by default: "
        "sys.set_int_max_str_digits(0) allows it."),
    SAY("^TypeError: (?:duplicate base class|metaclass conflict|Cannot create a consistent)",
        CATEGORY_TYPE, 0, 0.8,
        "The base classes do not fit together: name each once, the most derived first."),
    SAY("^TypeError: (\\S+?) argument must be (.+?), not '?(\\w+)'?", CATEGORY_TYPE, 11, 0.8,
        "It takes {2}, and the value is a {3}: convert it first."),
    SAY("^TypeError: exceptions must derive from BaseException", CATEGORY_TYPE, 0, 0.92,
        "Only exceptions can be raised: raise ValueError(\"...\"), or a class of your own that "
        "inherits from Exception."),
    SAY("^TypeError: catching classes that do not inherit", CATEGORY_TYPE, 0, 0.9,
        "The value behind `except` is not an exception class: name classes there, several as "
        "except (A, B)."),
    SAY("^BrokenProcessPool|^BrokenThreadPool", CATEGORY_RESOURCE, 40, 0.8,
        "A worker process died (memory, a crash, sys.exit): run the function once without the pool "
        "to see the reason."),
    SAY("^RuntimeError: .*freeze_support\\(\\)|^RuntimeError:.*bootstrapping phase",
        CATEGORY_RUNTIME, 0, 0.85, "Start processes only below `if __name__ == \"__main__\":`."),
    END_OF_RULES,
};
