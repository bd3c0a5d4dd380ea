public class Main {
    private String owner;

    void setOwner(String owner) {
        setOwner(owner);
    }

    public static void main(String[] args) {
        Main m = new Main();
        m.setOwner("Ilse");
        System.out.println(m.owner);
    }
}
