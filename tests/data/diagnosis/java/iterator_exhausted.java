import java.util.ArrayDeque;
import java.util.Deque;

public class Main {
    static int evaluate(String expr) {
        Deque<Integer> stack = new ArrayDeque<>();
        for (String tok : expr.split(" ")) {
            if (tok.matches("\\d+")) {
                stack.push(Integer.parseInt(tok));
            } else {
                int b = stack.pop();
                int a = stack.pop();
                stack.push(tok.equals("+") ? a + b : a * b);
            }
        }
        return stack.pop();
    }

    public static void main(String[] args) {
        System.out.println(evaluate("2 3 +"));
        System.out.println(evaluate("4 *"));
    }
}
