echo $SHLVL; bash -c 'echo $SHLVL'
