type Status = 'open' | 'closed';

interface Ticket {
  id: number;
  status: Status;
}

function close(t: Ticket): Ticket {
  return { ...t, status: 'done' };
}

console.log(close({ id: 1, status: 'open' }));
