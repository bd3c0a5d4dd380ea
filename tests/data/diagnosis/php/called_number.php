<?php
$rate = 5;
echo $rate(3);
