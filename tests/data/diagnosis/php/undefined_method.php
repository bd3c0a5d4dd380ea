<?php
class User {
    function getName() { return "ann"; }
}
$u = new User();
echo $u->getname2();
