open('out/dir/x.txt','w').write('a')
