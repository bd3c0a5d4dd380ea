<?php
if (strlen("abc") > 2 {
    echo "long";
}
