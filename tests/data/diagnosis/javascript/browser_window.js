const width = 3;
window.size = width;
