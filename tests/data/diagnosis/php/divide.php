<?php
class Stats {
    public function __construct(private array $values) {}

    public function mean(): float {
        return array_sum($this->values) / count($this->values);
    }
}

echo (new Stats([1, 2, 3]))->mean(), "\n";
echo (new Stats([]))->mean(), "\n";
