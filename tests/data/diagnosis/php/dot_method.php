<?php
class A { public $n = "a"; public function go() { return 1; } }
$a = new A();
echo $a.go();
