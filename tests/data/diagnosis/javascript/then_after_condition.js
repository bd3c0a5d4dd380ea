const a = 1;
if (a) then { console.log(a); }
