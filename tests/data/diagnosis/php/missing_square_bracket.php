<?php
$sizes = [1, 2;
echo count($sizes);
