<?php
function twice(int $n): int {
    return $n * 2;
}
echo twice("three");
