<?php
function total(array $x): int { return array_sum($x); }
echo total("1,2");
