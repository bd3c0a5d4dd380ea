public class Main {
    class Node { int v; Node(int v) { this.v = v; } }
    public static void main(String[] args) { Node n = new Node(3); System.out.println(n.v); }
}
