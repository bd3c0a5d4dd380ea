<?php
class Safe {
    private $code = 1;
}
$s = new Safe();
echo $s->code;
