<?php
class User {
    public function __construct(public string $name) {}
    public function greet(): string { return "Hi {$this->name}"; }
}

class Repo {
    private array $users = [];
    public function add(User $u): void { $this->users[$u->name] = $u; }
    public function find(string $name): ?User { return $this->users[$name] ?? null; }
}

$repo = new Repo();
$repo->add(new User('ada'));
echo $repo->find('ada')->greet(), "\n";
echo $repo->find('bob')->greet(), "\n";
