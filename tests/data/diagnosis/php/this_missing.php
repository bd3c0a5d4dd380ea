<?php
class A { private $n = 3; public function go() { return $this->n + helper(); } private function helper() { return 1; } }
echo (new A())->go();
