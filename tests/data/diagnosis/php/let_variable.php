<?php
let $total = 5;
