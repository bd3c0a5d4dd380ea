<?php
class A {}
function f(A $a) {}
f("x");
