/* runtime/php/lang.c — the declaration of php; see runtime/language.h. Pure data. */
#include "runtime/language.h"

DECLARE_LANGUAGE(php) = {
    NAMED("php", "main.php", WORDS(".php"), NO_WORDS),
    /* Debian's settings for the command line, regardless of the machine's php.ini: errors go to
     * stderr, and only the jar limits memory. PHP's command line never buffers output. */
    .command = WORDS("/usr/bin/php", "-d", "display_errors=0", "-d", "log_errors=1", "-d",
                     "memory_limit=-1", FILE_ARGUMENT),
    .env = NO_WORDS,
    .version = WORDS("/usr/bin/php", "--version"),
    .install = "apt-get install php-cli",
    .hints = WORDS(
        "^^<?php", "!<?php", "!<?=", "!?>", "!$this->", "!$this", "!^foreach (", "foreach (",
        "!foreach ($", "! as $", "!=> $", "!^for ($", "^if ($", "^while ($", "^while (",
        "!public function", "!private function", "!protected function", "!static function",
        "!function __", "!function ($", "!function($", "!fn($", "!fn ($", "!(string $", "!(int $",
        "!(array $", "!(float $", "!(callable $", "!, int $", "!, string $", "!, array $",
        "!private string $", "!private int $", "!public string $", "!public int $",
        "!readonly string", "!protected $", "!private $", "!public $", "^function ", "!$argv",
        "!$_GET", "!$_POST", "!$_SERVER", "!^use App", "!\\Models", "!extends Model", "^echo $",
        "^echo \"", "^echo '", "!PHP_EOL", "!print_r(", "!var_dump(", "!array_", "!strrev(",
        "!strlen($", "!strtoupper(", "!strtolower(", "!ucfirst(", "!count($", "!sizeof($",
        "!implode(", "!explode(", "!json_encode(", "!json_decode(", "!file_get_contents(",
        "!file_put_contents(", "!isset(", "!empty($", "!unset($", "!is_null($", "!is_array($",
        "!is_numeric(", "!in_array(", "!number_format(", "!intdiv(", "!usort(", "!sort($",
        "!ksort(", "!min($", "printf(\"", "sprintf(\"", "!preg_", "!mb_", "date('", "date(\"",
        "!define('", "!fopen('", "!fgets(STDIN", "!STDIN)", "!catch (Exception $", "!Exception $e",
        "!Throwable $", "!->getMessage(", "throw new ", "!new class", "!::class", "!::cases()",
        "!elseif (", "!endforeach", "match (", "!declare(strict", "^$", " . ", "= [", "[$", "?\? ",
        "null", "~;", "|//", "|#", "-my $", "-my @", "-my %", "-^use strict", "-^sub ", "-=~",
        "-@_", "-qw(", "-<STDIN>", "-local $", "-$_\\n", "-$_;", "-; then", "-; do", "-|fi",
        "-|done", "-std::", "-: number", "-console.", "-^let ", "-^const ", "-System.", "-#include",
        "-^def ", "-=\"$", "-^print \"", "-@{", "-elsif", "-]]", "-$(", "-echo \"$1", "-^local ",
        "!str_replace(", "!str_repeat(", "!str_split(", "!str_pad(", "!str_contains(", "!endif;",
        "!^namespace App", "!^use Illuminate", "!^use Symfony", "^namespace ", "^array(",
        "= array(", "!= array(", "!max($", "!: string {", "!: int {", "!: array {", "!: void {",
        "!: bool {", "!: float {", "-^print("),
};
