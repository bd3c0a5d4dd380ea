<?php
function average(array $values) {
    return array_sum($values) / count($values);
}
echo average([]);
