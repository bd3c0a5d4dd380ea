<?php
function area($w, $h) {
    return $w * $h;
}

if (area(2, 3) > 5 {
    echo "big\n";
}
