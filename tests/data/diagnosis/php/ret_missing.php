<?php
function f(int $x): int { $x + 1; }
echo f(1);
