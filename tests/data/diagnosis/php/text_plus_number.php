<?php
$label = "total: ";
echo $label + 5;
