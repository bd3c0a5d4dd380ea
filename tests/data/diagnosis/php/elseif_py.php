<?php
$x = 1;
if ($x > 2) { echo "a"; } elif ($x > 0) { echo "b"; }
