console.log(new Date(0).toString(), new Date(2020, 0, 1).toISOString(), Intl.DateTimeFormat().resolvedOptions().timeZone);
