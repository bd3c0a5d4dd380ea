console.log(Intl.DateTimeFormat().resolvedOptions().locale, (1234567.891).toLocaleString(), new Date(0).toLocaleDateString());
