<?php
$values = [1, 2];
echo $values + 3;
