from string import Template
Template("$name $x").substitute(name="a")
