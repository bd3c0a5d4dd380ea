<?php
$config = [
    'host' => 'localhost',
    'port' => 8080,
]

function url(array $c): string {
    return "http://{$c['host']}:{$c['port']}/";
}

echo url($config);
