try { console.log(Object.keys(process.binding('util')).length > 0); } catch (e) { console.log(e.message); }
