from dataclasses import dataclass, field


@dataclass
class User:
    name: str
    email: str
    roles: list = field(default_factory=list)


def make_users(rows):
    return [User(**row) for row in rows]


rows = [{"name": "Ada", "email": "ada@example.org"}, {"name": "Bob"}]
for user in make_users(rows):
    print(user)
