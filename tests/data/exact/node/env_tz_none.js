console.log(new Date(0).toString(), new Date(0).getTimezoneOffset(), Intl.DateTimeFormat().resolvedOptions(), new Date(86400000).toLocaleString());
