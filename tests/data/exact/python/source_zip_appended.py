# A program with an archive behind it: that is what runs.
