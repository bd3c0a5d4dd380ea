<?php
foreach ([1, 2] as x) { echo x; }
