<?php
declare(strict_types=1);
function sq(int $x): int { return $x * $x; }
echo sq("3");
