public class Main {
    static int parse(String s) {
        try {
            return Integer.parseInt(s);
        } catch (NumberFormatException e) {
            throw new IllegalArgumentException("bad amount: " + s, e);
        }
    }

    static void process(String[] rows) {
        for (int i = 0; i < rows.length; i++) {
            try {
                System.out.println(parse(rows[i]));
            } catch (IllegalArgumentException e) {
                throw new IllegalStateException("row " + i + " failed", e);
            }
        }
    }

    public static void main(String[] args) {
        process(new String[] { "12", "1x" });
    }
}
