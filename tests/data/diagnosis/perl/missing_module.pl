use strict;
use warnings;
use JSON::XS;
print encode_json({ a => 1 }), "\n";
