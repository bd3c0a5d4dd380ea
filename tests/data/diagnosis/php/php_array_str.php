<?php
function tags(string $csv): array {
    return explode(',', $csv);
}

function show($tags): string {
    return strtoupper($tags);
}

echo show(tags('a,b')), "\n";
