<?php
$a = "x";
$b = [1];
echo $a * $b;
