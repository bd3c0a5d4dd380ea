<?php
$total = 3;
throw_if($totl);
function throw_if($n) {
    if ($n === null) exit(1);
}
