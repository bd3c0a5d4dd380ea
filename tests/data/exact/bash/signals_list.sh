kill -l | head -3; trap -l | tail -2; kill -l 9; kill -l 137
