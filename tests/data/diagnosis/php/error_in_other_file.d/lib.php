<?php
function shout($text) {
    return strtouper($text);
}
