<?php
require __DIR__ . '/vendor/autoload.php';

use Monolog\Logger;

$log = new Logger('app');
$log->info('hello');
