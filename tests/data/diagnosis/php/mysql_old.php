<?php
function connect() {
    $link = mysql_connect('localhost', 'root', '');
    return $link;
}

$db = connect();
var_dump($db);
