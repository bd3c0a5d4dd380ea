type Person = { name: string; town?: { name: string } };

const people: Person[] = [{ name: "Ada" }];

function townOf(p: Person): string {
  return p.town!.name;
}

console.log(townOf(people[0]));
