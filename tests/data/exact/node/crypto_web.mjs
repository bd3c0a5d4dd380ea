const k = await crypto.subtle.importKey('raw', new Uint8Array(16), 'AES-CBC', false, ['encrypt']);
console.log(Buffer.from(await crypto.subtle.encrypt({ name: 'AES-CBC', iv: new Uint8Array(16) }, k, new Uint8Array(5))).toString('hex'));
console.log(Buffer.from(await crypto.subtle.digest('SHA-256', new Uint8Array(3))).toString('hex'));
