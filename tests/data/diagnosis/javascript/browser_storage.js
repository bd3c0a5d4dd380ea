localStorage.setItem("token", "abc");
