pwd; pwd -P; echo $PWD $OLDPWD; cd /; pwd; cd -; cd /nonexistent; echo $?; echo ~ ~root ~nobody
