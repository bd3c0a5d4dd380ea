public class Main {
    static void load(String text) {
        try {
            Integer.parseInt(text);
        } catch (NumberFormatException e) {
            throw new IllegalStateException("cannot load the settings", e);
        }
    }

    public static void main(String[] args) {
        load("many");
    }
}
