<?php
function count_all(): int {
    return "many";
}
echo count_all();
