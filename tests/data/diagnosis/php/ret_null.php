<?php
function find(array $xs, int $id): string { foreach ($xs as $k => $v) { if ($k === $id) return $v; } return null; }
echo find(["a"], 3);
