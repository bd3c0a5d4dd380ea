throw new Error('line one\nline two\n  line three');
