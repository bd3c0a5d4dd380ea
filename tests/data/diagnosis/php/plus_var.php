<?php
$a = "abc";
$b = 5;
$c = $a + $b;
echo $c;
