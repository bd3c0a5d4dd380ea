<?php
$data = json_decode("{bad", true, 512, JSON_THROW_ON_ERROR);
