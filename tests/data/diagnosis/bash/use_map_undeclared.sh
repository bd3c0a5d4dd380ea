stock=(["pen.blue"]=4)
echo "${stock["pen.blue"]}"
