<?php
function format_price(float $value): string {
    return number_format($value, 2) . ' EUR';
}

$prices = [1.5, 20, 3.333];
foreach ($prices as $p) {
    echo formatprice($p), "\n";
}
