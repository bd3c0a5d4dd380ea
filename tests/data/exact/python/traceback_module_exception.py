from pkg.errors import throw
throw()
