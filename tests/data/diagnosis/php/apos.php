<?php
echo 'it's';
