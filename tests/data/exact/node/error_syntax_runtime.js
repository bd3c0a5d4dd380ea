try { new Function('return ]'); } catch (e) { console.log(e.name, e.message); }
try { eval('var 1a'); } catch (e) { console.log(e.name, e.message); }
try { JSON.parse('{"a":'); } catch (e) { console.log(e.name, e.message); }
eval('throw new Error("in eval")');
