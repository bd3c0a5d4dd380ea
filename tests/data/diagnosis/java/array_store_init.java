public class Main {
    static class Cell {
        int value;
        void set(int v) { value = v; }
    }

    public static void main(String[] args) {
        Cell[][] grid = new Cell[3][3];
        for (int r = 0; r < 3; r++) {
            for (int c = 0; c < 3; c++) {
                grid[r][c].set(r * c);
            }
        }
        System.out.println(grid[2][2].value);
    }
}
