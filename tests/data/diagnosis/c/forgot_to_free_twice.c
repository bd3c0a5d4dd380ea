#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct {
    char *name;
    int age;
} Person;

static Person *person_new(const char *name, int age)
{
    Person *p = malloc(sizeof(Person));
    p->name = strdup(name);
    p->age = age;
    return p;
}

static void person_free(Person *p)
{
    free(p->name);
    free(p);
}

int main(void)
{
    Person *people[3];
    people[0] = person_new("Ada", 36);
    people[1] = person_new("Alan", 41);
    people[2] = people[0];
    for (int i = 0; i < 3; i++) {
        printf("%d\n", people[i]->age);
    }
    for (int i = 0; i < 3; i++)
        person_free(people[i]);
    return 0;
}
