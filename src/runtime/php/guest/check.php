<?php
// Finds the files that programs include and that are missing here. Executes no line of them.
//
//     php check.php FILE...
//
// Prints entries of the report of src/checks/report.c.
const WORDS = [T_REQUIRE, T_REQUIRE_ONCE, T_INCLUDE, T_INCLUDE_ONCE];
const BLANKS = [T_WHITESPACE, T_COMMENT, T_DOC_COMMENT];

function tell(int|string $status, string $name, string $text): void
{
    $name = substr($name, 0, 255);
    $text = substr($text, 0, 32768);
    printf("check php imports php %s %d %d\n%s\n%s\n", $status, strlen($name), strlen($text), $name, $text);
}

// The text of a literal without variables.
function literal(string $token): string
{
    $inner = substr($token, 1, -1);
    return $token[0] === "'" ? strtr($inner, ["\\'" => "'", '\\\\' => '\\']) : stripcslashes($inner);
}

// [name, is beside the file] of an include whose name is a literal, or __DIR__ . a literal; null: of any other.
function name_at(array $tokens, int $i): ?array
{
    $pieces = [];
    $open = 0;
    for ($i++; $i < count($tokens) && $tokens[$i]->text !== ';' && count($pieces) < 4; $i++) {
        if ($tokens[$i]->text === '(') $open++;
        elseif ($tokens[$i]->text === ')' && $open > 0) $open--;
        else $pieces[] = $tokens[$i];
    }
    $kinds = array_map(fn($piece) => $piece->id, $pieces);
    if ($kinds === [T_CONSTANT_ENCAPSED_STRING]) return [literal($pieces[0]->text), false];
    if ($kinds === [T_DIR, ord('.'), T_CONSTANT_ENCAPSED_STRING]) return [literal($pieces[2]->text), true];
    return null;
}

function is_here(string $name, bool $beside, string $file): bool
{
    $directory = dirname(realpath($file));
    if ($beside) return is_file($directory . $name);
    if ($name === '' || $name[0] === '/' || str_contains($name, '://')) return $name === '' || is_file($name) || $name[0] !== '/';
    return is_file($directory . '/' . $name) || stream_resolve_include_path($name) !== false;
}

foreach (array_slice($argv, 1) as $file) {
    $tokens = array_values(array_filter(PhpToken::tokenize(file_get_contents($file)), fn($t) => !in_array($t->id, BLANKS, true)));
    foreach ($tokens as $i => $token) {
        $found = in_array($token->id, WORDS, true) ? name_at($tokens, $i) : null;
        if ($found === null || is_here($found[0], $found[1], $file)) continue;
        $name = ltrim($found[0], $found[1] ? '/' : '');
        $path = realpath($file);
        tell(1, $name, "PHP Fatal error:  Uncaught Error: Failed opening required '$name' (include_path='.') in $path:$token->line\n" .
            "Stack trace:\n#0 {main}\n  thrown in $path on line $token->line\n");
    }
}
tell(0, '', '');
