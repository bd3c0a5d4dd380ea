<?php
class Counter {
    private int $n = 0;
    public function next(): int { return ++$this->n; }
}

function run(): void {
    echo Counter::next(), "\n";
}

run();
