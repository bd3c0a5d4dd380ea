<?php
abstract class Shape { abstract public function area(): float; }

class Circle extends Shape {
    public function __construct(private float $r) {}
    public function area(): float { return M_PI * $this->r ** 2; }
}

$shapes = [new Circle(1), new Cirlce(2)];
foreach ($shapes as $s) printf("%.2f\n", $s->area());
