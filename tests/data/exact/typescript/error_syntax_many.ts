function f( { return 1;
let = 2;
class { x }
