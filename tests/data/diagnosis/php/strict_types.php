<?php
declare(strict_types=1);

function repeat(string $text, int $times): string {
    return str_repeat($text, $times);
}

function main(array $args): void {
    echo repeat('ab', $args['n']);
}

main(['n' => '3']);
