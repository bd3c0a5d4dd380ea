<?php
class Rectangle {
    public function __construct(private int $width, private int $height) {}
    public function area(): int { return $this->width * $this->height; }
}

$shapes = [new Rectangle(2, 3), new Rectangle(4)];
foreach ($shapes as $s) echo $s->area(), "\n";
