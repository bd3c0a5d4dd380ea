from statistics import median


class Gradebook:
    def __init__(self):
        self.grades = {}

    def add(self, student, *marks):
        self.grades.setdefault(student, []).extend(marks)

    def average(self, student):
        marks = self.grades[student]
        return sum(marks) / len(marks)

    def report(self):
        for student in sorted(self.grades):
            print(student, self.average(student), median(self.grades[student]))


book = Gradebook()
book.add("Ada", 90, 95)
book.add("Bob")
book.report()
