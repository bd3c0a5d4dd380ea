"""The values of variables at a failure: told by the program, in `diagnosis.values`."""

import json
import re

import pytest

from harness import belljar, eventually
from service import ROOMY, Service
from sessions import create, end, execute
from test_explain import on_a_terminal


@pytest.fixture(scope="module")
def s():
    with Service(*ROOMY) as service:
        yield service


def warm(s, code, **options):
    """A run that started warm: its zygote boots with the service."""
    def once():
        r = s.run(code, **options)
        return r if r["start"] == "warm" else None
    return eventually(once, 60)


def frames(result):
    v = result["diagnosis"]["values"]
    assert v is None or v["trusted"] is False, v
    return v["frames"] if v else []


def variables(result, at=0):
    found = frames(result)
    return {v["name"]: v for v in found[at]["variables"]} if len(found) > at else {}


def previews(result, at=0):
    return {name: v["preview"] for name, v in variables(result, at).items()}


# ---- the values ----

SHOP = """\
LIMIT = 10

class Cart:
    kind = 'web'
    def __init__(self, owner):
        self.owner, self.sum = owner, 2.5
    @property
    def total(self):
        return 1

def add(items, cart, n):
    extra = n + 1
    return cart.sum + items[0]["prize"] + LIMIT + len(cart.kind) + extra + cart.total

def main():
    rows = [{"price": 1, "name": "a\\nb"}] * 9
    return add(rows, Cart("ann"), 10 ** 40)

main()
"""


def test_a_failure_has_the_values_of_its_line_and_of_the_line_that_called_it(s):
    r = warm(s, SHOP)
    places = [(f["file"], f["line"], f["function"]) for f in frames(r)]
    assert places == [("main.py", 13, "add"), ("main.py", 17, "main")]
    told = variables(r)
    assert next(iter(told)) == "items", "the failed expression comes first"
    row = "{'price': 1, 'name': 'a\\nb'}"
    assert told["items"] == {"name": "items", "type": "list", "size": 9, "shape": None, "dtype": None,
                             "preview": "[" + ", ".join([row] * 6) + ", …]", "masked": False, "cut": True}
    assert previews(r) == {"items": told["items"]["preview"], "cart.sum": "2.5", "LIMIT": "10", "cart.kind": "'web'",
                           "extra": str(10 ** 40 + 1), "cart": "Cart(owner='ann', sum=2.5)"}
    assert list(variables(r, 1)) == ["rows"], "functions and classes are no values"
    assert s.run("print(1)")["diagnosis"] is None


@pytest.mark.parametrize("value, kind, size, preview", [
    ("None", "NoneType", None, "None"),
    ("[True, 1.5, 2j]", "list", 3, "[True, 1.5, 2j]"),
    ("'ä\\t\\ud800' * 100", "str", 300, None),
    ("b'a\\xff'", "bytes", 2, "b'a\\xff'"),
    ("{1: {2: {3: {4: 5}}}}", "dict", 1, "{1: {2: {…}}}"),
    ("set()", "set", 0, "set()"),
    ("(1,)", "tuple", 1, "(1,)"),
    ("-10 ** 200", "int", None, "a number of 201 digits"),
    ("range(5)", "range", None, "range(0, 5)"),
    ("__import__('datetime').datetime(2024, 1, 2, 3, 4, 5)", "datetime.datetime", None, "2024-01-02 03:04:05"),
    ("__import__('datetime').timedelta(1, 2)", "datetime.timedelta", None, "1 days, 2 s"),
    ("__import__('collections').defaultdict(list, a=1)", "collections.defaultdict", 1, "{'a': 1}"),
    ("ValueError('x', [1])", "ValueError", None, "ValueError('x', [1])"),
    ("object()", "object", None, None),
    ("(n for n in [])", "generator", None, None),
])
def test_a_value_has_its_type_its_size_and_a_preview(s, value, kind, size, preview):
    told = variables(warm(s, f"x = {value}\nx.nothing\n"))["x"]
    assert (told["type"], told["size"]) == (kind, size), told
    if preview or kind != "str":
        assert told["preview"] == preview
    else:
        assert told["preview"].startswith("'ä\\t\\ud800ä") and told["cut"] and len(told["preview"]) < 400


ARRAYS = """\
import sys
import numpy as np, pandas as pd
df = pd.DataFrame({'price': [1, 2], 'name': ['a', 'b'], 'w': [1., 2.], 't': pd.to_datetime(['2024-01-01'] * 2),
                   'c': pd.Categorical(['x', 'y']), 'n': [3, 4], 'token': ['hush', 'hush']})
grid, back = np.arange(12.).reshape(3, 4), np.arange(-3, 9, dtype='int8')[::-2]
objects, words, one = np.array([None, 'x', {}], dtype=object), np.array(['x', 'yy']), np.int64(7)
wide, prices, secret = pd.DataFrame(np.zeros((2, 30))), df['price'], df['token']
class Mine(np.ndarray):
    shape = dtype = property(lambda self: print('looked'))
    __len__ = __getitem__ = __array_finalize__ = lambda self, *a: print('looked')
mine = np.zeros(3).view(Mine)
pd.DataFrame.shape = pd.DataFrame.dtypes = property(lambda self: print('looked'))
sys.setprofile(lambda *a: None)
df['nope'], grid, back, objects, words, one, wide, prices, secret, mine
"""


def test_tables_and_arrays_have_their_shape_types_and_columns(s):
    if s.run("import numpy, pandas")["verdict"] != "ok":
        pytest.skip("pandas is not installed")
    r = warm(s, ARRAYS)
    told = {name: (v["type"].rsplit(".", 1)[-1], v["shape"], v["dtype"], v["preview"])
            for name, v in variables(r).items()}
    assert r["stdout"].count("looked") == warm(s, ARRAYS, values="none")["stdout"].count("looked")
    assert told.pop("wide")[:3] == ("DataFrame", [2, 30], None)
    assert told == {
        "df": ("DataFrame", [2, 7], None, "price int64, name object, w float64, t datetime64, c Categorical, n int64, "
                                          "token object"),
        "grid": ("ndarray", [3, 4], "float64", "[[0, 1, 2, 3], [4, 5, 6, 7], [8, 9, 10, 11]]"),
        "back": ("ndarray", [6], "int8", "[8, 6, 4, 2, 0, -2]"),
        "objects": ("ndarray", [3], "object", "[None, 'x', {}]"),
        "words": ("ndarray", [2], "str2", None),
        "one": ("int64", None, None, "7"),
        "prices": ("Series", [2], "int64", "[1, 2]"),
        "secret": ("Series", [2], "object", None),
        "mine": ("Mine", [3], "float64", "[0, 0, 0]"),
    }


def test_a_variable_without_a_value_is_unbound(s):
    r = warm(s, "def f():\n    if not seen:\n        seen = 1\nf()\n")
    assert (variables(r)["seen"]["type"], previews(r)["seen"]) == ("unbound", None)


def test_values_are_those_of_a_statement_over_several_lines_and_of_closures(s):
    r = warm(s, "def f(a):\n    def g(b):\n        return max(\n            a,\n            b,\n        )\n"
                "    return g([])\nf(7)\n")
    assert previews(r) == {"a": "7", "b": "[]"}
    r = warm(s, "import json\ntext = '{'\njson.loads(\n  text)\n")
    assert frames(r)[0]["line"] == 3 and previews(r) == {"text": "'{'"}, "the line in the files of the job"


# ---- secrets, and how to turn it off ----

def test_a_secret_by_its_name_is_masked_wherever_it_stands(s):
    code = """\
class User: pass
def login(password, api_key, key, tokens, conf, user):
    password + api_key + key + tokens + conf + user + user.auth_token
u = User()
u.name, u.auth_token, u.sshPrivateKey = 'ann', 'hush-1', 'hush-2'
login('hush-3', 'hush-4', 'a', [1], {'db': {'PASSWORD': 'hush-5', 'host': 'h'}, 'Authorization': 'hush-6'}, u)
"""
    r = warm(s, code)
    told = variables(r)
    assert "hush" not in json.dumps(r["diagnosis"]["values"])
    assert told["password"] == {"name": "password", "type": "str", "size": 6, "shape": None, "dtype": None,
                                "preview": None, "masked": True, "cut": False}
    assert told["api_key"]["masked"] and told["user.auth_token"]["masked"]
    assert previews(r)["key"] == "'a'" and previews(r)["tokens"] == "[1]", "names of too many other things"
    assert previews(r)["conf"] == "{'db': {'PASSWORD': (masked), 'host': 'h'}, 'Authorization': (masked)}"
    assert previews(r)["user"] == "User(name='ann', auth_token=(masked), sshPrivateKey=(masked))"


def test_values_are_off_by_an_option_and_by_a_setting(s):
    assert frames(warm(s, SHOP, values="none")) == []
    with Service(*ROOMY, "--set", "diagnosis.values=false") as other:
        r = warm(other, SHOP)
        assert r["diagnosis"]["location"]["line"] == 13 and frames(r) == []


# ---- hostile values ----

HOSTILE = """\
import sys
class Meta(type):
    def __repr__(c): print('looked'); raise SystemExit(9)
    __instancecheck__ = __subclasscheck__ = __repr__
class Evil(metaclass=Meta):
    __slots__ = ('x', '__dict__')
    def __repr__(self, *a):
        print('looked')
        while True: pass
    __str__ = __len__ = __iter__ = __getattr__ = __format__ = __bool__ = __hash__ = __eq__ = __repr__
    __sizeof__ = __index__ = __int__ = __del__ = __repr__
    __class__ = property(__repr__)
    seen = property(__repr__)
    def __getattribute__(self, name): print('looked'); raise KeyboardInterrupt
class List(list):
    __len__ = __getitem__ = __iter__ = __repr__ = lambda self, *a: print('looked')
class Text(str):
    __repr__ = __str__ = __len__ = __eq__ = lambda self, *a: [print('looked')] * 10 ** 9
    __hash__ = str.__hash__
class Dict(dict):
    __len__ = __getitem__ = keys = items = __iter__ = __contains__ = __repr__ = lambda self, *a: print('looked')
class Same:
    def __hash__(self): return hash('evil')
    def __eq__(self, other): print('looked'); return False
    def __del__(self): pass
globals()[Same()] = 1
"""
VALUES = {
    "object": "Evil()",
    "list": "List([Evil(), Evil()])",
    "text": "Text('t' * 10 ** 6)",
    "dict": "Dict({Text('k'): Evil(), 2: List()})",
    "huge": "'x' * (60 << 20)",
    "deep": "__import__('functools').reduce(lambda a, _: [a], range(100000), [])",
    "own": "(lambda a: a.append(a) or a)([])",
    "digits": "10 ** 400000",
    "name": "type('\\x1b[31m\\n\\t\\u202e' + 'N' * 100000, (), {})()",
}


@pytest.mark.parametrize("kind", VALUES)
def test_a_hostile_value_is_not_looked_at_by_its_own_code(s, kind):
    """Its output, its end and its time are those of the same run without values."""
    code = HOSTILE + f"evil = {VALUES[kind]}\ndel Evil.__del__\nNone + evil\n"
    told, plain = (warm(s, code, values=off, limits={"wall_ms": 4000}) for off in ("auto", "none"))
    assert (told["verdict"], told["exit_code"]) == ("runtime_error", 1), told
    assert (told["stdout"], told["stderr"]) == (plain["stdout"], plain["stderr"])
    found = variables(told)["evil"]
    assert found["type"] and len(json.dumps(told["diagnosis"]["values"])) < 3000, found
    assert told["usage"]["wall_ms"] < plain["usage"]["wall_ms"] + 500


def test_values_are_invisible_to_the_program(s):
    code = """\
import atexit, gc, os, sys
def look():
    print(sorted(os.listdir('.')), sorted(os.listdir('/proc/self/fd')), gc.get_count()[1:], len(os.environ))
atexit.register(look)
sys.excepthook = lambda *e: (look(), sys.__excepthook__(*e))
rows = {'a': object()}
rows['b']
"""
    told, plain = (warm(s, code, values=off, outputs=["."]) for off in ("auto", "none"))
    assert previews(told)["rows"] == "{'a': object}" and frames(plain) == []
    assert (told["stdout"], told["stderr"], told["files"]) == (plain["stdout"], plain["stderr"], plain["files"])
    child = "import os\nx = 5\nif os.fork():\n    os.wait()\n    raise SystemExit(1)\nx.nothing\n"
    assert frames(warm(s, child)) == [], "a child tells nothing"


def test_a_full_disk_changes_neither_the_verdict_nor_the_error(s):
    code = "import os\nn = 3\nwith open('x', 'wb') as f:\n    os.posix_fallocate(f.fileno(), 0, {0})\nn.nothing\n"
    left = (1 << 20) - (1 << 16)
    told, plain = (warm(s, code.replace("{0}", str(left)), values=off, limits={"disk": 1 << 20})
                   for off in ("auto", "none"))
    for key in ("verdict", "limits_hit", "stderr"):
        assert told[key] == plain[key]


INVENTS = """\
import atexit, ctypes, os, sys
text = b'%s'
@atexit.register
def write():
    slates = [line.split('-')[0] for line in open('/proc/self/maps') if 'slate' in line]
    for at in slates:
        ctypes.memmove(int(at, 16), text, min(len(text), 12 << 10))
    if not slates:
        open('.belljar-whereabouts', 'wb').write(text)
    sys.stderr.flush(); os._exit(1)
None + 1
"""
FRAME = "Values\\nF\\t11\\t<module>\\tmain.py\\n"
INVENTIONS = [
    FRAME + "V\\tx\\tint\\t1\\t\\t\\t\\t\\x1b[31m7\\n", FRAME + "V\\tpassword\\tstr\\t\\t\\t\\t\\thush\\n",
    FRAME + "V\\tx\\tint\\t99999999999999999999999\\t-1 x\\t\\t\\t7\\n" * 5000,
    "Values\\nF\\t11\\t\\t/etc/passwd\\nV\\ta\\tb\\t\\t\\t\\t\\tc\\n", "Values\\nV\\tx\\tint\\t1\\t\\t\\t\\t7\\n",
    FRAME + "V" + "\\t" * 300000 + "\\n", "\\xff\\x00" * 9999, FRAME + "V\\tx\\n" * 99999, "At\\n" * 9999]


def test_a_program_that_invents_values_misleads_its_diagnosis_alone(s):
    assert variables(warm(s, INVENTS % INVENTIONS[0]))["x"]["preview"], "it can invent some"
    for text in INVENTIONS:
        r = warm(s, INVENTS % text)
        assert r["verdict"] == "runtime_error" and r["diagnosis"]["type"] == "TypeError", r
        said = json.dumps(r["diagnosis"]["values"])
        assert "hush" not in said and "passwd" not in said and len(said) < 60000
        assert all(v["size"] in (None, 1) and v["shape"] is None for f in frames(r) for v in f["variables"])
    end = "import os\nrows = [1]\ntry:\n    rows[2]\nfinally:\n    os._exit(1)\n"
    assert frames(warm(s, end)) == [] and frames(warm(s, SHOP))[0]["function"] == "add", "no slate has an earlier text"


def test_the_terminal_shows_the_values_below_the_help(s):
    def shown():
        said = re.sub("\033\\[[0-9;]*m", "", on_a_terminal("run", "--state", str(s.state), "-c", SHOP))
        return said if "values: " in said else None
    lines = eventually(shown, 60).splitlines()
    at = lines.index("values: as the program told them")
    assert lines[at + 1].split()[:4] == ["items", "list", "of", "9"], lines
    assert any(line.split() == ["cart.sum", "float", "2.5"] for line in lines[at:]), lines
    off = on_a_terminal("run", "--state", str(s.state), "--values", "none", "-c", SHOP)
    assert "as the program told them" not in off and "KeyError" in off


# ---- cells ----

def test_a_failed_cell_has_its_values(s):
    def warm_session():
        made = create(s)
        if frames(execute(s, made, "n = 1\nn.nothing")):
            return made
        end(s, made)
        return None
    session = eventually(warm_session, 60)
    execute(s, session, "def add(items, n):\n    return items['prize'] + n\nrows = {'price': 1, 'api_key': 'hush'}\n")
    r = execute(s, session, "x = 1\nadd(rows, x)\n")
    places = [(f["file"], f["line"], f["function"]) for f in frames(r)]
    assert places == [("<cell 2>", 2, "add"), ("<cell 3>", 2, "<module>")]
    assert previews(r) == {"items": "{'price': 1, 'api_key': (masked)}", "n": "1"}
    assert list(previews(r, 1)) == ["rows", "x"]
    r = execute(s, session, HOSTILE + "evil = Evil()\ndel Evil.__del__\nNone + evil\n")
    assert previews(r)["evil"] == "Evil()" and variables(r)["evil"]["type"] == "Evil"
    assert execute(s, session, "x + 1")["diagnosis"] is None
    syntax = execute(s, session, "x = = 1")
    assert syntax["diagnosis"]["type"] == "SyntaxError" and frames(syntax) == []


# ---- other languages, on request ----

JS = """\
class Cart { constructor() { this.sum = 2.5; this.apiKey = 'hush'; } get total() { console.log('looked'); return 1; } }
function add(items, cart, password) {
  const extra = 'a\\nb'; // password
  return items[0].price.amount + cart.sum + extra + cart.total + password;
}
function main() {
  const rows = [{ prize: 1, name: 'tea' }, { prize: 2 }];
  return add(rows, new Cart(), 'hush');
}
main();
"""
TOLD = {"items": "[{prize: 1, name: 'tea'}, {prize: 2}]", "cart.sum": "2.5", "extra": "'a\\nb'",
        "cart": "Cart {sum: 2.5, apiKey: (masked)}", "password": None}


@pytest.mark.parametrize("language", ["javascript", "typescript"])
def test_javascript_tells_its_values_on_request(s, language):
    if not {x["name"]: x for x in s.get("/v1/languages").json}[language]["installed"]:
        pytest.skip(f"{language} is not installed")
    code = JS
    if language == "typescript":
        code = code.replace("class Cart {", "class Cart { sum: number; apiKey: string;\n")
        code = code.replace("(items, cart, password)", "(items: any, cart: Cart, password: string)")
    plain, r = s.run(code, language=language), s.run(code, language=language, values="all")
    assert (r["stdout"], r["stderr"], r["exit_code"]) == (plain["stdout"], plain["stderr"], 1) and frames(plain) == []
    line = r["diagnosis"]["location"]["line"]
    assert [(f["line"], f["function"]) for f in frames(r)] == [(line, "add"), (line + 4, "main")]
    assert previews(r) == TOLD and variables(r)["password"]["masked"], frames(r)
    assert list(previews(r, 1)) == ["rows"] and "hush" not in json.dumps(r["diagnosis"]["values"])


COLD = """\
import atexit, gc, os, subprocess, sys
@atexit.register
def look():
    print(sorted(os.environ), sys.argv, sys.flags, sorted(os.listdir('.')), len(gc.get_objects()) > 0)
    print(subprocess.run(['env'], capture_output=True).stdout.count(b'PRELOAD'))
sys.excepthook = lambda *e: (look(), sys.__excepthook__(*e))
sys.audit('sys.excepthook', 1, 2, 3, 4)
x = 5
if os.fork() == 0:
    n = 1
    n.nothing
os.wait()
x.nothing
"""


def test_a_python_that_started_cold_tells_its_values_on_request(tmp_path):
    (tmp_path / "main.py").write_text(COLD)
    plain, told = (belljar("run", "--local", "--json", *words, tmp_path / "main.py").json
                   for words in ([], ["--values", "all"]))
    assert (told["start"], told["exit_code"]) == ("cold", 1) and frames(plain) == []
    assert (told["stdout"], told["stderr"]) == (plain["stdout"], plain["stderr"])
    assert previews(told) == {"x": "5"} and frames(told)[0]["line"] == 13
    (tmp_path / "main.py").write_text(HOSTILE + "evil = Evil()\ndel Evil.__del__\nNone + evil\n")
    told = belljar("run", "--local", "--json", "--values", "all", tmp_path / "main.py").json
    assert previews(told)["evil"] == "Evil()", told


HOSTILE_JS = """\
const look = () => { console.log('looked'); for (;;); };
const evil = { toString: look, [Symbol.for('nodejs.util.inspect.custom')]: look, get x() { return look(); } };
const proxy = new Proxy([], { get: look, ownKeys: look, has: look, getOwnPropertyDescriptor: look,
  getPrototypeOf: look });
const child = Object.create(proxy), huge = 'x'.repeat(1 << 25), sparse = new Array(1e9), digits = 10n ** 100000n;
const pairs = new Map([['password', 'hush'], ['a', { b: 1 }]]), bytes = new Uint8Array(1e6);
const methods = [[Array.prototype, 'filter map forEach'], [String.prototype, 'split replace match matchAll'],
  [Map.prototype, 'entries'], [RegExp.prototype, 'exec'], [require('inspector').Session.prototype, 'post emit']];
const all = methods.flatMap(([type, names]) => names.split(' ').map((name) => [type, name]));
for (const [type, name] of all) type[name] = look;
function fail(items) { return evil.nope.x + proxy + child + huge + sparse + digits + pairs + bytes + items; }
fail([1, , 3]);
"""


def test_hostile_values_of_javascript_are_not_looked_at_by_their_own_code(s):
    r = s.run(HOSTILE_JS, language="javascript", values="all", limits={"wall_ms": 8000})
    assert r["verdict"] == "runtime_error" and "looked" not in r["stdout"], r
    told = previews(r)
    assert (told["evil"], told["proxy"]) == ("{toString: function, x: (getter)}", "Proxy")
    assert told["digits"] == "a large number"
    assert told["pairs"] == "Map {'password': (masked), 'a': {b: 1}}"
    assert variables(r)["sparse"]["size"] == 10 ** 9 and variables(r)["huge"]["cut"]
    caught = "let n = 0;\nfor (let i = 0; i < 3000; i++) Promise.reject(new Error('x')).catch(() => n++);\n" \
             "debugger;\nsetTimeout(() => console.log(n), 1);\n"
    r = s.run(caught, language="javascript", values="all")
    assert (r["verdict"], r["stdout"]) == ("ok", "3000\n"), r


RUBY = """\
class Cart
  def initialize; @sum = 2.5; @api_key = "hush"; end
  def inspect; puts "looked"; loop {}; end
  alias to_s inspect
  def method_missing(*) = inspect
  def add(items, password, other)
    items[0][:prize] + @sum + other + password
  end
end
class Mine < Array
  def length = (puts "looked"; loop {})
  alias size length
  alias [] length
  alias each length
end
rows = [{price: 1, "token" => "hush"}]
Cart.new.add(rows, "hush", [Mine.new([1]), Cart.new])
"""


def test_ruby_tells_its_values_on_request(s):
    if not {x["name"]: x for x in s.get("/v1/languages").json}["ruby"]["installed"]:
        pytest.skip("ruby is not installed")
    plain, r = s.run(RUBY, language="ruby"), s.run(RUBY, language="ruby", values="all")
    assert (r["stdout"], r["stderr"], r["exit_code"]) == (plain["stdout"], plain["stderr"], 1) and frames(plain) == []
    assert [(f["file"], f["line"], f["function"]) for f in frames(r)] == [("main.rb", 7, "add")]
    assert previews(r) == {"items": '[{:price => 1, "token" => (masked)}]', "@sum": "2.5", "password": None,
                           "other": "[[1], Cart(@sum=2.5, @api_key=(masked))]"}
