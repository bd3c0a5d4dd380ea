public class Main {
    private int counter = 0;

    void tick() {
        counter++;
    }

    public void main(String[] args) {
        for (int i = 0; i < 3; i++) tick();
        System.out.println(counter);
    }
}
