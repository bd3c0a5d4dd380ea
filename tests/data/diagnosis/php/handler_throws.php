<?php
set_error_handler(function ($n, $text) {
    throw new ErrorException($text);
});
$total = 5; echo $totl;
