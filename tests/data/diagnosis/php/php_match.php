<?php
function discount(string $tier): float {
    return match ($tier) {
        'gold' => 0.2,
        'silver' => 0.1,
    };
}

foreach (['gold', 'bronze'] as $t) {
    echo discount($t), "\n";
}
