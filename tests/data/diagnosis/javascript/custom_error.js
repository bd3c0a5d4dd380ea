class ValidationError extends Error {
  constructor(message) {
    super(message);
    this.name = "ValidationError";
  }
}

function check(age) {
  if (age < 0) throw new ValidationError("age is negative");
}

check(-1);
