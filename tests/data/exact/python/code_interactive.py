import code
code.interact(banner="hi", exitmsg="bye")
