<?php
$now = new DatTime("2024-01-01");
echo $now->format("Y");
