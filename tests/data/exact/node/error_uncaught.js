function a() { b(); }
function b() { throw new Error('uncaught'); }
a();
