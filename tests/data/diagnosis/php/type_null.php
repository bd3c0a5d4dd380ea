<?php
function up(string $s): string { return strtoupper($s); }
$u = ["name" => null];
echo up($u["name"]);
