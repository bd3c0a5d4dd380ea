<?php
echo count(null);
