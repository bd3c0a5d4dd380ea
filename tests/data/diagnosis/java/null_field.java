public class Main {
    static class Node {
        int value;
        Node next;
    }

    public static void main(String[] args) {
        Node n = new Node();
        System.out.println(n.next.value);
    }
}
