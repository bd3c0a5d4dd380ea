elseif true; then echo; fi
