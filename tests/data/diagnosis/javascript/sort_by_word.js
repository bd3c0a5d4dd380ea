const rows = [3, 1];
rows.sort("desc");
