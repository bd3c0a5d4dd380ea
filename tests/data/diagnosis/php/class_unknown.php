<?php
$client = new HttpClient();
