import { greet } from "./greet";

greet("Ada");
